//! What follows from ends of runs, in one transaction that may be repeated: the next fire of a fixed delay, the runs of children.
//!
//! It locks the jobs whose runs or cursors it writes, then takes the rows of [`follow_up`](crate::run::follow_up). Of two that do it for
//! one end the second finds no row. A fire of several parts is looked at after the end of each; a child is started once, as its fire
//! is known by that of the parent.

pub(crate) mod advancing;
mod children;
pub(crate) mod fire_end;
pub(crate) mod fixed_delay;

pub use advancing::Advanced;

use std::collections::BTreeSet;
use std::time::Instant;

use carillon_scheduler::{Cause, Millis};
use foldhash::HashSet;

use crate::db::failpoint;
use crate::db::ids;
use crate::db::pool::transaction::Transaction;
use crate::db::sql::retry;
use crate::db::sql::template::delete_by_id;
use crate::error::Result;
use crate::map::advance::MapNotes;
use crate::run::advance::advancing::{Advancing, Fire};
use crate::run::follow_up::{FollowUp, Kind, key};
use crate::run::lock::LockMode;
use crate::views::RunStore;
use crate::workflow::advance::Notes;

/// An end, and the fire that it belongs to.
struct End {
    follow_up: FollowUp,
    fire: Fire,
}

/// What has been noted about runs that go on from the ends of others.
#[derive(Default)]
struct Owners {
    workflows: Vec<Notes>,
    maps: Vec<MapNotes>,
}

impl Owners {
    /// The ends that concern them, apart from the others.
    fn apart(ends: Vec<End>) -> (Self, Vec<End>) {
        let (mut owners, mut others) = (Self::default(), vec![]);
        for end in ends {
            match end.follow_up.kind {
                Kind::Node | Kind::LateNode | Kind::Workflow => {
                    Notes::add(&mut owners.workflows, end.follow_up, end.fire.fire_no);
                }
                Kind::Map => {
                    let is_item = end.fire.cause == Cause::Item.code();
                    let root = if is_item { end.fire.fire_no } else { end.follow_up.run_id };
                    MapNotes::add(&mut owners.maps, end.follow_up, root);
                }
                _ => others.push(end),
            }
        }
        (owners, others)
    }
}

impl RunStore<'_> {
    /// Does what follows from the ends of these runs, where it has not been done.
    pub async fn advance(self, run_ids: &[i64], now: Millis) -> Result<Advanced> {
        if run_ids.is_empty() {
            return Ok(Advanced::default());
        }
        // Busy: a job has got children at this very moment.
        let begun = Instant::now();
        let (mut advanced, owners) = retry::on_conflict(|| self.try_advance(run_ids, now)).await?;
        advanced.took.push(begun.elapsed());
        for notes in owners.workflows {
            advanced.add_each(self.workflows().advance(&notes, now)).await;
        }
        for notes in owners.maps {
            advanced.add_each(self.maps().advance(&notes, now)).await;
        }
        Ok(advanced)
    }

    /// Answers too what has been noted about runs of workflows, and of items: each goes on by itself.
    async fn try_advance(self, run_ids: &[i64], now: Millis) -> Result<(Advanced, Owners)> {
        let (owners, ends) = Owners::apart(self.ends_of(run_ids).await?);
        if ends.is_empty() {
            return Ok((Advanced::default(), owners));
        }
        let parents: BTreeSet<i64> = of_kind(&ends, false).map(|end| end.fire.job_id).collect();
        let children = self.jobs().children_of(&self.write, &Vec::from_iter(parents)).await?;
        let fires: BTreeSet<Fire> = of_kind(&ends, false).map(|end| end.fire).collect();
        let count = fires.iter().map(|fire| children.get(&fire.job_id).map_or(0, Vec::len)).sum();
        let (runs, rows) = (self.take_ids(&ids::RUN, count).await?, self.take_ids(&ids::ROW, count).await?);

        let tx = self.begin().await?;
        let chains = of_kind(&ends, true).map(|end| end.fire.job_id);
        let wanted = chains.chain(children.values().flatten().copied());
        let jobs = self.lock_jobs(&tx, wanted, LockMode::SkipLocked).await?;
        let is_held = |end: &End| {
            let job = &end.fire.job_id;
            let waits_for = children.get(job).into_iter().flatten().any(|child| jobs.held_up.contains(child));
            if end.follow_up.kind == Kind::Chain { jobs.held_up.contains(job) } else { waits_for }
        };
        let (held, free): (Vec<End>, Vec<End>) = ends.into_iter().partition(is_held);
        let held_up = held.iter().map(|end| end.follow_up.run_id).collect();
        let advanced = Advanced { held_up, ..Advanced::default() };
        let mut work = Advancing { advanced, runs, rows, jobs: jobs.owners };
        let free = self.take_follow_ups(&tx, free).await?;
        for fire in of_kind(&free, true).map(|end| end.fire).collect::<BTreeSet<_>>() {
            let shard = self.schedule_next_delay(&tx, fire, now).await?;
            work.advanced.to_scan.extend(shard);
        }
        for fire in of_kind(&free, false).map(|end| end.fire).collect::<BTreeSet<_>>() {
            self.insert_children_runs(&tx, fire, now, &mut work).await?;
        }
        failpoint::hit("before_advance_commit");
        tx.commit().await?;
        failpoint::hit("after_advance_commit");
        Ok((work.advanced, owners))
    }

    /// As they stand; read without a lock.
    async fn ends_of(self, run_ids: &[i64]) -> Result<Vec<End>> {
        let text = "SELECT f.run_id, f.kind, run.fire_no, run.job_id, run.cause FROM follow_up AS f JOIN run ON run.id = f.run_id \
                    WHERE f.id IN ({ids})";
        let ids: Vec<i64> = run_ids.iter().flat_map(|id| Kind::ALL.map(|kind| key(*id, kind))).collect();
        let rows: Vec<(i64, i16, i64, i64, i16)> = self.tuples(&self.write, text, values![self.ids(&ids)]).await?;
        let end = |(run_id, kind, fire_no, job_id, cause)| {
            let follow_up = FollowUp { run_id, job_id, kind: Kind::from_code(kind)? };
            Some(End { follow_up, fire: Fire { fire_no, job_id, cause } })
        };
        Ok(rows.into_iter().filter_map(end).collect())
    }

    /// Deletes their rows; answers those whose rows were there.
    async fn take_follow_ups(self, tx: &Transaction, ends: Vec<End>) -> Result<Vec<End>> {
        let there = self.take(tx, ends.iter().map(|end| end.follow_up)).await?;
        Ok(ends.into_iter().filter(|end| there.contains(&end.follow_up.id())).collect())
    }

    /// Deletes these rows, and answers the keys of those that were there.
    pub(crate) async fn take(self, tx: &Transaction, rows: impl Iterator<Item = FollowUp>) -> Result<HashSet<i64>> {
        let ids: Vec<i64> = rows.map(|row| row.id()).collect();
        let text = "SELECT id FROM follow_up WHERE id IN ({ids}) ORDER BY id{for_update}";
        let there: Vec<i64> = self.tuples(tx, text, values![self.ids(&ids)]).await?;
        self.execute(tx, &delete_by_id(self.backend, "follow_up", "id"), values![self.ids(&there)]).await?;
        Ok(there.into_iter().collect())
    }
}

/// Those from which the chain of a fixed delay goes on, or the others.
fn of_kind(ends: &[End], is_chain: bool) -> impl Iterator<Item = &End> {
    ends.iter().filter(move |end| (end.follow_up.kind == Kind::Chain) == is_chain)
}

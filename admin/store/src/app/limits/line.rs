//! Who has slots, and who waits for them: for people. The engine asks nothing here.

use carillon_scheduler::run::limit::{NO_KEY, slot_key};
use carillon_scheduler::{Millis, RunReason, SlotKey};
use foldhash::HashMap;

use crate::app::limits::named::names_of;
use crate::app::limits::rules::LimitRule;
use crate::db::sql::retry;
use crate::error::Result;
use crate::run::open::overlapping::NOTE_OVERLAP;
use crate::views::LimitStore;

/// Runs of a line that are looked at.
const MOST_WAITING: usize = 2_000;
/// Slots of a limit that are looked at, of all values of its key.
const MOST_HOLDERS: u32 = 10_000;

/// A run that has a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotHolder {
    pub run_id: i64,
    pub job_id: i64,
    pub app_id: i64,
    pub key: SlotKey,
    pub taken_at: Millis,
}

/// A run that waits for slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingRun {
    pub run_id: i64,
    pub job_id: i64,
    pub app_id: i64,
    pub due_at: Millis,
    /// In seconds.
    pub priority: i32,
    /// Which slots of the limit it needs.
    pub key: SlotKey,
}

impl WaitingRun {
    /// The runs of an app go in this order.
    pub fn order(&self) -> (Millis, i64) {
        (self.due_at - Millis::from(self.priority) * 1_000, self.run_id)
    }
}

/// What a run that waits meets at one limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitPlace {
    pub rule: LimitRule,
    /// The runs that have the slots which it needs.
    pub holders: Vec<i64>,
    /// Its place among the runs that wait for the same slots, from 1: as if all were of one app.
    pub place: usize,
}

impl LimitPlace {
    /// All slots that the run could have are taken.
    pub fn is_full(&self) -> bool {
        self.holders.len() >= usize::try_from(self.rule.max_runs).unwrap_or_default()
    }
}

const HOLDERS: &str = "SELECT s.run_id, run.job_id, run.app_id, s.slot_key, s.taken_at FROM limit_slot AS s JOIN run ON run.id = s.run_id \
     WHERE s.limit_id = ? ORDER BY s.taken_at, s.run_id LIMIT ?";

/// By the index of open runs, whose first column is the shard. Only what has waited for a moment has its reason.
const WAITING: &str = "SELECT run.id, run.job_id, run.app_id, run.due_at, COALESCE(i.priority, job.priority), job.limits \
     FROM shard_lease JOIN run ON run.shard = shard_lease.shard AND run.state = {state.claimed} AND run.state < {state.final} \
     JOIN job ON job.id = run.job_id LEFT JOIN run_input AS i ON i.run_id = run.id \
     WHERE run.reason = {reason.limit} ORDER BY run.due_at, run.id LIMIT ?";

impl LimitRule {
    /// It holds for runs of a job of this app that names these limits. `own`: names of limits that the app has itself.
    fn holds_for(&self, app_id: i64, names: &[String], own: &[String]) -> bool {
        match self.app_id {
            Some(id) => id == app_id && (self.all_jobs || names.contains(&self.name)),
            None => names.contains(&self.name) && !own.contains(&self.name),
        }
    }
}

impl LimitStore<'_> {
    /// Says in the rows of runs that are still `claimed` that they wait for a slot.
    pub async fn note_waiting(self, run_ids: &[i64]) -> Result<()> {
        let mut run_ids = run_ids.to_vec();
        run_ids.sort_unstable();
        let values = named![reason: RunReason::Limit.as_str()];
        retry::on_conflict(|| self.bulk(&self.write, &NOTE_OVERLAP, &values, &run_ids)).await.map(drop)
    }

    /// How many runs have slots of each limit; those without any are left out.
    pub async fn taken_of_each(self) -> Result<HashMap<i64, i64>> {
        let text = "SELECT limit_id, COUNT(*) FROM limit_slot GROUP BY limit_id";
        Ok(self.tuples(&self.read, text, vec![]).await?.into_iter().collect())
    }

    /// The runs that have slots of a limit, those that have had them longest first.
    pub async fn holders(self, limit_id: i64, limit: u32) -> Result<Vec<SlotHolder>> {
        let rows = self.tuples(&self.read, HOLDERS, values![limit_id, i64::from(limit)]).await?;
        let holder = |(run_id, job_id, app_id, key, taken_at)| {
            let key = SlotKey { limit_id, key };
            SlotHolder { run_id, job_id, app_id, key, taken_at }
        };
        Ok(rows.into_iter().map(holder).collect())
    }

    /// The runs that wait for slots of a limit, in their order as if all were of one app.
    pub async fn waiting(self, rule: &LimitRule) -> Result<Vec<WaitingRun>> {
        let rules = self.list().await?;
        let own = |app_id: i64| -> Vec<String> {
            rules.iter().filter(|rule| rule.app_id == Some(app_id)).map(|rule| rule.name.clone()).collect()
        };
        type Row = (i64, i64, i64, Millis, i32, Option<String>);
        let rows: Vec<Row> = self.tuples(&self.read, WAITING, values![MOST_WAITING as i64]).await?;
        let waiting = rows.into_iter().filter_map(|(run_id, job_id, app_id, due_at, priority, limits)| {
            let names = limits.as_deref().map(names_of).unwrap_or_default();
            let key = SlotKey { limit_id: rule.id, key: NO_KEY };
            let run = WaitingRun { run_id, job_id, app_id, due_at, priority, key };
            rule.holds_for(app_id, &names, &own(app_id)).then_some(run)
        });
        let mut waiting: Vec<WaitingRun> = waiting.collect();
        if !rule.key_path.is_empty() {
            self.add_keys(rule, &mut waiting).await?;
        }
        waiting.sort_unstable_by_key(WaitingRun::order);
        Ok(waiting)
    }

    /// The value of the limit's key in the parameters of each run. They may be long, so few are read at once.
    async fn add_keys(self, rule: &LimitRule, runs: &mut [WaitingRun]) -> Result<()> {
        for page in runs.chunks_mut(50) {
            let ids: Vec<i64> = page.iter().map(|run| run.run_id).collect();
            let text = "SELECT run.id, COALESCE(i.params, p.params, '') FROM run LEFT JOIN run_input AS i ON i.run_id = run.id \
                        LEFT JOIN job_params AS p ON p.job_id = run.job_id WHERE run.id IN ({ids})";
            let params: Vec<(i64, String)> = self.tuples(&self.read, text, values![self.ids(&ids)]).await?;
            let params: HashMap<i64, String> = params.into_iter().collect();
            for run in page {
                run.key.key = slot_key(&rule.key_path, params.get(&run.run_id).map_or("", String::as_str));
            }
        }
        Ok(())
    }

    /// The limits that a run waits for, only those that are full if any is, each with the run's place. Empty: it does not wait for any, or
    /// has just begun to.
    pub async fn places_of(self, run_id: i64) -> Result<Vec<LimitPlace>> {
        let mut places = vec![];
        for rule in self.list().await? {
            let waiting = self.waiting(&rule).await?;
            let Some(own) = waiting.iter().find(|run| run.run_id == run_id) else { continue };
            let alike = waiting.iter().filter(|run| run.key == own.key);
            let place = alike.take_while(|run| run.run_id != run_id).count() + 1;
            let holders = self.holders(rule.id, MOST_HOLDERS).await?;
            let holders: Vec<i64> =
                holders.iter().filter(|holder| holder.key == own.key).map(|holder| holder.run_id).collect();
            places.push(LimitPlace { rule, holders, place });
        }
        if places.iter().any(LimitPlace::is_full) {
            places.retain(LimitPlace::is_full);
        }
        Ok(places)
    }
}

//! Who has slots, and who waits for them: for people. The engine asks nothing here.

use std::collections::BTreeMap;

use carillon_scheduler::run::limit::{NO_KEY, slot_key};
use carillon_scheduler::{Millis, RunReason, SlotKey};
use foldhash::HashMap;

use crate::app::limits::rules::LimitRule;
use crate::db::sql::retry;
use crate::error::Result;
use crate::job::labels::limit_names::names_of;
use crate::people::grants::VisibleApps;
use crate::run::lock::LockMode;
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
    /// How many of the slots that it could have are taken.
    pub taken: usize,
    /// The runs that have them, of the apps that the reader sees.
    pub holders: Vec<i64>,
    /// Its place among the runs that wait for the same slots, from 1: as if all were of one app.
    pub place: usize,
}

impl LimitPlace {
    /// All slots that the run could have are taken.
    pub fn is_full(&self) -> bool {
        self.taken >= usize::try_from(self.rule.max_runs).unwrap_or_default()
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
    /// Says in the rows of runs that are still `claimed` that they wait for a slot, and answers of which. A row that another session holds is
    /// left out.
    pub async fn note_waiting(self, run_ids: &[i64]) -> Result<Vec<i64>> {
        retry::on_conflict(|| self.try_note(run_ids, Some(RunReason::Limit))).await
    }

    /// The contrary.
    pub async fn clear_notes(self, run_ids: &[i64]) -> Result<()> {
        retry::on_conflict(|| self.try_note(run_ids, None)).await.map(drop)
    }

    async fn try_note(self, run_ids: &[i64], reason: Option<RunReason>) -> Result<Vec<i64>> {
        let tx = self.begin().await?;
        let locked = self.runs().lock_runs(&tx, run_ids, LockMode::SkipLocked).await?;
        let mut free: Vec<i64> = run_ids.iter().filter(|id| !locked.held_up.contains(id)).copied().collect();
        free.sort_unstable();
        let reason = reason.map(RunReason::as_str);
        self.bulk(&tx, &NOTE_OVERLAP, &named![reason], &free).await?;
        tx.commit().await?;
        Ok(free)
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
        let line = self.whole_line().await?;
        self.line_of(&line, rule).await
    }

    async fn whole_line(self) -> Result<WholeLine> {
        let rules = self.list().await?;
        let mut own: HashMap<i64, Vec<String>> = HashMap::default();
        for rule in &rules {
            own.entry(rule.app_id.unwrap_or(0)).or_default().push(rule.name.clone());
        }
        let runs = self.tuples(&self.read, WAITING, values![MOST_WAITING as i64]).await?;
        Ok(WholeLine { rules, own, runs })
    }

    async fn line_of(self, line: &WholeLine, rule: &LimitRule) -> Result<Vec<WaitingRun>> {
        let mut waiting: Vec<WaitingRun> =
            line.runs.iter().filter(|row| line.needs(row, rule)).map(|row| waiting_run(row, rule)).collect();
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

    /// The limits that each of these runs waits for, only those that are full if any is, each with the run's place. A run that is not there
    /// does not wait for any, or has just begun to. Other runs are named as far as the reader sees their apps. The line is read once.
    pub async fn places_of(self, run_ids: &[i64], visible: &VisibleApps) -> Result<BTreeMap<i64, Vec<LimitPlace>>> {
        let line = self.whole_line().await?;
        let asked: Vec<&Row> = line.runs.iter().filter(|row| run_ids.contains(&row.0)).collect();
        let mut places: BTreeMap<i64, Vec<LimitPlace>> = BTreeMap::new();
        for rule in line.rules.iter().filter(|rule| asked.iter().any(|row| line.needs(row, rule))) {
            let waiting = self.line_of(&line, rule).await?;
            let holders = self.holders(rule.id, MOST_HOLDERS).await?;
            for own in waiting.iter().filter(|run| run_ids.contains(&run.run_id)) {
                let alike = waiting.iter().filter(|run| run.key == own.key);
                let place = alike.take_while(|run| run.run_id != own.run_id).count() + 1;
                let holders: Vec<&SlotHolder> = holders.iter().filter(|holder| holder.key == own.key).collect();
                let taken = holders.len();
                let seen = holders.iter().filter(|holder| visible.has(holder.app_id));
                let holders = seen.map(|holder| holder.run_id).collect();
                let found = LimitPlace { rule: rule.clone(), taken, holders, place };
                places.entry(own.run_id).or_default().push(found);
            }
        }
        for places in places.values_mut() {
            if places.iter().any(LimitPlace::is_full) {
                places.retain(LimitPlace::is_full);
            }
        }
        Ok(places)
    }
}

/// Of a run that waits: its id, its job, its app, its due time, its priority, and the names of the limits of its job.
type Row = (i64, i64, i64, Millis, i32, Option<String>);

/// All limits, and the first runs that wait for any of them.
struct WholeLine {
    rules: Vec<LimitRule>,
    /// The names of each app's own limits; 0: of the shared ones.
    own: HashMap<i64, Vec<String>>,
    runs: Vec<Row>,
}

impl WholeLine {
    fn needs(&self, (_, _, app_id, _, _, limits): &Row, rule: &LimitRule) -> bool {
        let names = limits.as_deref().map(names_of).unwrap_or_default();
        rule.holds_for(*app_id, &names, self.own.get(app_id).map(Vec::as_slice).unwrap_or_default())
    }
}

fn waiting_run(&(run_id, job_id, app_id, due_at, priority, _): &Row, rule: &LimitRule) -> WaitingRun {
    WaitingRun { run_id, job_id, app_id, due_at, priority, key: SlotKey { limit_id: rule.id, key: NO_KEY } }
}

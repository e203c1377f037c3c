//! Counting runs, each once.

use std::collections::BTreeMap;

use carillon_scheduler::{Millis, RunState};

use crate::db::ids;
use crate::db::pool::transaction::Transaction;
use crate::error::Result;
use crate::report::buckets::{DayLine, KeyedLine};
use crate::report::changes::{Changes, CountedRun};
use crate::report::counts::{self, Counts};
use crate::report::failing::Outcomes;
use crate::report::last_failures::NewFailures;
use crate::retention::rules::Retentions;
use crate::views::ReportStore;

/// Days that a report may reach back; a run of an earlier day is not counted.
pub const DAYS: i32 = 90;

const HOUR: Millis = 3_600_000;
/// Runs of one transaction.
const PAGE: usize = 1000;

pub(crate) const PASSED: &str = "SELECT r.id, r.job_id, r.app_id, r.state, r.scheduled_at, r.due_at, r.sent_at, r.finished_at \
     FROM run r WHERE r.id > ? AND r.id < ? ORDER BY r.id LIMIT ?";
pub(crate) const OPEN: &str = "SELECT r.id, r.job_id, r.app_id, r.state, r.scheduled_at, r.due_at, r.sent_at, r.finished_at, \
     o.is_doubtful FROM report_open o JOIN run r ON r.id = o.run_id WHERE o.run_id > ? ORDER BY o.run_id LIMIT ?";

/// Where the cursor stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Position {
    run_id: i64,
    /// Changes with each transaction.
    round: i64,
}

/// What one transaction does.
#[derive(Default)]
struct Round {
    passed: i64,
    changes: Changes,
    outcomes: Outcomes,
    failures: NewFailures,
    /// Runs that have not ended; true: their outcome is not known, and they are counted so.
    opened: Vec<(i64, bool)>,
    /// Open runs that were counted as doubtful now.
    doubted: Vec<i64>,
    ended: Vec<i64>,
}

/// What one step did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summarized {
    pub runs: usize,
    /// Those of the last hour, by app and state.
    pub ended: BTreeMap<(i64, i16), u64>,
    /// There may be more to do at once.
    pub has_more: bool,
    /// Where the next page of runs that were open starts.
    pub open_after: i64,
}

struct OpenRun {
    run: CountedRun,
    is_doubtful: bool,
}

impl OpenRun {
    /// The run has ended, or its outcome is not known and it is not counted so yet.
    fn is_news(&self) -> bool {
        let is_doubtful = matches!(self.run.state, RunState::Unknown | RunState::Lost);
        self.run.state.is_final() || is_doubtful && !self.is_doubtful
    }
}

impl sea_orm::FromQueryResult for OpenRun {
    fn from_query_result(row: &sea_orm::QueryResult, pre: &str) -> std::result::Result<Self, sea_orm::DbErr> {
        Ok(Self { run: CountedRun::from_query_result(row, pre)?, is_doubtful: row.try_get(pre, "is_doubtful")? })
    }
}

impl ReportStore<'_> {
    /// The first run id that no node has been given. After [`ids::RUN_BLOCK_AGE`] and the time of a transaction no run with a lower
    /// one is inserted any more.
    pub async fn run_ids_given(self) -> Result<i64> {
        let text = "SELECT next FROM id_block WHERE name = ?";
        let next: Option<i64> = self.tuple(&self.engine_reads, text, values![ids::RUN.name]).await?;
        Ok(next.unwrap_or(1))
    }

    /// Runs up to this id are counted, or are counted when they end. The pruner goes no further.
    pub async fn summarized_to(self) -> Result<i64> {
        Ok(self.report_position().await?.run_id)
    }

    async fn report_position(self) -> Result<Position> {
        let text = "SELECT run_id, round FROM report_cursor WHERE id = 1";
        let found: Option<(i64, i64)> = self.tuple(&self.engine_reads, text, vec![]).await?;
        let (run_id, round) = found.unwrap_or((0, 0));
        Ok(Position { run_id, round })
    }

    /// Passes the next thousand runs below this id.
    pub async fn summarize_runs(self, before: i64, now: Millis) -> Result<Summarized> {
        let from = self.report_position().await?;
        if from.run_id >= before - 1 {
            return Ok(Summarized::default());
        }
        let rows = self.query(&self.engine_reads, PASSED, values![from.run_id, before, PAGE as i64]).await?;
        let has_more = rows.len() == PAGE;
        let last = rows.last().filter(|_| has_more).map(|last| last.try_get_by_index::<i64>(0)).transpose()?;
        let passed = last.unwrap_or(before - 1);
        // One that cannot be read, of a newer version or made by hand, is in no summary, and does not keep the others out.
        let runs: Vec<CountedRun> = self.readable("run", &rows);
        let mut round = Round { passed, ..Round::default() };
        let mut ended = BTreeMap::new();
        for run in &runs {
            let is_doubtful = matches!(run.state, RunState::Unknown | RunState::Lost);
            if run.state.is_open() {
                round.opened.push((run.id, is_doubtful));
            }
            round.outcomes.add(run);
            round.failures.add(run);
            if (run.state.is_final() || is_doubtful) && self.is_counted(run, now) {
                round.changes.count(run, self.report_day(run.scheduled_at), false);
                add_recent(&mut ended, run, now);
            }
        }
        match self.commit_round(from, round).await? {
            true => Ok(Summarized { runs: runs.len(), ended, has_more, ..Summarized::default() }),
            false => Ok(Summarized { has_more: true, ..Summarized::default() }),
        }
    }

    /// Counts runs that the cursor has passed and that have ended since: those of the next thousand open ones behind `after`.
    pub async fn summarize_ended(self, after: i64, now: Millis) -> Result<Summarized> {
        let from = self.report_position().await?;
        let rows = self.query(&self.engine_reads, OPEN, values![after, PAGE as i64]).await?;
        let has_more = rows.len() == PAGE;
        let last = rows.last().filter(|_| has_more).map(|last| last.try_get_by_index::<i64>(0)).transpose()?;
        let open_after = last.unwrap_or(0);
        let mut found: Vec<OpenRun> = self.readable("run", &rows);
        found.retain(OpenRun::is_news);
        if found.is_empty() {
            return Ok(Summarized { has_more, open_after, ..Summarized::default() });
        }
        let mut round = Round { passed: from.run_id, ..Round::default() };
        let mut ended = BTreeMap::new();
        for OpenRun { run, is_doubtful } in &found {
            round.outcomes.add(run);
            round.failures.add(run);
            if self.is_counted(run, now) {
                round.changes.count(run, self.report_day(run.scheduled_at), *is_doubtful);
                add_recent(&mut ended, run, now);
            }
            match run.state.is_final() {
                true => round.ended.push(run.id),
                false => round.doubted.push(run.id),
            }
        }
        match self.commit_round(from, round).await? {
            true => Ok(Summarized { runs: found.len(), ended, has_more, open_after }),
            false => Ok(Summarized { has_more: true, open_after: after, ..Summarized::default() }),
        }
    }

    /// Is it young enough for a report?
    fn is_counted(self, run: &CountedRun, now: Millis) -> bool {
        self.report_day(run.scheduled_at) > self.report_day(now) - DAYS
    }

    /// False: another node has been here since `from` was read, and nothing is changed; the next step reads again.
    async fn commit_round(self, from: Position, round: Round) -> Result<bool> {
        // Most rounds have no failure, and need no rule.
        let rules = if round.failures.is_empty() { Retentions::default() } else { self.retention().rules().await? };
        let tx = self.begin().await?;
        let text = "UPDATE report_cursor SET run_id = ?, round = round + 1 WHERE id = 1 AND round = ?";
        if self.execute(&tx, text, values![round.passed, from.round]).await? == 0 {
            return Ok(false);
        }
        for (day, lines) in round.changes.days {
            self.add_day(&tx, day, lines).await?;
        }
        for (hour, counts) in round.changes.hours {
            self.add_hour(&tx, hour, counts).await?;
        }
        self.keep_failing(&tx, &round.outcomes).await?;
        self.keep_last_failures(&tx, &round.failures, &rules).await?;
        let opened = round.opened.into_iter().map(|(id, is_doubtful)| values![id, is_doubtful]);
        self.insert_rows(&tx, "report_open", "run_id, is_doubtful", opened.collect()).await?;
        if !round.doubted.is_empty() {
            let text = "UPDATE report_open SET is_doubtful = TRUE WHERE run_id IN ({ids})";
            self.execute(&tx, text, values![self.ids(&round.doubted)]).await?;
        }
        if !round.ended.is_empty() {
            self.delete_by_id(&tx, "report_open", "run_id", &round.ended).await?;
        }
        tx.commit().await?;
        Ok(true)
    }

    async fn add_day(self, tx: &Transaction, day: i32, mut lines: BTreeMap<i64, DayLine>) -> Result<()> {
        let keys: Vec<i64> = lines.keys().copied().collect();
        let text = format!(
            "SELECT day, job_id, app_id, {}, times FROM report_day WHERE day = ? AND job_id IN ({{ids}})",
            counts::COLUMNS
        );
        for mut kept in self.all::<KeyedLine>(tx, &text, values![day, self.ids(&keys)]).await? {
            if let Some(line) = lines.get_mut(&kept.job_id) {
                kept.line.merge(line);
                *line = kept.line;
            }
        }
        let text = "DELETE FROM report_day WHERE day = ? AND job_id IN ({ids})";
        self.execute(tx, text, values![day, self.ids(&keys)]).await?;
        let columns = format!("day, job_id, app_id, {}, times", counts::COLUMNS);
        let rows = lines.into_iter().map(|(key, line)| {
            [values![day, key, line.app_id], line.counts.values(), values![line.times.to_string()]].concat()
        });
        self.insert_rows(tx, "report_day", &columns, rows.collect()).await
    }

    async fn add_hour(self, tx: &Transaction, hour: i32, mut lines: BTreeMap<i64, Counts>) -> Result<()> {
        let keys: Vec<i64> = lines.keys().copied().collect();
        let text =
            format!("SELECT app_id, {} FROM report_hour WHERE hour = ? AND app_id IN ({{ids}})", counts::COLUMNS);
        let kept = self.tuples::<(i64, i64, i64, i64, i64, i64)>(tx, &text, values![hour, self.ids(&keys)]).await?;
        for (app_id, succeeded, failed, killed, cancelled, doubtful) in kept {
            if let Some(line) = lines.get_mut(&app_id) {
                line.add(&Counts::from_row((succeeded, failed, killed, cancelled, doubtful)));
            }
        }
        let text = "DELETE FROM report_hour WHERE hour = ? AND app_id IN ({ids})";
        self.execute(tx, text, values![hour, self.ids(&keys)]).await?;
        let columns = format!("hour, app_id, {}", counts::COLUMNS);
        let rows = lines.into_iter().map(|(app_id, counts)| [values![hour, app_id], counts.values()].concat());
        self.insert_rows(tx, "report_hour", &columns, rows.collect()).await
    }
}

/// For the metrics: what ended long ago is no news.
fn add_recent(ended: &mut BTreeMap<(i64, i16), u64>, run: &CountedRun, now: Millis) {
    if run.finished_at.unwrap_or(run.due_at) > now - HOUR {
        *ended.entry((run.app_id, run.state.code())).or_default() += 1;
    }
}

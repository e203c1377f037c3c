//! The third committed write: what became of a run, with all that follows from it, in one transaction.

use std::collections::BTreeSet;

use carillon_scheduler::{Millis, Outcome, RunEvent, RunReason, RunState};
use foldhash::{HashMap, HashMapExt as _};

use crate::db::failpoint;
use crate::db::ids;
use crate::db::pool::transaction::Transaction;
use crate::db::sql::retry;
use crate::db::sql::text::printable;
use crate::error::Result;
use crate::lease::leases::RESTORED_BELOW;
use crate::run::lock::{LockMode, LockedRun};
use crate::run::settle::by_hand::{Resolution, is_undecided};
use crate::run::settle::effects::SettleEffects;
use crate::run::settle::finding::{AcceptedRun, Reporter, ReporterToken, RunReport, SettleContext, Settlement};
use crate::run::settle::statements::{self, ACCEPT, HOLD, HoldRow, SETTLE, SETTLE_SUCCESSES, SettleRow, settle_row};
use crate::views::RunStore;

impl RunStore<'_> {
    /// Commits findings, each run's state by the one transition function. A finding about a run that we do not have, or
    /// that has ended, changes nothing.
    pub async fn settle(self, findings: &[RunReport], context: &SettleContext) -> Result<Settlement> {
        let mut list = dedupe_by_run(findings);
        let done = self.settle_successes(&list, context.now).await?;
        list.retain(|finding| !done.contains(&finding.run_id));
        let mut settled = self.settle_others(&list, context, LockMode::Wait).await?;
        settled.changed.extend(successes(done));
        settled.changed.sort_unstable_by_key(|(run_id, _)| *run_id);
        Ok(settled)
    }

    /// The normal case in one statement, before and apart from all others: runs that were on their way and have succeeded,
    /// and from which nothing follows. Answers which they are.
    pub async fn settle_successes(self, list: &[&RunReport], now: Millis) -> Result<BTreeSet<i64>> {
        let succeeded = list.iter().filter(|finding| !may_fail(finding) && is_for_all_apps_or_one(finding));
        let rows: Vec<_> = succeeded.map(|finding| settle_row(finding, RunState::Succeeded)).collect();
        let ids: Vec<i64> = rows.iter().map(|row| row.0).collect();
        let values = named![now];
        let mut done = 0;
        for rows in statements::statements(&rows) {
            done += retry::on_conflict(|| self.bulk(&self.write, &SETTLE_SUCCESSES, &values, rows)).await?;
            failpoint::hit("after_settle_commit");
        }
        if done == 0 {
            return Ok(BTreeSet::new());
        }
        if done == rows.len() as u64 {
            return Ok(ids.into_iter().collect());
        }
        // Some had ended, were thought lost, or have followers: those that are settled are known by
        // their end.
        let text = "SELECT id FROM run WHERE id IN ({ids}) AND state = {state.succeeded} AND finished_at = ?";
        Ok(self.tuples(&self.write, text, values![self.ids(&ids), now]).await?.into_iter().collect())
    }

    /// Everything else, with all that follows from it, in one transaction: as many statements for many findings as for few.
    pub async fn settle_others(
        self,
        list: &[&RunReport],
        context: &SettleContext,
        mode: LockMode,
    ) -> Result<Settlement> {
        if list.is_empty() {
            return Ok(Settlement::default());
        }
        retry::on_conflict(|| self.try_settle_others(list, context, mode, None)).await
    }

    /// `by_hand`: only runs whose outcome is not known, and a row in the audit for each of them.
    pub(super) async fn try_settle_others(
        self,
        list: &[&RunReport],
        context: &SettleContext,
        mode: LockMode,
        by_hand: Option<&Resolution<'_>>,
    ) -> Result<Settlement> {
        let failing = list.iter().filter(|finding| may_fail(finding));
        let failing: Vec<i64> = failing.map(|finding| finding.run_id).collect();
        let mut all: Vec<i64> = list.iter().map(|finding| finding.run_id).collect();
        all.dedup();
        let runs = self.take_ids(&ids::RUN, failing.len()).await?;
        let rows = self.take_ids(&ids::ROW, failing.len()).await?;
        let mut effects = SettleEffects { runs, rows, ..SettleEffects::default() };
        let tx = self.begin().await?;
        let jobs_of = self.jobs_of(&tx, &failing).await?;
        let jobs = self.lock_jobs(&tx, jobs_of.values().copied(), mode).await?;
        let is_held = |run_id: &i64| jobs_of.get(run_id).is_some_and(|job| jobs.held_up.contains(job));
        let (held_up, free): (Vec<i64>, Vec<i64>) = all.into_iter().partition(is_held);
        effects.jobs = jobs.owners;
        let runs = self.lock_runs(&tx, &free, mode).await?;
        effects.settled.held_up = held_up;
        effects.settled.held_up.extend(runs.held_up);
        effects.settled.unreadable.extend(runs.unreadable);
        let restored_below = match list.iter().any(|finding| is_of_unsent(&runs.by_id, finding)) {
            true => self.restored_below(&tx, context).await?,
            false => 0,
        };
        let starts = self.starts_at(&tx, &runs.by_id, list).await?;
        let held = runs.by_id.values().filter(|row| row.is_held()).map(|row| row.id);
        // The end of a workflow was found before its lock was given back: something may have started since.
        let going_on = self.workflows().with_open_nodes(&tx, &Vec::from_iter(held)).await?;
        let mut changes: Vec<SettleRow> = Vec::new();
        let mut to_hold: Vec<HoldRow> = Vec::new();
        for finding in list {
            let Some(row) = runs.by_id.get(&finding.run_id).filter(|row| by_hand.is_none() || is_undecided(row)) else {
                continue;
            };
            // The executor repeats what it has said before its items were delivered.
            if row.is_held() && row.is_map() && finding.reporter.as_ref().is_some_and(|it| is_start_of(it, row)) {
                continue;
            }
            let refused = || (finding.run_id, row.app_id, finding.reporter.clone());
            if finding.reporter.as_ref().is_some_and(|reporter| !has_run(reporter, row, &starts)) {
                effects.settled.foreign.push(refused());
                continue;
            }
            let is_unsent = is_of_unsent(&runs.by_id, finding);
            if is_unsent && finding.run_id >= restored_below {
                effects.settled.unsent.push(refused());
            }
            if going_on.contains(&finding.run_id) {
                continue;
            }
            // Another report about the same run has decided it.
            if changes.last().is_some_and(|change| change.0 == finding.run_id) {
                continue;
            }
            let Some(state) = next_state(row, finding, is_unsent && finding.run_id < restored_below) else {
                continue;
            };
            let late;
            let (mut finding, mut state) = (*finding, state);
            if state == RunState::Succeeded && row.is_map() && !row.is_held() {
                if row.state.is_pending() {
                    let message = finding.message.as_deref().map(printable);
                    to_hold.push((row.id, message, finding.sent_at, finding.received_at));
                    effects.hold(row);
                    continue;
                }
                late = undelivered(finding);
                (finding, state) = (&late, RunState::Failed);
            }
            changes.push(settle_row(finding, state));
            effects.settled.changed.push((finding.run_id, state));
            effects.follow(row, finding, state, context);
        }
        for rows in statements::statements(&changes) {
            self.bulk(&tx, &SETTLE, &named![now: context.now], rows).await?;
        }
        if !to_hold.is_empty() {
            self.bulk(&tx, &HOLD, &[], &to_hold).await?;
        }
        self.apply_effects(&tx, &mut effects, context.now).await?;
        self.audit_by_hand(&tx, by_hand, (&effects.settled, &runs.by_id), context.now).await?;
        tx.commit().await?;
        failpoint::hit("after_settle_commit");
        Ok(effects.settled)
    }

    /// Where the reporters are registered that no longer have the start to which a run was sent: boot id and address. A run that
    /// was marked for an executor just before it restarted without its journal reaches the new process.
    async fn starts_at(
        self,
        tx: &Transaction,
        runs: &HashMap<i64, LockedRun>,
        list: &[&RunReport],
    ) -> Result<BTreeSet<(String, String)>> {
        let mut starts = BTreeSet::new();
        let reported = list.iter().filter_map(|finding| Some((finding.reporter.as_ref()?, runs.get(&finding.run_id)?)));
        let others =
            reported.filter(|(reporter, row)| reporter.token.allows(row.app_id) && !is_start_of(reporter, row));
        let boot_ids: BTreeSet<&str> = others.filter_map(|(reporter, _)| reporter.boot_id.as_deref()).collect();
        for boot_id in boot_ids {
            let text = "SELECT boot_id, address FROM executor WHERE boot_id = ?";
            starts.extend(self.tuples::<(String, String)>(tx, text, values![boot_id]).await?);
        }
        Ok(starts)
    }

    /// Runs below this number may have been sent in the time that was lost when the database was restored.
    async fn restored_below(self, tx: &Transaction, context: &SettleContext) -> Result<i64> {
        if context.restored {
            return Ok(i64::MAX);
        }
        let value = self.leases().setting(tx, RESTORED_BELOW).await?;
        Ok(value.and_then(|value| value.parse().ok()).unwrap_or(0))
    }

    /// Requests that executors have accepted: `sending` → `running`. A result may have been faster; then only the times at
    /// which the request left and was received are added.
    pub async fn accept_runs(self, accepted: &[AcceptedRun]) -> Result<()> {
        let mut list: Vec<_> = accepted.iter().map(|run| (run.run_id, run.sent_at, run.received_at)).collect();
        list.sort_unstable();
        self.bulk(&self.write, &ACCEPT, &[], &list).await.map(drop)
    }
}

pub fn successes(run_ids: BTreeSet<i64>) -> impl Iterator<Item = (i64, RunState)> {
    run_ids.into_iter().map(|id| (id, RunState::Succeeded))
}

/// One finding a run and reporter, by run. Of several an executor's report counts, as evidence beats what is only assumed; of
/// several reports the first. What different executors report is kept: which of them has the run is not known yet.
pub fn dedupe_by_run(findings: &[RunReport]) -> Vec<&RunReport> {
    let mut by_run: HashMap<(i64, Option<&Reporter>), &RunReport> = HashMap::with_capacity(findings.len());
    for finding in findings {
        let kept = by_run.entry((finding.run_id, finding.reporter.as_deref())).or_insert(finding);
        if is_report(finding) && !is_report(kept) {
            *kept = finding;
        }
    }
    let mut list: Vec<&RunReport> = by_run.into_values().collect();
    list.sort_unstable_by_key(|finding| (finding.run_id, !is_report(finding)));
    list
}

/// The success of a run that was given up before: nothing has begun to deliver its items, and nothing will.
fn undelivered(finding: &RunReport) -> RunReport {
    let message = "it was given up before its success was known, so its items were not delivered".to_owned();
    RunReport { message: Some(message), reason: Some(RunReason::Items), ..finding.clone() }
}

fn is_report(finding: &RunReport) -> bool {
    matches!(finding.event, RunEvent::Reported(_))
}

/// Whether the statement of the successes can tell which runs the finding may settle.
fn is_for_all_apps_or_one(finding: &RunReport) -> bool {
    let token = finding.reporter.as_ref().map(|reporter| &reporter.token);
    !matches!(token, Some(ReporterToken::Global { except }) if !except.is_empty())
}

/// Whether the run is of the app of the token, and was sent to this executor. The runs of workflows and HTTP jobs are sent to none.
fn has_run(reporter: &Reporter, row: &LockedRun, starts: &BTreeSet<(String, String)>) -> bool {
    let is_at_its_address = || {
        let start = reporter.boot_id.clone().zip(row.address.clone());
        start.is_some_and(|start| starts.contains(&start))
    };
    let is_at_executor = !row.is_held() && !row.is_http();
    is_at_executor && reporter.token.allows(row.app_id) && (is_start_of(reporter, row) || is_at_its_address())
}

/// A stock executor has no boot id. One of our SDK has another after each start, and keeps its journal.
pub(crate) fn is_start_of(reporter: &Reporter, row: &LockedRun) -> bool {
    let is_same_journal = reporter.journal_id.is_some() && reporter.journal_id == row.journal_id;
    row.boot_id.is_none() || row.boot_id == reporter.boot_id || is_same_journal
}

pub fn may_fail(finding: &RunReport) -> bool {
    finding.event != RunEvent::Reported(Outcome::Succeeded)
}

/// A report about a run that was never sent.
fn is_of_unsent(runs: &HashMap<i64, LockedRun>, finding: &RunReport) -> bool {
    let row = runs.get(&finding.run_id);
    matches!(finding.event, RunEvent::Reported(_))
        && row.is_some_and(|row| row.state == RunState::Claimed && row.sends == 0)
}

/// A run whose end was asked for and that then reports a failure was killed.
fn next_state(row: &LockedRun, finding: &RunReport, is_restored: bool) -> Option<RunState> {
    let event = match finding.event {
        RunEvent::Reported(Outcome::Failed) if row.kill_asked => RunEvent::Reported(Outcome::Killed),
        RunEvent::Reported(outcome) if row.state == RunState::Claimed && (is_restored || row.sends > 0) => {
            RunEvent::ReportedAfterRestore(outcome)
        }
        event => event,
    };
    row.state.on(event)
}

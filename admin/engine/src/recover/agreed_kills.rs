//! Kills that executors have agreed to: whether the run is over.

use std::sync::Arc;

use carillon_scheduler::{AlarmKind, BlockStrategy, Millis, RunEvent, RunReason};
use foldhash::HashMap;
use parking_lot::Mutex;

use crate::recover::check::{is_in_force, is_overtaken};
use crate::recover::lost::{NO_ANSWER_GRACE, REPORT_GRACE};
use crate::recover::run_knowledge::{RecoverContext, RunKnowledge, is_own};
use crate::settings::ms;
use carillon_store as store;
use carillon_store::run::open::checked::ToCheck;
use carillon_store::run::open::running::RunningRun;

/// Runs whose executor agreed to a kill and has not reported the end.
pub struct AgreedKills {
    pub(crate) recover: Arc<RecoverContext>,
    pub(crate) seen: Mutex<HashMap<i64, AgreedKill>>,
}

pub(crate) struct AgreedKill {
    shard: i32,
    /// Since when the executor no longer has the run, or does not answer.
    gone_since: Option<Millis>,
    /// An alarm says that it still works on the run.
    is_alarmed: bool,
}

impl AgreedKills {
    pub fn keep(&self, shard: i32, agreed: &[i64]) {
        self.seen.lock().retain(|run_id, it| it.shard != shard || agreed.contains(run_id));
    }

    /// The run counts as killed when its executor has been without it for long enough to have reported another end. While the
    /// executor works on it the run is not over, although the executor agreed: some handlers ignore an interrupt, and some
    /// executors agree and do nothing. An executor that does not say whether it works on the job counts as one that is silent.
    pub async fn confirm(&self, shard: i32, it: &ToCheck) -> store::Result<()> {
        let (cx, run) = (&self.recover.cx, &it.run);
        if run.is_http() {
            let message = "killed while its callback was awaited; its service may go on";
            let (event, reason) = (RunEvent::KillUnconfirmed, RunReason::Unconfirmed);
            self.recover.outcomes.report_internal(run.run_id, event, reason, message);
            return Ok(());
        }
        let pause = match self.recover.query_run(run).await? {
            RunKnowledge::Running | RunKnowledge::Queued if !self.is_about_a_later_run(it).await? => {
                return self.still_works(shard, run).await;
            }
            RunKnowledge::Running | RunKnowledge::Queued | RunKnowledge::Unknown => ms(cx.settings.resolve_every),
            RunKnowledge::Finished => REPORT_GRACE,
            RunKnowledge::Unclear | RunKnowledge::NoAnswer => NO_ANSWER_GRACE,
        };
        let now = cx.clock.now();
        let since = self.note(shard, run.run_id, |it| *it.gone_since.get_or_insert(now));
        if since + pause <= now {
            let (event, message) = (RunEvent::KillUnconfirmed, "killed; its end was not reported");
            self.recover.outcomes.report_internal(run.run_id, event, RunReason::Unconfirmed, message);
        }
        Ok(())
    }

    /// A stock executor answers for a job, not for a run. Under `serial` a later run waits behind this one, so the answer is about
    /// this one until a later one has a result.
    async fn is_about_a_later_run(&self, it: &ToCheck) -> store::Result<bool> {
        if is_own(&it.run) {
            return Ok(false);
        }
        let beside = self.recover.cx.store.runs().running_beside(&it.run).await?;
        let waits = matches!(it.block, Some((BlockStrategy::Serial, _))) && is_in_force(it, it.run.sent_at);
        if waits {
            let last_result_at = self.recover.last_result_after(it).await?;
            return Ok(is_overtaken(it, beside.later, last_result_at));
        }
        Ok(beside.later)
    }

    async fn still_works(&self, shard: i32, run: &RunningRun) -> store::Result<()> {
        let was_alarmed = self.note(shard, run.run_id, |it| {
            it.gone_since = None;
            std::mem::replace(&mut it.is_alarmed, true)
        });
        if !was_alarmed {
            let address = run.address.as_deref().unwrap_or_default();
            let text = format!("{address} agreed to end run {} and still works on it", run.run_id);
            self.recover.cx.raise_alarm(AlarmKind::Stuck, Some(run.job_id), Some(run.run_id), text).await;
        }
        Ok(())
    }

    fn note<T>(&self, shard: i32, run_id: i64, change: impl FnOnce(&mut AgreedKill) -> T) -> T {
        let fresh = AgreedKill { shard, gone_since: None, is_alarmed: false };
        change(self.seen.lock().entry(run_id).or_insert(fresh))
    }
}

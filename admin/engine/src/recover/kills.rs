//! Kills: requested, agreed to by the executor, and ended are three things.

use carillon_scheduler::{RunEvent, RunReason};

use crate::complete::outcome_queue::finding;
use crate::manage::error::Error;
use crate::recover::monitor::RunMonitor;
use crate::settings::ms;
use carillon_store as store;

impl RunMonitor {
    pub(crate) async fn retry_kills(&self, shard: i32) -> store::Result<()> {
        let now = self.cx.clock.now();
        let confirm = ms(self.cx.settings.kill_confirm);
        for run_id in self.cx.store.unconfirmed_kills(shard, now - confirm).await? {
            let killed =
                finding(run_id, RunEvent::KillUnconfirmed, RunReason::Unconfirmed, "killed; its end was not reported");
            self.executors.outcomes.report_own(killed);
        }
        // The node that was to ask has died before, or the executor did not answer.
        let asked_before = now - ms(self.cx.settings.resolve_every);
        for run_id in self.cx.store.unacknowledged_kills(shard, asked_before).await? {
            if let Some(guard) = self.kill_inquiries.try_begin(run_id, "") {
                let killer = self.killer.clone();
                self.tasks.spawn(async move {
                    let _guard = guard;
                    match killer.ask_again(run_id).await {
                        Ok(()) => {}
                        Err(Error::Executor(why)) => {
                            tracing::warn!(run.id = run_id, reason = why, "a kill is not agreed to yet");
                        }
                        Err(error) => {
                            tracing::warn!(run.id = run_id, %error, "a kill could not be asked for again");
                        }
                    }
                });
            }
        }
        Ok(())
    }
}

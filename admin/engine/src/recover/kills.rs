//! Kills: wished for, agreed to by the executor, and ended are three things.

use carillon_scheduler::RunEvent;

use crate::manage::Error;
use crate::recover::monitor::Watch;
use crate::settings::ms;
use crate::store;
use crate::store::run::settle::outcomes::Finding;

impl Watch {
    pub(crate) async fn follow_kills(&self, shard: i32) -> store::Result<()> {
        let pipeline = &self.pipeline;
        let now = pipeline.clock.now();
        let confirm = ms(pipeline.settings.kill_confirm);
        for run_id in pipeline.store.unconfirmed_kills(shard, now - confirm).await? {
            pipeline.outcomes.found(Finding {
                run_id,
                event: RunEvent::KillUnconfirmed,
                code: None,
                message: Some("killed; its end was not reported".into()),
                reason: Some("unconfirmed"),
                sent_at: None,
            });
        }
        // Whoever wished it died before asking, or the executor did not answer.
        let asked_before = now - ms(pipeline.settings.resolve_every);
        for run_id in pipeline.store.unasked_kills(shard, asked_before).await? {
            if let Some(asked) = self.asking_for_kills.take(run_id, "") {
                let pipeline = pipeline.clone();
                self.pipeline.sends.spawn(async move {
                    let _asked = asked;
                    match pipeline.repeat_kill(run_id).await {
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

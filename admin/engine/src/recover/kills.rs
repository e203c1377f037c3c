//! Kills: requested, agreed to by the executor, and ended are three things.

use crate::manage::error::Error;
use crate::recover::monitor::RunMonitor;
use crate::settings::ms;
use carillon_store as store;

impl RunMonitor {
    pub(crate) async fn retry_kills(&self, shard: i32) -> store::Result<()> {
        self.confirm_kills(shard).await?;
        // The node that was to ask has died before, or the executor did not answer.
        let asked_before = self.cx.clock.now() - ms(self.cx.settings.resolve_every);
        for run_id in self.cx.store.runs().unacknowledged_kills(shard, asked_before).await? {
            let killer = self.killer.clone();
            let request = async move {
                match killer.ask_again(run_id).await {
                    Ok(()) => {}
                    Err(Error::Executor(why)) => {
                        tracing::warn!(run.id = run_id, reason = why, "a kill is not agreed to yet");
                    }
                    Err(error) => tracing::warn!(run.id = run_id, %error, "a kill could not be asked for again"),
                }
            };
            self.kill_inquiries.spawn(&self.tasks, (run_id, ""), request);
        }
        Ok(())
    }

    async fn confirm_kills(&self, shard: i32) -> store::Result<()> {
        let agreed_before = self.cx.clock.now() - ms(self.cx.settings.kill_confirm);
        let agreed = self.cx.store.runs().unconfirmed_kills(shard, agreed_before).await?;
        self.kills.keep(shard, &agreed);
        if agreed.is_empty() {
            return Ok(());
        }
        for (run_id, it) in self.cx.store.runs().runs_to_check(&agreed).await? {
            let (kills, address) = (self.kills.clone(), it.run.address.clone().unwrap_or_default());
            let question = async move {
                if let Err(error) = kills.confirm(shard, &it).await {
                    tracing::warn!(run.id = run_id, %error, "a kill could not be confirmed; the next round goes on");
                }
            };
            self.kill_inquiries.spawn(&self.tasks, (run_id, &address), question);
        }
        Ok(())
    }
}

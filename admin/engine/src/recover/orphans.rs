//! The audit of rows that no service works on: with it no row that a defect left behind stays in its state permanently.

use std::time::Duration;

use carillon_scheduler::AlarmKind;

use crate::recover::monitor::RunMonitor;
use crate::settings::ms;
use carillon_store as store;

/// Beyond the misfire threshold of its job, after which a waiting run is given up.
const OVERDUE: Duration = Duration::from_secs(30);

impl RunMonitor {
    /// Rows in a wrong shard, of all shards: by the holder of the first one.
    pub(crate) async fn repair_misplaced(&self) -> store::Result<()> {
        let now = self.cx.clock.now();
        let mut walk = self.walk.lock().await;
        if let Some(alarm) = self.cx.store.runs().repair_misplaced(&mut walk, now).await? {
            self.cx.log_alarm(&alarm);
        }
        Ok(())
    }

    pub(crate) async fn alarm_stuck_runs(&self, shard: i32) -> store::Result<()> {
        let before = self.cx.clock.now() - ms(OVERDUE);
        // After an outage the time of every run starts again.
        let waited_since = self.recover.directory.give_up_from(0);
        let overdue = self.cx.store.runs().count_overdue_runs(shard, before, waited_since).await?;
        if self.stuck.is_news(shard, overdue.map(|(first, _)| first))
            && let Some((first, count)) = overdue
        {
            let text = format!("{count} runs of shard {shard} wait for nothing, since long");
            self.cx.raise_alarm(AlarmKind::Stuck, None, Some(first), text).await;
        }
        Ok(())
    }
}

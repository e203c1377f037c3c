//! The audit of what nobody works on: with it no row stays in its state for ever, whatever defect left it there.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use carillon_scheduler::AlarmKind;

use crate::recover::monitor::Watch;
use crate::settings::ms;
use crate::store;

/// Beyond the misfire threshold of its job, after which a waiting run is given up.
const OVERDUE: Duration = Duration::from_secs(30);

/// The first overdue run of each shard in the round before, and whether somebody was told.
#[derive(Default)]
pub struct Seen(Mutex<HashMap<i32, (i64, bool)>>);

impl Seen {
    /// True: it was there in the round before, and nobody has heard of it.
    fn is_news(&self, shard: i32, first: Option<i64>) -> bool {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(first) = first else {
            seen.remove(&shard);
            return false;
        };
        match seen.get_mut(&shard) {
            Some((before, told)) if *before == first => !std::mem::replace(told, true),
            _ => {
                seen.insert(shard, (first, false));
                false
            }
        }
    }
}

impl Watch {
    /// Rows in a wrong shard, of all shards: by the holder of the first one.
    pub(crate) async fn look_for_the_astray(&self) -> store::Result<()> {
        let now = self.pipeline.clock.now();
        let mut walk = self.walk.lock().await;
        if let Some(alarm) = self.pipeline.store.mend_shards(&mut walk, now).await? {
            self.pipeline.tell_alarm(&alarm);
        }
        Ok(())
    }

    pub(crate) async fn look_for_the_forgotten(&self, shard: i32) -> store::Result<()> {
        let pipeline = &self.pipeline;
        let before = pipeline.clock.now() - ms(OVERDUE);
        // After an outage runs are given their time anew.
        let waited_since = pipeline.executors.patience_from(0);
        let overdue = pipeline.store.overdue(shard, before, waited_since).await?;
        if self.seen.is_news(shard, overdue.map(|(first, _)| first))
            && let Some((first, count)) = overdue
        {
            let text = format!("{count} runs of shard {shard} wait for nothing, since long");
            pipeline.raise_alarm(AlarmKind::Stuck, None, Some(first), text).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::recover::orphans::Seen;

    #[test]
    fn what_stays_is_told_once() {
        let seen = Seen::default();
        let told: Vec<bool> = [Some(5), Some(5), Some(5), None, Some(7), Some(8), Some(8)]
            .into_iter()
            .map(|first| seen.is_news(1, first))
            .collect();
        assert_eq!(told, [false, true, false, false, false, false, true]);
        assert!(!seen.is_news(2, Some(8)), "each shard by itself");
    }
}

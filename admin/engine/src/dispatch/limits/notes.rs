//! What is noted of runs that wait for slots: in their rows that they wait, and here since when they have had their turns.

use crate::dispatch::limits::gate::LimitGate;
use crate::dispatch::limits::line::Line;
use crate::dispatch::stages::{BATCH, RoutedRun};
use carillon_store as store;

impl LimitGate {
    /// Says in the rows of runs that they wait, once for each. Answers of how many.
    pub async fn note_waiting(&self) -> store::Result<usize> {
        let new: Vec<i64> = {
            let mut line = self.line.lock();
            let gone = self.queue.not_there(line.turns.run_ids());
            for run_id in gone {
                line.turns.remove(run_id);
            }
            line.forget_what_is_not_in(&self.queue);
            let Line { turns, noted, unknown, .. } = &*line;
            turns
                .run_ids()
                .chain(unknown.iter().copied())
                .filter(|run_id| !noted.contains(run_id))
                .take(BATCH)
                .collect()
        };
        if new.is_empty() {
            return Ok(0);
        }
        let noted = self.cx.store.limits().note_waiting(&new).await?;
        self.line.lock().noted.extend(noted.iter().copied());
        Ok(noted.len())
    }

    /// The run waits for slots, or has had its turn and is not sent yet.
    pub fn is_in_line(&self, run_id: i64) -> bool {
        let line = self.line.lock();
        line.turns.contains(run_id) || line.had_turns.contains_key(&run_id)
    }

    /// Takes back what the rows of runs say that need no slots any more.
    pub async fn clear_notes(&self, routed: &[RoutedRun]) {
        let ids: Vec<i64> = {
            let mut line = self.line.lock();
            let free = routed.iter().filter(|routed| routed.slots.is_none()).map(|routed| &routed.run);
            free.filter(|run| line.noted.remove(&run.run_id) || run.is_patient).map(|run| run.run_id).collect()
        };
        if !ids.is_empty()
            && let Err(error) = self.cx.store.limits().clear_notes(&ids).await
        {
            tracing::debug!(%error, run.count = ids.len(), "rows say that their runs wait for limits, which they do not any more");
        }
    }
}

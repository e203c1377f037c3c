//! Alarms of shards whose scans do not succeed. Such an alarm names neither a job nor a run: it is open until a scan of its shard has
//! succeeded, on any node. Its text says which shard it is about, as the table has no column for it.

use carillon_scheduler::{AlarmKind, Millis};

use crate::alarm::alarms::{Alarm, COLUMNS, row};
use crate::db::ids;
use crate::error::Result;
use crate::views::AlarmStore;

/// Such an alarm that is open, by its condition.
const OPEN: &str = "open_at > 0 AND kind = {alarm.stuck} AND job_id = 0 AND run_id IS NULL";

fn text(shard: i32, seconds: u64) -> String {
    format!("shard {shard} is not worked: no scan of it has succeeded for {seconds} s")
}

/// The shard that a text names; None: it is not of such an alarm.
fn shard_of(text: &str) -> Option<i32> {
    let (shard, rest) = text.strip_prefix("shard ")?.split_once(' ')?;
    shard.parse().ok().filter(|_| rest.starts_with("is not worked: "))
}

impl AlarmStore<'_> {
    /// Raises the alarm of a shard. None: it is open already, by another node or an earlier process.
    pub async fn raise_stalled_shard(self, shard: i32, seconds: u64, now: Millis) -> Result<Option<Alarm>> {
        if self.stalled_shards().await?.iter().any(|(_, it)| *it == shard) {
            return Ok(None);
        }
        let id = self.take_id(&ids::ROW).await?;
        let alarm = Alarm { kind: AlarmKind::Stuck, job_id: None, run_id: None, text: text(shard, seconds) };
        let (alarm, values) = row(id, alarm, true, now);
        self.insert_rows(&self.write, "alarm", COLUMNS, vec![values]).await?;
        Ok(Some(alarm))
    }

    /// Closes the alarms of the shards that `is_over` names; answers how many.
    pub async fn close_stalled_shards(self, is_over: impl Fn(i32) -> bool, now: Millis) -> Result<u64> {
        let mut closed = 0;
        for (id, shard) in self.stalled_shards().await? {
            if is_over(shard) {
                let text = "UPDATE alarm SET open_at = NULL, closed_at = ? WHERE id = ? AND open_at > 0";
                closed += self.execute(&self.write, text, values![now, id]).await?;
            }
        }
        Ok(closed)
    }

    /// The open alarms, each with its shard.
    async fn stalled_shards(self) -> Result<Vec<(i64, i32)>> {
        let text = format!("SELECT id, message FROM alarm WHERE {OPEN} ORDER BY id");
        let rows: Vec<(i64, String)> = self.tuples(&self.write, &text, values![]).await?;
        Ok(rows.into_iter().filter_map(|(id, text)| Some((id, shard_of(&text)?))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_names_its_shard() {
        assert_eq!(shard_of(&text(17, 30)), Some(17));
        assert_eq!(shard_of("3 runs of shard 1 wait for nothing, since long"), None);
        assert_eq!(shard_of("shard seven is not worked: "), None);
    }
}

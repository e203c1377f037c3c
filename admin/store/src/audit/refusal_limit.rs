//! How many refusals get a row. Anyone can cause them: a flood must not fill the database.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use carillon_scheduler::{AuditAction, Millis};

use crate::audit::actor::Actor;

const WINDOW_MS: Millis = 60_000;
/// Rows of one actor at one source in a minute, on this node.
pub const REFUSALS_OF_ONE: u32 = 10;
/// Rows of one about its limit of requests: the first says it all.
const LIMITS_OF_ONE: u32 = 1;
/// Rows of all of them in a minute: sources can be made up.
const REFUSALS_OF_ALL: u32 = 200;

/// The refusals of this minute.
#[derive(Default)]
pub(crate) struct Refusals(Mutex<Minute>);

#[derive(Default)]
struct Minute {
    began_at: Millis,
    rows: u32,
    /// By action, actor and source. No more than the rows of a minute.
    of_one: HashMap<(AuditAction, String, String), u32>,
    /// Refusals without a row since the last row.
    left_out: u64,
}

impl Refusals {
    /// Whether this one gets a row; if so, how many got none since the last row.
    pub fn admit(&self, action: AuditAction, actor: &Actor, now: Millis) -> Option<u64> {
        let mut minute = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !(0..WINDOW_MS).contains(&(now - minute.began_at)) {
            *minute = Minute { began_at: now, left_out: minute.left_out, ..Minute::default() };
        }
        let is_full = minute.rows >= REFUSALS_OF_ALL;
        let most = if action == AuditAction::Limit { LIMITS_OF_ONE } else { REFUSALS_OF_ONE };
        let key = (action, actor.name.clone(), actor.source.clone());
        if is_full || minute.of_one.get(&key).is_some_and(|rows| *rows >= most) {
            minute.left_out += 1;
            return None;
        }
        minute.rows += 1;
        *minute.of_one.entry(key).or_default() += 1;
        Some(std::mem::take(&mut minute.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: V10, S37
    #[test]
    fn an_actor_and_all_together_get_so_many_rows_a_minute() {
        let refusals = Refusals::default();
        let ask = |actor: &Actor, now| refusals.admit(AuditAction::Deny, actor, now);
        let ada = Actor::unknown("10.0.0.1");
        let rows = (0..15).filter(|_| ask(&ada, 0).is_some()).count();
        assert_eq!(rows, REFUSALS_OF_ONE as usize);
        assert_eq!(ask(&Actor::unknown("10.0.0.2"), 0), Some(5), "another source says how many got no row");
        let flood = (0..1000).filter(|n| ask(&Actor::unknown(format!("10.1.0.{n}")), 1).is_some()).count();
        assert_eq!(flood, (REFUSALS_OF_ALL - REFUSALS_OF_ONE - 1) as usize);
        assert!(ask(&ada, WINDOW_MS).is_some(), "the next minute");
        assert!(ask(&ada, 10).is_some(), "a clock that was set back begins a minute");
    }
}

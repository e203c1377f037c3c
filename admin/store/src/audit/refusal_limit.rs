//! How many refusals, and first uses of tokens, get a row. Anyone can cause them: a flood must not fill the database, and the flood
//! of one kind of sender must not hide what another one did.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use carillon_scheduler::{AuditAction, Millis};

use crate::audit::actor::Actor;
use crate::people::source_network::source_network;

const WINDOW_MS: Millis = 60_000;
/// Rows of one actor at one source in a minute, on this node.
pub const REFUSALS_OF_ONE: u32 = 10;
/// Rows of one about its limit of requests: the first says it all.
const LIMITS_OF_ONE: u32 = 1;
/// Rows of each budget in a minute: sources can be made up.
const REFUSALS_OF_ALL: u32 = 200;

/// What is counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Budget {
    /// Of those who have shown a credential.
    Known,
    /// Of strangers.
    Strangers,
    /// Failed sign-ins, which name an account that their sender need not have.
    SignIns,
    /// First uses of tokens.
    Uses,
}

impl Budget {
    fn of(action: AuditAction, actor: &Actor) -> Self {
        match action {
            AuditAction::RefuseSignIn => Self::SignIns,
            AuditAction::UseToken => Self::Uses,
            _ if actor.is_unknown() => Self::Strangers,
            _ => Self::Known,
        }
    }
}

/// The refusals of this minute.
#[derive(Default)]
pub(crate) struct Refusals(Mutex<Minute>);

#[derive(Default)]
struct Minute {
    began_at: Millis,
    rows: HashMap<Budget, u32>,
    /// By action, actor and the network of its source. No more than the rows of a minute. Failed sign-ins by their source alone: a name
    /// of which a refusal is still written, as it is the name of an account, could be told from others by the time that it takes.
    of_one: HashMap<(AuditAction, String, String), u32>,
    /// Refusals without a row since the last row of their budget.
    left_out: HashMap<Budget, u64>,
}

impl Refusals {
    /// Whether this one gets a row; if so, how many of its budget got none since the last row.
    pub fn admit(&self, action: AuditAction, actor: &Actor, now: Millis) -> Option<u64> {
        let mut minute = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !(0..WINDOW_MS).contains(&(now - minute.began_at)) {
            *minute = Minute { began_at: now, left_out: std::mem::take(&mut minute.left_out), ..Minute::default() };
        }
        let budget = Budget::of(action, actor);
        let is_full = minute.rows.get(&budget).is_some_and(|rows| *rows >= REFUSALS_OF_ALL);
        let most = if action == AuditAction::Limit { LIMITS_OF_ONE } else { REFUSALS_OF_ONE };
        let name = if budget == Budget::SignIns { String::new() } else { actor.name.clone() };
        let key = (action, name, source_network(&actor.source));
        if is_full || minute.of_one.get(&key).is_some_and(|rows| *rows >= most) {
            *minute.left_out.entry(budget).or_default() += 1;
            return None;
        }
        *minute.rows.entry(budget).or_default() += 1;
        *minute.of_one.entry(key).or_default() += 1;
        Some(minute.left_out.remove(&budget).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::people::grants::Grants;

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

    // covers: W7
    #[test]
    fn a_failed_sign_in_to_an_account_is_written_as_often_as_one_to_no_account() {
        let refusals = Refusals::default();
        let rows =
            |actor: &Actor| (0..15).filter(|_| refusals.admit(AuditAction::RefuseSignIn, actor, 0).is_some()).count();
        assert_eq!(rows(&Actor::unknown("10.0.0.1")), REFUSALS_OF_ONE as usize);
        for (name, id) in [("ada", 1), ("bob", 2)] {
            let named = Actor::new(name, "10.0.0.1", Grants::default()).with_account(id);
            assert_eq!(rows(&named), 0, "{name}: a row would tell by its time that there is such an account");
        }
    }

    // covers: V10, S37
    #[test]
    fn strangers_take_no_rows_of_others_and_a_network_is_one_source() {
        let refusals = Refusals::default();
        let rows = |action, actors: &mut dyn Iterator<Item = Actor>| {
            actors.filter(|actor| refusals.admit(action, actor, 0).is_some()).count()
        };
        let of_network = |_| Actor::unknown(format!("2001:db8:1:2::{:x}", rand::random::<u16>()));
        assert_eq!(rows(AuditAction::Deny, &mut (0..200).map(of_network)), REFUSALS_OF_ONE as usize);
        let many = |n: u32| Actor::unknown(format!("2001:db8:9:{n:x}::1"));
        assert_eq!(rows(AuditAction::Deny, &mut (0..500).map(many)), (REFUSALS_OF_ALL - REFUSALS_OF_ONE) as usize);
        // A failed sign-in names an account, and comes from a stranger all the same.
        let named =
            |n: u32| Actor::new("ada", format!("10.0.{}.{}", n / 250, n % 250), Grants::default()).with_account(1);
        assert_eq!(rows(AuditAction::RefuseSignIn, &mut (0..500).map(named)), REFUSALS_OF_ALL as usize);
        assert_eq!(rows(AuditAction::UseToken, &mut (0..500).map(named)), REFUSALS_OF_ALL as usize);
        assert_eq!(refusals.admit(AuditAction::Deny, &named(7), 0), Some(0), "what an insider is denied has a row");
        let executor = Actor::new("executor", "10.0.0.9", Grants::default());
        assert_eq!(refusals.admit(AuditAction::RefuseResult, &executor, 0), Some(0));
    }
}

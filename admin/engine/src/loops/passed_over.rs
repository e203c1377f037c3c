//! Executors that are not to get a loop, or only if no other can.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;

/// An executor whose lease ran out, or that did not answer, comes last for this long.
const LAPSED_FOR: Duration = Duration::from_secs(30);

#[derive(Default)]
pub(crate) struct PassedOver(Mutex<Lists>);

/// Times are those of the monotonic clock.
#[derive(Default)]
struct Lists {
    /// By job and address: until when it is not asked.
    refused: HashMap<(i64, String), Duration>,
    /// By the start of an executor: until when others come first.
    lapsed: HashMap<String, Duration>,
}

impl PassedOver {
    /// The executor at this address is not asked for the loop of a job.
    pub fn refuse(&self, job_id: i64, address: &str, until: Duration) {
        self.0.lock().refused.insert((job_id, address.to_owned()), until);
    }

    /// An executor has let its lease run out, or does not answer.
    pub fn lapse(&self, boot_id: &str, now: Duration) {
        self.0.lock().lapsed.insert(boot_id.to_owned(), now + LAPSED_FOR);
    }

    /// The first one that has not refused the loop, of those whose leases have not run out if there is one: after an outage of the database
    /// all have run out. `name`: its address and its start.
    pub fn choose<T>(
        &self,
        job_id: i64,
        candidates: Vec<T>,
        name: impl Fn(&T) -> (String, String),
        now: Duration,
    ) -> Option<T> {
        let mut lists = self.0.lock();
        lists.refused.retain(|_, until| *until > now);
        lists.lapsed.retain(|_, until| *until > now);
        let named = candidates.into_iter().map(|it| (name(&it), it));
        let open = named.filter(|((address, _), _)| !lists.refused.contains_key(&(job_id, address.clone())));
        open.min_by_key(|((_, boot_id), _)| lists.lapsed.contains_key(boot_id)).map(|(_, it)| it)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_executor_that_has_lapsed_comes_last_and_one_that_has_refused_not_at_all() {
        let passed_over = PassedOver::default();
        let second = Duration::from_secs(1);
        let choose = |names: &[&'static str], now| {
            passed_over.choose(1, names.to_vec(), |name| (name.to_string(), format!("boot-{name}")), now)
        };
        assert_eq!(choose(&["a", "b"], second), Some("a"));
        passed_over.lapse("boot-a", second);
        assert_eq!(choose(&["a", "b", "c"], second * 30), Some("b"), "by the route, behind those that answer");
        assert_eq!(choose(&["a"], second * 30), Some("a"), "there is no other");
        passed_over.refuse(1, "b", second * 20);
        assert_eq!(choose(&["a", "b"], second * 19), Some("a"));
        assert_eq!(choose(&["b"], second * 19), None);
        assert_eq!(choose(&["a", "b"], second * 20), Some("b"));
        assert_eq!(choose(&["a", "b"], second * 31), Some("a"));
    }
}

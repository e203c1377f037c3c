//! Names of the choices that a job has, with what each does. The names are those of the xxl-job console where it has them.

use carillon_scheduler::{BlockStrategy, Overlap, RetryDelay, RouteStrategy};

use crate::web::locale::Language;
use crate::web::text::format::{duration, period};

pub const fn route_name(route: RouteStrategy) -> &'static str {
    match route {
        RouteStrategy::RoundRobin => "Round robin",
        RouteStrategy::First => "First",
        RouteStrategy::Last => "Last",
        RouteStrategy::Random => "Random",
        RouteStrategy::Broadcast => "Sharding broadcast",
        RouteStrategy::ConsistentHash => "Consistent hash",
        RouteStrategy::LeastFrequentlyUsed => "Least frequently used",
        RouteStrategy::LeastRecentlyUsed => "Least recently used",
        RouteStrategy::Failover => "Failover",
        RouteStrategy::BusyOver => "Busy over",
        RouteStrategy::Weighted => "Weighted",
        RouteStrategy::LeastActive => "Least active",
        RouteStrategy::Sticky => "Sticky",
        RouteStrategy::Label => "Label",
    }
}

/// Whether the xxl-job console offers the strategy too.
pub const fn is_of_xxl_job(route: RouteStrategy) -> bool {
    use RouteStrategy as R;
    !matches!(route, R::Weighted | R::LeastActive | R::Sticky | R::Label)
}

/// `Round robin: each executor in turn`
pub fn route(route: RouteStrategy) -> String {
    format!("{}: {}", route_name(route), route.summary())
}

/// `Serial execution: wait until the earlier run has ended`
pub fn block(block: BlockStrategy) -> String {
    let name = match block {
        BlockStrategy::Serial => "Serial execution",
        BlockStrategy::DiscardLater => "Discard later",
        BlockStrategy::CoverEarly => "Cover early",
    };
    format!("{name}: {}", block.summary())
}

/// `Allow: run beside it`
pub fn overlap(overlap: Overlap) -> String {
    let name = match overlap {
        Overlap::Allow => "Allow",
        Overlap::Skip => "Skip",
        Overlap::Wait => "Wait",
        Overlap::Cancel => "Cancel",
    };
    format!("{name}: {}", overlap.summary())
}

/// `Exponential: 5 seconds, doubled with each retry, at most 5 minutes`
pub fn retry_delay(delay: &RetryDelay) -> String {
    match delay {
        RetryDelay::Exponential { base_seconds: 0, .. } => "at once".to_owned(),
        RetryDelay::Exponential { base_seconds, cap_seconds } => {
            let (base, cap) = (period(Language::English, *base_seconds), period(Language::English, *cap_seconds));
            format!("Exponential: {base}, doubled with each retry, at most {cap}")
        }
        RetryDelay::Fixed { seconds } => match seconds.as_slice() {
            [0] => "at once".to_owned(),
            [seconds] => format!("Fixed: {} before each retry", period(Language::English, *seconds)),
            list => {
                let delays: Vec<String> =
                    list.iter().map(|seconds| duration(Language::English, seconds.saturating_mul(1000))).collect();
                format!("List: {}", delays.join(", "))
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_named_and_explained() {
        assert_eq!(route(RouteStrategy::RoundRobin), "Round robin: each executor in turn");
        assert_eq!(block(BlockStrategy::DiscardLater), "Discard later: refuse the later run while one is running");
        assert_eq!(overlap(Overlap::Skip), "Skip: skip the later run");
        let delay = |text: &str| retry_delay(&text.parse().unwrap());
        assert_eq!(delay("exponential 5 300"), "Exponential: 5 seconds, doubled with each retry, at most 5 minutes");
        assert_eq!(delay("fixed 60"), "Fixed: 1 minute before each retry");
        assert_eq!(delay("fixed 10 60 600"), "List: 10 s, 1 min, 10 min");
        assert_eq!(delay("fixed 0"), "at once");
    }
}

//! Names of the choices that a job has, with what each does. The names are those of the xxl-job console where it has them.

use carillon_scheduler::{BlockStrategy, Durability, Overlap, RetryDelay, RouteStrategy};

use crate::web::locale::{Language, Message};
use crate::web::text::format::{duration, period};

/// The keys of its name and of what it does.
const fn route_keys(route: RouteStrategy) -> (&'static str, &'static str) {
    match route {
        RouteStrategy::RoundRobin => ("route-round-robin", "route-round-robin-does"),
        RouteStrategy::First => ("route-first", "route-first-does"),
        RouteStrategy::Last => ("route-last", "route-last-does"),
        RouteStrategy::Random => ("route-random", "route-random-does"),
        RouteStrategy::Broadcast => ("route-broadcast", "route-broadcast-does"),
        RouteStrategy::ConsistentHash => ("route-consistent-hash", "route-consistent-hash-does"),
        RouteStrategy::LeastFrequentlyUsed => ("route-least-frequently-used", "route-least-frequently-used-does"),
        RouteStrategy::LeastRecentlyUsed => ("route-least-recently-used", "route-least-recently-used-does"),
        RouteStrategy::Failover => ("route-failover", "route-failover-does"),
        RouteStrategy::BusyOver => ("route-busy-over", "route-busy-over-does"),
        RouteStrategy::Weighted => ("route-weighted", "route-weighted-does"),
        RouteStrategy::LeastActive => ("route-least-active", "route-least-active-does"),
        RouteStrategy::Sticky => ("route-sticky", "route-sticky-does"),
        RouteStrategy::Label => ("route-label", "route-label-does"),
    }
}

pub fn route_name(language: Language, route: RouteStrategy) -> Message {
    language.text(route_keys(route).0)
}

/// Whether the xxl-job console offers the strategy too.
pub const fn is_of_xxl_job(route: RouteStrategy) -> bool {
    use RouteStrategy as R;
    !matches!(route, R::Weighted | R::LeastActive | R::Sticky | R::Label)
}

fn explained(language: Language, (name, does): (&'static str, &'static str)) -> String {
    language.text("strategy-does").with("name", language.text(name)).with("does", language.text(does)).to_string()
}

/// `Round robin: each executor in turn`
pub fn route(language: Language, route: RouteStrategy) -> String {
    explained(language, route_keys(route))
}

const fn block_keys(block: BlockStrategy) -> (&'static str, &'static str) {
    match block {
        BlockStrategy::Serial => ("block-serial", "block-serial-does"),
        BlockStrategy::DiscardLater => ("block-discard-later", "block-discard-later-does"),
        BlockStrategy::CoverEarly => ("block-cover-early", "block-cover-early-does"),
    }
}

pub fn block_name(language: Language, block: BlockStrategy) -> Message {
    language.text(block_keys(block).0)
}

/// `Serial execution: wait until the earlier run has ended`
pub fn block(language: Language, block: BlockStrategy) -> String {
    explained(language, block_keys(block))
}

const fn overlap_keys(overlap: Overlap) -> (&'static str, &'static str) {
    match overlap {
        Overlap::Allow => ("overlap-allow", "overlap-allow-does"),
        Overlap::Skip => ("overlap-skip", "overlap-skip-does"),
        Overlap::Wait => ("overlap-wait", "overlap-wait-does"),
        Overlap::Cancel => ("overlap-cancel", "overlap-cancel-does"),
    }
}

pub fn overlap_name(language: Language, overlap: Overlap) -> Message {
    language.text(overlap_keys(overlap).0)
}

/// `Allow: run beside it`
pub fn overlap(language: Language, overlap: Overlap) -> String {
    explained(language, overlap_keys(overlap))
}

/// `Durable: each fire is a run with a record`
pub fn durability(language: Language, durability: Durability) -> String {
    let keys = match durability {
        Durability::Durable => ("durability-durable", "durability-durable-does"),
        Durability::BestEffort => ("durability-best-effort", "durability-best-effort-does"),
    };
    explained(language, keys)
}

/// `Exponential: 5 seconds, doubled with each retry, at most 5 minutes`
pub fn retry_delay(language: Language, delay: &RetryDelay) -> Message {
    let period = |seconds: i64| period(language, seconds);
    match delay {
        RetryDelay::Exponential { base_seconds: 0, .. } => language.text("retry-at-once"),
        RetryDelay::Exponential { base_seconds, cap_seconds } => {
            language.text("retry-exponential").with("base", period(*base_seconds)).with("cap", period(*cap_seconds))
        }
        RetryDelay::Fixed { seconds } => match seconds.as_slice() {
            [0] => language.text("retry-at-once"),
            [seconds] => language.text("retry-fixed").with("period", period(*seconds)),
            list => {
                let delay = |seconds: &i64| duration(language, seconds.saturating_mul(1000));
                language.text("retry-list").with("periods", list.iter().map(delay).collect::<Vec<_>>().join(", "))
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_named_and_explained() {
        let english = Language::English;
        assert_eq!(route(english, RouteStrategy::RoundRobin), "Round robin: each executor in turn");
        let delay = |text: &str| retry_delay(english, &text.parse().unwrap()).to_string();
        assert_eq!(delay("exponential 5 300"), "Exponential: 5 seconds, doubled with each retry, at most 5 minutes");
        assert_eq!(delay("fixed 60"), "Fixed: 1 minute before each retry");
        assert_eq!(delay("fixed 10 60 600"), "List: 10 s, 1 min, 10 min");
        assert_eq!(delay("fixed 0"), "at once");
        assert_eq!(block(Language::Chinese, BlockStrategy::DiscardLater), "丢弃后续调度：正在运行时拒绝后续的运行");
    }

    #[test]
    fn the_console_and_the_api_explain_a_choice_in_the_same_words() {
        let english = Language::English;
        let routes = RouteStrategy::ALL.iter().map(|it| (route(english, *it), it.summary()));
        let blocks = BlockStrategy::ALL.iter().map(|it| (block(english, *it), it.summary()));
        let overlaps = Overlap::ALL.iter().map(|it| (overlap(english, *it), it.summary()));
        for (text, summary) in routes.chain(blocks).chain(overlaps) {
            assert!(text.ends_with(&format!(": {summary}")), "{text}: {summary}");
        }
    }
}

//! The closed sets and their words.

use carillon_scheduler::{BlockStrategy, Cause, MisfirePolicy, RouteStrategy, RunState};

#[test]
fn codes_and_words_go_both_ways() {
    for &state in RunState::ALL {
        assert_eq!(RunState::from_code(state.code()), Some(state));
        assert_eq!(state.as_str().parse(), Ok(state));
    }
    for &cause in Cause::ALL {
        assert_eq!(Cause::from_code(cause.code()), Some(cause));
        assert_eq!(serde_json::to_value(cause).unwrap(), cause.as_str());
    }
    assert_eq!(RunState::from_code(5), None);
}

#[test]
fn the_error_of_an_unknown_word_lists_the_allowed_words() {
    let error = "fifo".parse::<RouteStrategy>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "`fifo` is not a route; allowed: round_robin, first, random, broadcast, last, consistent_hash, least_frequently_used, least_recently_used, failover, busy_over, weighted, least_active, sticky, label"
    );
    let error = serde_json::from_str::<MisfirePolicy>("\"later\"").unwrap_err();
    assert_eq!(error.to_string(), "`later` is not a misfire policy; allowed: fire_once, skip, fire_all, fire_within");
}

#[test]
fn the_first_word_is_the_default() {
    assert_eq!(RouteStrategy::default(), RouteStrategy::RoundRobin);
    assert_eq!(BlockStrategy::default(), BlockStrategy::Serial);
    assert_eq!(MisfirePolicy::default(), MisfirePolicy::FireOnce);
}

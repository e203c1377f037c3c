//! The protocol as it is breaks nothing; each rule that is taken away is missed.

use carillon_model::steps::Step;
use carillon_model::{Report, Rules, Scenario, explore};

/// Take-overs at any moment, a crash, and a commit and a request with an unknown outcome.
const FAULTS: Scenario = Scenario { name: "faults", takes: 2, crashes: 1, unknown_commits: 1, ..Scenario::QUIET };
/// The same of one instant whose shard goes to and fro.
const TAKEOVERS: Scenario = Scenario { name: "takeovers", instants: 1, takes: 4, ..FAULTS };
/// The same of one instant with a second attempt.
const RETRIES: Scenario =
    Scenario { name: "retries", instants: 1, retries: 1, takes: 3, crashes: 1, not_written: 1, ..Scenario::QUIET };
/// Executors that may be asked again.
const JOURNALS: Scenario =
    Scenario { name: "journals", instants: 1, journals: true, takes: 3, not_written: 1, resends: 2, ..Scenario::QUIET };
const EDITS: Scenario = Scenario { name: "edits", instants: 2, takes: 2, edits: 1, ..Scenario::QUIET };
const DISABLES: Scenario = Scenario { name: "disables", takes: 2, disables: 1, ..Scenario::QUIET };
const RESHARDS: Scenario = Scenario { name: "reshards", instants: 1, takes: 4, reshards: 1, ..Scenario::QUIET };
const STOPS: Scenario = Scenario { name: "stops", instants: 2, takes: 2, stops: 1, not_written: 1, ..Scenario::QUIET };

/// A child and a chain follow from one fire with a second attempt.
const FOLLOWS: Scenario = Scenario {
    name: "follows",
    instants: 1,
    retries: 1,
    takes: 2,
    crashes: 1,
    unknown_commits: 1,
    follows: true,
    ..Scenario::QUIET
};

fn holds(scenario: &Scenario) -> Report<Step> {
    let report = explore(scenario);
    println!("{}: {}, {} of them settled", scenario.name, report.tell(), report.settled);
    assert!(report.violation.is_none(), "{}", report.tell());
    assert!(report.settled > 0, "nothing ever ends");
    report
}

/// Without the rule something breaks, and it is this.
fn misses(scenario: &Scenario, rules: Rules, what: &str) {
    let report = explore(&Scenario { rules, ..*scenario });
    println!("{}", report.tell());
    let found = report.violation.as_ref().map_or("nothing", |violation| violation.what);
    assert!(found.starts_with(what), "expected {what}, found {}", report.tell());
}

#[test]
fn nothing_breaks_while_nothing_goes_wrong() {
    holds(&Scenario::QUIET);
}

// covers: H1, H2, H3, H9
#[test]
fn nothing_breaks_whoever_takes_the_shard_and_crashes_when() {
    let report = holds(&FAULTS);
    holds(&TAKEOVERS);
    assert!(report.states > 10_000, "the trace is too short to prove anything");
}

// covers: H10
#[test]
fn nothing_breaks_with_second_attempts() {
    holds(&RETRIES);
}

// covers: H10
#[test]
fn nothing_breaks_when_executors_are_asked_again() {
    holds(&JOURNALS);
}

// covers: H27
#[test]
fn nothing_breaks_by_an_edit() {
    holds(&EDITS);
}

// covers: H27
#[test]
fn nothing_breaks_by_a_disable() {
    holds(&DISABLES);
}

#[test]
fn nothing_breaks_by_another_number_of_shards() {
    holds(&RESHARDS);
}

#[test]
fn nothing_breaks_by_a_stop_that_hands_over_while_it_marks() {
    holds(&STOPS);
}

// covers: I13
#[test]
fn what_follows_from_an_end_follows_once_whoever_crashes_when() {
    holds(&FOLLOWS);
}

#[test]
fn the_end_must_note_what_follows() {
    misses(&FOLLOWS, Rules { end_notes_what_follows: false, ..Rules::ALL }, "liveness");
}

#[test]
fn what_follows_must_take_the_note() {
    misses(&FOLLOWS, Rules { advance_takes_the_note: false, ..Rules::ALL }, "I13");
}

#[test]
fn a_fire_must_have_a_child_once() {
    misses(&FOLLOWS, Rules { one_child_for_a_fire: false, ..Rules::ALL }, "I13");
}

#[test]
fn a_mark_must_look_at_the_state() {
    misses(&RETRIES, Rules { mark_checks_state: false, ..Rules::ALL }, "I8");
}

#[test]
fn the_mark_must_come_before_the_request() {
    misses(
        &FAULTS,
        Rules { mark_before_send: false, ..Rules::ALL },
        // The report of a run without a mark changes nothing, so its result is lost before anything is repeated.
        "I4: a result that was acknowledged is lost",
    );
}

#[test]
fn a_result_must_be_committed_before_it_is_answered() {
    misses(&FAULTS, Rules { answer_after_commit: false, ..Rules::ALL }, "I4");
}

#[test]
fn either_the_cursor_or_the_key_must_be_compared() {
    let rules = Rules { claim_compares_cursor: false, unique_key: false, ..Rules::ALL };
    misses(&Scenario { takes: 3, crashes: 0, unknown_commits: 0, ..FAULTS }, rules, "I1: an instant is recorded twice");
}

#[test]
fn the_run_must_be_written_with_the_cursor() {
    let rules = Rules { record_with_cursor: false, ..Rules::ALL };
    misses(&FAULTS, rules, "I1: an instant below the cursor is not recorded");
}

#[test]
fn the_address_must_be_written_with_the_mark() {
    misses(&JOURNALS, Rules { address_with_mark: false, ..Rules::ALL }, "I2: a run was executed twice");
}

#[test]
fn only_executors_with_a_journal_may_be_sent_a_run_again() {
    let rules = Rules { resend_to_journals_only: false, ..Rules::ALL };
    misses(&Scenario { journals: false, ..JOURNALS }, rules, "I2: a run was executed twice");
}

#[test]
fn each_mark_must_be_told_from_the_others() {
    misses(&TAKEOVERS, Rules { token_for_each_mark: false, ..Rules::ALL }, "I2");
}

#[test]
fn a_run_that_is_sent_again_must_be_marked_again() {
    misses(&JOURNALS, Rules { resend_renews_mark: false, ..Rules::ALL }, "I4");
}

#[test]
fn an_edit_must_plan_the_past() {
    let rules = Rules { edit_plans_the_past: false, ..Rules::ALL };
    misses(&EDITS, rules, "I1: an instant below the cursor is not recorded");
}

#[test]
fn a_disabled_job_must_not_be_marked() {
    misses(&DISABLES, Rules { mark_checks_state: false, ..Rules::ALL }, "I8");
}

#[test]
fn an_edit_must_start_after_all_that_is_recorded() {
    let rules = Rules { edit_starts_after_the_recorded: false, ..Rules::ALL };
    misses(&EDITS, rules, "I1: an instant that is recorded will come again");
}

#[test]
fn an_edit_must_take_away_what_is_ahead() {
    let rules = Rules { edit_deletes_what_is_ahead: false, edit_starts_after_the_recorded: false, ..Rules::ALL };
    misses(&EDITS, rules, "I1: an instant that is recorded will come again");
}

#[test]
fn other_shards_must_get_the_greatest_epoch() {
    misses(&RESHARDS, Rules { reshard_raises_epochs: false, ..Rules::ALL }, "liveness");
}

#[test]
fn runs_must_move_with_their_job() {
    misses(&RESHARDS, Rules { reshard_moves_runs: false, ..Rules::ALL }, "liveness");
}

#[test]
fn rows_with_epoch_0_must_be_adopted_by_a_scan() {
    misses(&RETRIES, Rules { scan_adopts: false, ..Rules::ALL }, "liveness");
}

#[test]
fn a_node_that_stops_must_finish_what_it_has_marked() {
    misses(&STOPS, Rules { stop_finishes_sends: false, ..Rules::ALL }, "I7");
}

#[test]
fn what_was_not_written_goes_back_only_under_the_own_mark() {
    misses(&JOURNALS, Rules { give_back_compares_mark: false, ..Rules::ALL }, "I");
}

/// Worth knowing: the epoch is not what makes sends unique. It stops a stale holder at once and tells the next one what
/// it inherits.
#[test]
fn one_epoch_check_is_enough_to_be_safe() {
    holds(&Scenario { rules: Rules { mark_checks_epoch: false, ..Rules::ALL }, ..TAKEOVERS });
    holds(&Scenario { rules: Rules { claim_checks_epoch: false, ..Rules::ALL }, ..TAKEOVERS });
}

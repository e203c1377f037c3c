//! What follows from the end of a run: a run of a child, and the next link of the chain of a fixed delay.

use super::{Next, Step};
use crate::rules::Scenario;
use crate::state::{ATTEMPTS, RUNS, RunState, State, bit};

impl Next<'_> {
    /// Any node may do it, also one that has not written the end.
    pub fn advance(&mut self, node: usize) {
        let scenario = self.scenario;
        for run in 0..RUNS {
            let is_known = self.from.nodes[node].ends & bit(run) != 0;
            if self.from.noted & bit(run) != 0 && !is_known {
                self.add(Step::LookAtEnd { node, run }, |state| state.nodes[node].ends |= bit(run));
            }
            if !is_known {
                continue;
            }
            self.add(Step::Advance { node, run }, |state| {
                state.nodes[node].ends &= !bit(run);
                advance(scenario, state, run);
            });
            if self.from.budget.unknown_commits > 0 {
                // It does it again.
                self.add(Step::AdvanceUnknown { node, run }, |state| {
                    state.budget.unknown_commits -= 1;
                    advance(scenario, state, run);
                });
            }
        }
    }
}

/// In the transaction of the end. `was_on_its_way`: it is no late evidence.
pub fn note_end(scenario: &Scenario, state: &mut State, node: usize, run: usize, was_on_its_way: bool) {
    if !scenario.follows {
        return;
    }
    if scenario.rules.end_notes_what_follows {
        state.noted |= bit(run);
    }
    if was_on_its_way {
        state.noted_links |= bit(run);
    }
    state.nodes[node].ends |= bit(run);
}

/// One transaction.
fn advance(scenario: &Scenario, state: &mut State, run: usize) {
    let rules = scenario.rules;
    if rules.advance_takes_the_note && rules.end_notes_what_follows && state.noted & bit(run) == 0 {
        return;
    }
    state.noted &= !bit(run);
    let fire = run / ATTEMPTS;
    let attempts = &state.runs[fire * ATTEMPTS..(fire + 1) * ATTEMPTS];
    let has_succeeded = attempts.iter().any(|run| run.state == RunState::Succeeded);
    if has_succeeded && (state.children[fire] == 0 || !rules.one_child_for_a_fire) {
        state.children[fire] += 1;
    }
    if state.noted_links & bit(run) != 0 {
        state.links[fire] += 1;
        if rules.advance_takes_the_note {
            state.noted_links &= !bit(run);
        }
    }
}

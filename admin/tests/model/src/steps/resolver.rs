//! What becomes of runs that were sent and not answered.

use super::send::write;
use super::{Next, Step};
use crate::state::{ATTEMPTS, EXECUTORS, RUNS, Run, RunState, instant_of};

impl Next<'_> {
    /// By the holder of the shard, after any time; it is long enough that the instant has come.
    pub fn resolver(&mut self, node: usize) {
        for run in 0..RUNS {
            let row = self.from.runs[run];
            let has_come = instant_of(run) <= self.from.now;
            let holds = self.from.nodes[node].epochs[usize::from(row.shard)].is_some();
            if !has_come || !holds || self.from.nodes[node].stopping {
                continue;
            }
            if row.state == RunState::Running {
                self.dropped(node, run, &row);
            }
            if row.state != RunState::Sending {
                continue;
            }
            self.send_again(node, run, &row);
            self.witness(node, run, &row);
            self.unresolved(node, run);
        }
    }

    fn send_again(&mut self, node: usize, run: usize, row: &Run) {
        let may = self.scenario.journals || !self.scenario.rules.resend_to_journals_only;
        if !may || self.from.budget.resends == 0 {
            return;
        }
        let renews = self.scenario.rules.resend_renews_mark;
        let noted = row.address.map(usize::from);
        for to in (0..EXECUTORS).filter(|to| noted.is_none_or(|noted| noted == *to)) {
            self.add(Step::SendAgain { node, run, to }, |state| {
                state.budget.resends -= 1;
                state.runs[run].sends += 1;
                if renews {
                    state.marks += 1;
                    state.runs[run].token = state.marks;
                }
                write(state, node, run, to);
            });
        }
    }

    /// Something is in its log.
    fn witness(&mut self, node: usize, run: usize, row: &Run) {
        let has_begun = |of: usize| self.from.executors[of].executions[run] > 0;
        if row.address.is_some_and(|of| has_begun(usize::from(of))) {
            self.add(Step::Witness { node, run }, |state| {
                state.runs[run].state = RunState::Running;
            });
        }
    }

    /// Its executor is asked about a run that it has accepted long ago, and is idle.
    fn dropped(&mut self, node: usize, run: usize, row: &Run) {
        let has_ended = |of: usize| self.from.executors[of].executions[run] > 0;
        if row.address.is_some_and(|of| has_ended(usize::from(of))) {
            self.become_unknown(Step::Dropped { node, run }, run);
        }
    }

    fn unresolved(&mut self, node: usize, run: usize) {
        self.become_unknown(Step::Unresolved { node, run }, run);
    }

    fn become_unknown(&mut self, step: Step, run: usize) {
        let (retries, shard) = (self.scenario.retries, self.from.job.shard);
        self.add(step, |state| {
            state.runs[run].state = RunState::Unknown;
            let is_first = run.is_multiple_of(ATTEMPTS);
            if retries > 0 && is_first && state.runs[run + 1].state == RunState::None {
                // Any node may write the retry: the holder's next scan adopts it.
                state.runs[run + 1] = Run { state: RunState::Claimed, shard, ..Run::default() };
            }
        });
    }
}

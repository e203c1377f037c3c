//! Taking a shard, adopting, planning and claiming.

use super::{Next, Step};
use crate::state::{Job, RUNS, Run, RunState, SHARDS, State, bit, first_run};

impl Next<'_> {
    pub fn holder(&mut self, node: usize) {
        if self.from.nodes[node].stopping {
            return;
        }
        for shard in 0..SHARDS {
            self.take(node, shard);
            self.adopt(node, shard);
            self.renew(node, shard);
        }
        self.plan(node);
        self.claim(node);
    }

    /// At any time: the lock may lie, and clocks may be wrong.
    fn take(&mut self, node: usize, shard: usize) {
        let is_of_use = shard == usize::from(self.from.job.shard);
        if self.from.budget.takes == 0 || !is_of_use {
            return;
        }
        self.add(Step::Take { node, shard }, |state| {
            state.budget.takes -= 1;
            state.leases[shard].epoch += 1;
            state.leases[shard].owner = Some(node as u8);
            state.nodes[node].epochs[shard] = Some(state.leases[shard].epoch);
            adopt(state, node, shard);
        });
    }

    fn adopt(&mut self, node: usize, shard: usize) {
        if self.scenario.rules.scan_adopts && self.from.nodes[node].epochs[shard].is_some() {
            self.add(Step::Adopt { node, shard }, |state| adopt(state, node, shard));
        }
    }

    /// Another holder's epoch, or a shard that is no more: this node steps down.
    fn renew(&mut self, node: usize, shard: usize) {
        let believed = self.from.nodes[node].epochs[shard];
        let is_gone = shard != usize::from(self.from.job.shard);
        if believed.is_some_and(|epoch| is_gone || epoch != self.from.leases[shard].epoch) {
            self.add(Step::Fenced { node, shard }, |state| step_down(state, node, shard));
        }
    }

    /// Computed outside of any transaction; much may happen before it is written.
    fn plan(&mut self, node: usize) {
        let job = self.from.job;
        let holds = self.from.nodes[node].epochs[usize::from(job.shard)].is_some();
        let is_near = job.cursor <= self.scenario.instants.min(self.from.now + 1);
        if holds && job.enabled && is_near && self.from.nodes[node].plan.is_none() {
            self.add(Step::Plan { node }, |state| {
                state.nodes[node].plan = Some(job);
            });
        }
    }

    fn claim(&mut self, node: usize) {
        let Some(plan) = self.from.nodes[node].plan else {
            return;
        };
        let rules = self.scenario.rules;
        self.add(Step::Claim { node }, |state| {
            state.nodes[node].plan = None;
            if claim(state, rules, node, plan) {
                state.nodes[node].ring |= bit(first_run(plan.cursor));
            }
        });
        if self.from.budget.unknown_commits > 0 {
            self.add(Step::ClaimUnknown { node }, |state| {
                state.budget.unknown_commits -= 1;
                state.nodes[node].plan = None;
                claim(state, rules, node, plan);
            });
        }
    }
}

/// Rows of a lower epoch get the node's; what is claimed under it is in the ring.
fn adopt(state: &mut State, node: usize, shard: usize) {
    let Some(epoch) = state.nodes[node].epochs[shard] else {
        return;
    };
    for run in 0..RUNS {
        let row = &mut state.runs[run];
        if row.state != RunState::Claimed || usize::from(row.shard) != shard {
            continue;
        }
        if row.epoch < epoch {
            row.epoch = epoch;
        }
        if row.epoch == epoch {
            state.nodes[node].ring |= bit(run);
        }
    }
}

/// The first committed write: the cursor and the run in one transaction. False: it was refused.
fn claim(state: &mut State, rules: crate::Rules, node: usize, plan: Job) -> bool {
    let shard = usize::from(plan.shard);
    let Some(epoch) = state.nodes[node].epochs[shard] else {
        return false;
    };
    if rules.claim_checks_epoch && state.leases[shard].epoch != epoch {
        step_down(state, node, shard);
        return false;
    }
    if rules.claim_compares_cursor && state.job != plan {
        return false;
    }
    let run = first_run(plan.cursor);
    if state.runs[run].state != RunState::None {
        // The database refuses a second row for the key, and with it the whole transaction.
        state.twice |= !rules.unique_key;
        return false;
    }
    if rules.record_with_cursor {
        state.runs[run] = Run { state: RunState::Claimed, shard: plan.shard, epoch, ..Run::default() };
    }
    state.job.cursor = plan.cursor + 1;
    true
}

/// Stops claiming and marking for a shard.
pub fn step_down(state: &mut State, node: usize, shard: usize) {
    state.nodes[node].epochs[shard] = None;
    state.nodes[node].ring = 0;
}

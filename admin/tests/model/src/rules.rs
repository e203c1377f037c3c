//! What the protocol demands, and how much may go wrong in one trace.

/// Each rule can be taken away, to see that the checker misses it.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// A mark wins only runs in `claimed`.
    pub mark_checks_state: bool,
    /// A mark wins only runs of the node's own epoch.
    pub mark_checks_epoch: bool,
    /// The mark is committed before the request is written.
    pub mark_before_send: bool,
    /// Each mark has a token of its own, so that a node can tell its marks apart.
    pub token_for_each_mark: bool,
    /// A run that is sent again has another mark from then on.
    pub resend_renews_mark: bool,
    /// A claim is refused when the shard has another epoch.
    pub claim_checks_epoch: bool,
    /// A claim is refused when the cursor is not the one it was planned from.
    pub claim_compares_cursor: bool,
    /// One run for each instant and attempt.
    pub unique_key: bool,
    /// The run is written with the cursor, not when it is sent.
    pub record_with_cursor: bool,
    /// A callback is answered after its result is committed.
    pub answer_after_commit: bool,
    /// The address is written with the mark, so that the node that inherits the run asks the right executor.
    pub address_with_mark: bool,
    /// Only executors that keep a journal are sent a run again.
    pub resend_to_journals_only: bool,
    /// An edit first records what is overdue.
    pub edit_plans_the_past: bool,
    /// An edit starts after every instant that is recorded already.
    pub edit_starts_after_the_recorded: bool,
    /// An edit takes away what is claimed ahead.
    pub edit_deletes_what_is_ahead: bool,
    /// Another number of shards gives all of them the greatest epoch of all + 1.
    pub reshard_raises_epochs: bool,
    /// Another number of shards moves the runs with their job.
    pub reshard_moves_runs: bool,
    /// Each scan adopts the rows of a lower epoch, those with epoch 0 too.
    pub scan_adopts: bool,
    /// A node that stops finishes what it has marked.
    pub stop_finishes_sends: bool,
    /// A request that was not written gives its run back only under its own mark.
    pub give_back_compares_mark: bool,
    /// The end of a run that others follow is noted in the transaction that writes it.
    pub end_notes_what_follows: bool,
    /// What follows is done only where the note is still there, which the same transaction deletes.
    pub advance_takes_the_note: bool,
    /// One run of a child for each fire of its parent.
    pub one_child_for_a_fire: bool,
}

impl Rules {
    pub const ALL: Self = Self {
        mark_checks_state: true,
        mark_checks_epoch: true,
        mark_before_send: true,
        token_for_each_mark: true,
        resend_renews_mark: true,
        claim_checks_epoch: true,
        claim_compares_cursor: true,
        unique_key: true,
        record_with_cursor: true,
        answer_after_commit: true,
        address_with_mark: true,
        resend_to_journals_only: true,
        edit_plans_the_past: true,
        edit_starts_after_the_recorded: true,
        edit_deletes_what_is_ahead: true,
        reshard_raises_epochs: true,
        reshard_moves_runs: true,
        scan_adopts: true,
        stop_finishes_sends: true,
        give_back_compares_mark: true,
        end_notes_what_follows: true,
        advance_takes_the_note: true,
        one_child_for_a_fire: true,
    };
}

/// How long a trace is, and how often each thing may happen in it.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    pub name: &'static str,
    pub rules: Rules,
    /// Instants 1 ..= `instants`, at most [`crate::state::INSTANTS`].
    pub instants: u8,
    /// Further attempts after an unknown outcome, 0 or 1.
    pub retries: u8,
    /// Whether the executors keep a journal.
    pub journals: bool,
    /// Times that a node takes the shard, lawfully or not.
    pub takes: u8,
    pub crashes: u8,
    /// Commits of which the node does not learn.
    pub unknown_commits: u8,
    /// Requests that are certainly not written.
    pub not_written: u8,
    pub resends: u8,
    pub edits: u8,
    pub disables: u8,
    pub reshards: u8,
    pub stops: u8,
    /// Whether a child and the next link of a chain follow from each fire.
    pub follows: bool,
}

impl Scenario {
    /// One instant after the other, and nothing goes wrong.
    pub const QUIET: Self = Self {
        name: "quiet",
        rules: Rules::ALL,
        instants: 2,
        retries: 0,
        journals: false,
        takes: 1,
        crashes: 0,
        unknown_commits: 0,
        not_written: 0,
        resends: 0,
        edits: 0,
        disables: 0,
        reshards: 0,
        stops: 0,
        follows: false,
    };
}

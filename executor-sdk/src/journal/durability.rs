//! What the journal survives.

/// What a run that was accepted, and a result that was reported, survive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// A crash of the machine: the journal is synced to the disk before an answer. Costs the disk's sync time, 0.1 to
    /// 5 ms.
    #[default]
    Machine,
    /// A crash or kill of the process only: the journal is written, not synced. After a loss of power, a run that was
    /// accepted just before it may be unknown, and runs again if the admin sends it again.
    Process,
}

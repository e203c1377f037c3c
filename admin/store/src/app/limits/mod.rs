//! Limits of how many runs are at work together, over all nodes. A slot is a row that names its run: it is there while the run is `sending`
//! or `running`. It is inserted in the transaction of the mark, under the lock of its limit, and deleted in the one that ends the run or
//! takes the mark back; so it can neither be given twice nor be forgotten, and the number in its key keeps the limit.

pub mod audit;
pub(crate) mod free;
pub mod line;
pub mod named;
pub mod rules;
pub mod take;

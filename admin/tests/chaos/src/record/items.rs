//! Rows of the tables of items, as the dump has them.

use serde::{Deserialize, Serialize};

/// A run that has handed in items.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MapRow {
    pub run_id: i64,
    pub items: i64,
    pub reduces: bool,
    /// Items below this number have a delivery.
    pub released: i64,
    /// Deliveries that have not ended.
    pub in_flight: i64,
    /// Failed items of those that have.
    pub failed: i64,
    pub reduce_run_id: Option<i64>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DeliveryRow {
    pub run_id: i64,
    pub delivery: i64,
    pub first_item: i64,
    pub items: i64,
    pub ended: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ItemRow {
    pub run_id: i64,
    pub item: i64,
    pub state: ItemState,
}

/// Spelled as in the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemState {
    Waiting,
    Succeeded,
    /// Failed, and delivered again if its delivery is tried again.
    Retrying,
    Failed,
    /// A number that the suite does not know.
    Other,
}

impl ItemState {
    pub fn of(number: i64) -> Self {
        match number {
            0 => Self::Waiting,
            1 => Self::Succeeded,
            2 => Self::Retrying,
            3 => Self::Failed,
            _ => Self::Other,
        }
    }
}

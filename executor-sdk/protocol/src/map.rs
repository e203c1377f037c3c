//! Items of a run: Carillon's own addition. A run hands its items to the admin, which delivers them in further runs of the same job.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::members;

/// Items of one page at most.
pub const MAX_PAGE_ITEMS: usize = 1_000;
/// Bytes of the body of a page, or of a report of results, at most.
pub const MAX_PAGE_BYTES: usize = 1 << 20;
/// Items of one run at most.
pub const MAX_MAP_ITEMS: usize = 100_000;
/// Bytes of one item at most, as a text in JSON.
pub const MAX_ITEM_BYTES: usize = 16 << 10;
/// Bytes of the result of one item at most. Longer ones are cut.
pub const MAX_ITEM_RESULT_BYTES: usize = 4 << 10;

/// Body of `POST /api/map`: items of a run, from the executor that has the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapPage {
    /// The run.
    #[serde(rename = "logId")]
    pub log_id: i64,
    /// 0, 1, 2 …: a page that is sent again changes nothing.
    pub page: i32,
    /// 1 to [`MAX_PAGE_ITEMS`]; a value that is not a string is kept as its JSON.
    #[serde(deserialize_with = "texts")]
    pub items: Vec<String>,
    /// Items of one delivery at most, 1 to 1,000; the first page decides. None: the admin chooses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk: Option<i32>,
    /// Whether a last run reads the results when all items have their outcome; the first page decides.
    #[serde(default)]
    pub reduce: bool,
}

/// Body of `POST /api/map/results`: outcomes of items of a delivery, from the executor that has the delivery.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemResults {
    /// The delivery's run.
    #[serde(rename = "logId")]
    pub log_id: i64,
    /// 1 to [`MAX_PAGE_ITEMS`].
    pub results: Vec<ItemResult>,
}

/// The outcome of one item.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemResult {
    /// Its number, from 0.
    pub item: i32,
    /// 200 success, anything else failure.
    pub code: i32,
    /// Result, or why it failed.
    #[serde(default)]
    pub msg: Option<String>,
}

/// Body of `POST /api/map/items`: the items behind one of them, from the executor that has the reduce run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemQuery {
    /// The reduce run.
    #[serde(rename = "logId")]
    pub log_id: i64,
    /// Items with greater numbers are asked for; -1: from the first.
    pub after: i32,
}

/// One item with its outcome. The payload of an answer to [`ItemQuery`] is the JSON text of a list of these, in the order of their
/// numbers; an empty list is the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MappedItem {
    /// Its number, from 0.
    pub item: i32,
    /// 200 success, anything else failure.
    pub code: i32,
    /// Result, or why it failed.
    #[serde(default)]
    pub msg: Option<String>,
    /// The item.
    pub params: String,
}

/// The parameters of a run with the phase [`PHASE_ITEMS`](crate::headers::PHASE_ITEMS), as JSON: items without a success so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// The run that has handed in the items.
    pub map: i64,
    /// The number of the delivery, from 1.
    pub delivery: i32,
    /// What is to be done.
    pub items: Vec<DeliveredItem>,
}

/// One item of a delivery.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveredItem {
    /// Its number, from 0.
    pub item: i32,
    /// The item.
    pub params: String,
}

/// The parameters of a run with the phase [`PHASE_REDUCE`](crate::headers::PHASE_REDUCE), as JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reduction {
    /// The run that has handed in the items.
    pub map: i64,
    /// How many items there are.
    pub items: i32,
    /// How many of them have failed.
    pub failed: i32,
}

/// Parses the body of a request about items.
///
/// # Errors
/// A message for the client: no JSON, or JSON of another form.
pub fn parse_items<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    members::parse(body)
}

fn texts<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let values: Vec<Box<RawValue>> = Vec::deserialize(from)?;
    let text = |value: Box<RawValue>| serde_json::from_str(value.get()).unwrap_or_else(|_| value.get().to_owned());
    Ok(values.into_iter().map(text).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_texts_or_the_json_of_other_values() {
        let page: MapPage = parse_items(br#"{"logId":7,"page":0,"items":["a b",17,{"id": 1}]}"#).unwrap();
        assert_eq!(page.items, ["a b", "17", "{\"id\": 1}"]);
        assert_eq!((page.log_id, page.page, page.chunk, page.reduce), (7, 0, None, false));
        assert_eq!(parse_items::<MapPage>(&serde_json::to_vec(&page).unwrap()).unwrap(), page);
        assert!(parse_items::<MapPage>(br#"{"page":0,"items":[]}"#).unwrap_err().contains("logId"));
    }
}

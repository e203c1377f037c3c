//! `/runs/{id}/map` and `/runs/{id}/items`: items that a run has handed in.

use actix_web::web::Json;
use carillon_store::Page;
use carillon_store::map::view::ItemWithOutcome;
use carillon_store::map::view::{ItemQuery, MapView};

use crate::web::api::answer::{Answer, Error};
use crate::web::api::extract::{Id, Query};
use crate::web::api::view::{List, view, words};
use crate::web::state::Shared;

view! {
    /// How far the items are that a run has handed in
    pub struct MapProgressView as MapProgress from map: MapView {
        /// How many items there are
        #[schema(minimum = 0)]
        items: i64,
        /// Items without an outcome
        #[schema(minimum = 0)]
        waiting: i64 = map.waiting(),
        #[schema(minimum = 0)]
        succeeded: i64,
        /// Items that have failed, and whose delivery is tried again or goes on
        #[schema(minimum = 0)]
        retrying: i64,
        /// Items that have failed for good
        #[schema(minimum = 0)]
        failed: i64,
        /// Items of a delivery at most; null: it is chosen when the first delivery begins
        #[schema(minimum = 1)]
        chunk: Option<i32>,
        /// Deliveries that have begun
        #[schema(minimum = 0)]
        deliveries: i64,
        /// Deliveries that have not ended
        #[schema(minimum = 0)]
        open_deliveries: i64 = map.in_flight,
        /// A last run reads the results of all items
        reduce: bool = map.reduces,
        /// That run; null: it has not begun
        #[schema(minimum = 1)]
        reduce_run_id: Option<i64>,
    }
}

view! {
    /// An item that a run has handed in
    pub struct ItemView as RunItem from item: ItemWithOutcome {
        /// Its number, from 0, in the order in which it was handed in
        #[schema(minimum = 0)]
        item: i32,
        #[schema(value_type = words::ItemState)]
        state: String = item.state.as_str().to_owned(),
        /// The item itself
        params: String,
        /// Its result, or why it has failed
        message: Option<String>,
    }
}

pub async fn map(state: Shared, id: Id) -> Answer<MapProgressView> {
    let view = state.store.maps().view(id.0).await?;
    let view = view.ok_or_else(|| Error::not_found(format!("run {} has handed in no items", id.0)))?;
    Ok(Json(view.into()))
}

pub async fn items(state: Shared, id: Id, query: Query) -> Answer<List<ItemView, i64>> {
    let after = query.parsed("after", "give back `next` of the page before", |text| text.parse().ok())?;
    let limit = query.limit()? as usize;
    let wanted = ItemQuery { after: after.unwrap_or(-1), state: query.word("state")?, limit: limit + 1 };
    let mut found = state.store.maps().items(id.0, wanted).await?;
    let next = found.get(limit).map(|_| i64::from(found[limit - 1].item));
    found.truncate(limit);
    Ok(Json(List::from_page(Page { items: found, next }, ItemView::from, |item| item)))
}

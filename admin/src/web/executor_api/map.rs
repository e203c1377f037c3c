//! `map`: items that runs hand in, outcomes of items, and their reading. Each is answered when it is committed.

use std::future::Future;

use actix_web::{HttpRequest, HttpResponse};
use carillon_protocol::{
    Answer, FAILURE, ItemQuery, ItemResults, MAX_ITEM_BYTES, MAX_ITEM_RESULT_BYTES, MAX_MAP_ITEMS, MAX_PAGE_ITEMS,
    MapPage, MappedItem, SUCCESS, parse_items,
};
use carillon_scheduler::run::map::{ItemState, MAX_ITEMS};
use carillon_store as store;
use carillon_store::db::sql::text::cut;
use carillon_store::map::pages::NewPage;
use carillon_store::map::results::ItemOutcome;
use carillon_store::map::view::ItemWithOutcome;
use carillon_store::run::settle::finding::Reporter;
use serde::de::DeserializeOwned;

use super::answer::{answered, refused};
use super::authenticated_body::AuthenticatedBody;
use super::callback::{STORE_WITHIN, reporter};
use crate::web::guard::connection;
use crate::web::state::Shared;

const _: () = assert!(MAX_MAP_ITEMS == MAX_ITEMS);

/// `POST /api/map`
pub async fn add_page(request: HttpRequest, body: AuthenticatedBody, state: Shared) -> HttpResponse {
    stored(&request, &body, &state, check_page, async |page: MapPage, reporter| {
        let MapPage { log_id, page, items, chunk, reduce } = page;
        let page = NewPage { run_id: log_id, page, items, chunk, reduces: reduce };
        state.store.maps().add_page(&page, &reporter).await?;
        Ok(Answer::ok())
    })
    .await
}

/// `POST /api/map/results`
pub async fn add_results(request: HttpRequest, body: AuthenticatedBody, state: Shared) -> HttpResponse {
    stored(&request, &body, &state, check_results, async |mut results: ItemResults, reporter| {
        // Before they are cut: a secret of which a part is left would not be found.
        let texts = results.results.iter_mut().filter_map(|result| result.msg.as_mut());
        state.engine.hide_secrets(results.log_id, texts).await?;
        let outcome = |result: carillon_protocol::ItemResult| ItemOutcome {
            item: result.item,
            succeeded: result.code == SUCCESS,
            message: result.msg.as_deref().map(|text| cut(text, MAX_ITEM_RESULT_BYTES)),
        };
        let outcomes: Vec<ItemOutcome> = results.results.into_iter().map(outcome).collect();
        state.store.maps().add_outcomes(results.log_id, &outcomes, &reporter).await?;
        Ok(Answer::ok())
    })
    .await
}

/// `POST /api/map/items`
pub async fn items(request: HttpRequest, body: AuthenticatedBody, state: Shared) -> HttpResponse {
    stored(
        &request,
        &body,
        &state,
        |_| vec![],
        async |query: ItemQuery, reporter| {
            let items = state.store.maps().items_for(query.log_id, query.after, &reporter).await?;
            let items: Vec<MappedItem> = items.into_iter().map(mapped).collect();
            Ok(Answer::ok_with(serde_json::to_string(&items).unwrap_or_default()))
        },
    )
    .await
}

/// What is wrong is refused with a reason. What cannot be stored now is not answered, as with results: the executor repeats it.
async fn stored<T: DeserializeOwned, F: Future<Output = store::Result<Answer>>>(
    request: &HttpRequest,
    body: &AuthenticatedBody,
    state: &Shared,
    faults: impl Fn(&T) -> Vec<String>,
    store: impl FnOnce(T, Reporter) -> F,
) -> HttpResponse {
    let parsed = match parse_items::<T>(&body.bytes) {
        Ok(parsed) => parsed,
        Err(message) => return refused(message),
    };
    let faults = faults(&parsed);
    if !faults.is_empty() {
        return refused(faults.join("; "));
    }
    let reporter = match reporter(request, &body.credential, state).await {
        Ok(reporter) => reporter,
        Err(refusal) => return refusal,
    };
    match actix_web::rt::time::timeout(STORE_WITHIN, store(parsed, reporter)).await {
        Ok(Ok(answer)) => answered(&answer),
        Ok(Err(error @ store::Error::Refused(_))) => refused(error.to_string()),
        Ok(Err(error)) => {
            tracing::warn!(%error, "what an executor has sent about items could not be stored; it repeats it");
            unanswered(request)
        }
        Err(_) => unanswered(request),
    }
}

fn unanswered(request: &HttpRequest) -> HttpResponse {
    connection::cut(request);
    HttpResponse::ServiceUnavailable().finish()
}

fn check_page(page: &MapPage) -> Vec<String> {
    let mut faults = vec![];
    if page.page < 0 {
        faults.push(format!("page: is {}; pages are numbered from 0", page.page));
    }
    if page.items.len() > MAX_PAGE_ITEMS {
        faults.push(format!("items: are {}; a page has at most {MAX_PAGE_ITEMS}", page.items.len()));
    }
    let in_json = |text: &String| serde_json::to_string(text).map_or(usize::MAX, |json| json.len());
    if let Some(place) = page.items.iter().position(|item| in_json(item) > MAX_ITEM_BYTES) {
        faults.push(format!("items: number {place} of this page has more than {MAX_ITEM_BYTES} bytes in JSON"));
    }
    if page.chunk.is_some_and(|chunk| !(1..=1_000).contains(&chunk)) {
        faults.push("chunk: must be between 1 and 1000, or absent".to_owned());
    }
    faults
}

fn check_results(results: &ItemResults) -> Vec<String> {
    match results.results.len() {
        0..=MAX_PAGE_ITEMS => vec![],
        count => vec![format!("results: are {count}; at most {MAX_PAGE_ITEMS}")],
    }
}

fn mapped(item: ItemWithOutcome) -> MappedItem {
    let code = if item.state == ItemState::Succeeded { SUCCESS } else { FAILURE };
    MappedItem { item: item.item, code, msg: item.message, params: item.params }
}

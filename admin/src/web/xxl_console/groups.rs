//! `/jobgroup`: apps, which xxl-job calls groups, with the addresses of their executors.

use carillon_store::App;
use carillon_store::app::executors::Executor;
use serde_json::{Value, json};

use super::answer::Reply;
use super::call::Call;
use super::paging::PageRange;
use crate::web::api::Error;
use crate::web::state::{Shared, State};

/// `/jobgroup/pageList`
pub async fn page_list(state: Shared, call: Call) -> Reply {
    let range = PageRange::of(&call)?;
    let mut apps = state.store.apps().list(&call.visible()).await?;
    let sent = &call.parameters;
    apps.retain(|app| sent.fits(&["appname"], &app.name) && sent.fits(&["title", "name"], &app.title));
    let mut rows = vec![];
    for app in range.cut(&apps) {
        rows.push(row(&state, &call, app).await?);
    }
    Ok(range.answer(&call, &rows, apps.len()))
}

/// `/jobgroup/loadById`
pub async fn load(state: Shared, call: Call) -> Reply {
    let app = call.app(&state, "id").await?;
    Ok(call.done(row(&state, &call, &app).await?))
}

async fn row(state: &State, call: &Call, app: &App) -> Result<Value, Error> {
    let executors = executors(state, app).await?;
    let addresses: Vec<&str> = executors.iter().map(|executor| executor.address.as_str()).collect();
    let is_manual = executors.iter().any(|executor| executor.manual_since.is_some());
    Ok(json!({
        "id": app.id,
        "appname": app.name,
        "title": app.title,
        "name": app.title,
        "addressType": i32::from(is_manual),
        "addressList": (!addresses.is_empty()).then(|| addresses.join(",")),
        "registryList": addresses,
        "updateTime": call.date(app.created_at, state.config.report_zone),
    }))
}

/// Those that are there, by address.
async fn executors(state: &State, app: &App) -> Result<Vec<Executor>, Error> {
    let now = state.clock.now();
    let mut executors = state.store.apps().executors_of(&app.name).await?;
    executors.retain(|executor| executor.is_live(now));
    Ok(executors)
}

/// `/jobgroup/save`, `/jobgroup/insert`
pub async fn add(state: Shared, call: Call) -> Reply {
    let sent = &call.parameters;
    let name = sent.text(&["appname"]).unwrap_or_default();
    let addresses = addresses(&call)?;
    let app = state.engine.apps().create(name, sent.text(&["title", "name"]), &call.by).await?;
    if let Some(addresses) = addresses {
        set_addresses(&state, &call, &app, &addresses).await?;
    }
    Ok(call.done(Value::Null))
}

/// `/jobgroup/update`
pub async fn update(state: Shared, call: Call) -> Reply {
    let sent = &call.parameters;
    let (id, addresses) = (sent.id("id")?, addresses(&call)?);
    let app = state.engine.apps().update(id, sent.text(&["appname"]), sent.text(&["title", "name"]), &call.by).await?;
    if let Some(addresses) = addresses {
        set_addresses(&state, &call, &app, &addresses).await?;
    }
    Ok(call.done(Value::Null))
}

/// The addresses that are to be entered by hand: none for the type 0. None: nothing is said of them.
fn addresses(call: &Call) -> Result<Option<Vec<String>>, Error> {
    let list = call.parameters.text(&["addressList"]).unwrap_or_default();
    match call.parameters.number("addressType")? {
        None => Ok(None),
        Some(0) => Ok(Some(vec![])),
        Some(_) if list.is_empty() => Err(Error::field("addressList", "is missing; the type 1 needs addresses")),
        Some(_) => Ok(Some(list.split(',').map(|address| address.trim().to_owned()).collect())),
    }
}

/// Enters those that are new, and removes those that were entered and are not among them.
async fn set_addresses(state: &State, call: &Call, app: &App, wanted: &[String]) -> Result<(), Error> {
    let present = executors(state, app).await?;
    let entered = |executor: &&Executor| executor.manual_since.is_some();
    for executor in present.iter().filter(entered).filter(|executor| !wanted.contains(&executor.address)) {
        state.engine.executors().remove(app.id, &executor.address, &call.by).await?;
    }
    for address in wanted {
        if !present.iter().filter(entered).any(|executor| executor.address == *address) {
            state.engine.executors().enter(app.id, address, &call.by).await?;
        }
    }
    Ok(())
}

/// `/jobgroup/remove`, `/jobgroup/delete`
pub async fn remove(state: Shared, call: Call) -> Reply {
    state.engine.apps().delete(call.parameters.one_id()?, &call.by).await?;
    Ok(call.done(Value::Null))
}

//! `/apps`, and one of them.

use actix_web::web::Json;

use crate::web::api::answer::{Answer, Created, Error, NoContent};
use crate::web::api::extract::{Body, Caller, Id, Query, request};
use crate::web::api::view::{AppView, FormerNameView, List};
use crate::web::state::Shared;

pub async fn list(state: Shared, caller: Caller) -> Answer<List<AppView>> {
    let apps = state.store.apps().list(&caller.visible()).await?;
    Ok(Json(List::whole(apps.into_iter().map(AppView::from))))
}

request! {
    /// A new app
    pub struct AppRequest: "an app, such as {\"name\":\"billing\",\"title\":\"Billing\"}" {
        /// Letters, digits, `-`, `_`, `.`; the first is a letter or a digit
        #[schema(min_length = 4, max_length = 64)]
        name: String,
        /// For people; the name if left out
        #[schema(min_length = 0, max_length = 64)]
        title: Option<String>,
    }
}

pub async fn create(state: Shared, caller: Caller, body: Body<AppRequest>) -> Result<Created<AppView>, Error> {
    let AppRequest { name, title } = body.0;
    let app = state.engine.apps().create(&name, title.as_deref(), &caller.0).await?;
    Ok(Created::new(app))
}

request! {
    /// A change of an app. A member that is left out stays as it is
    pub struct AppUpdate: "what changes of an app, such as {\"name\":\"billing-eu\",\"title\":\"Billing EU\"}" {
        /// Executors may register under the old name until that is removed
        #[schema(min_length = 4, max_length = 64)]
        name: Option<String>,
        /// For people
        #[schema(min_length = 0, max_length = 64)]
        title: Option<String>,
        /// Its executors that announce nothing, as those in Java, run scripts of every type: runs of script jobs are sent to them
        runs_scripts: Option<bool>,
        /// The turns of its runs where runs of several apps wait for a limit: an app with 3 gets three times the slots of one with 1
        #[schema(minimum = 1, maximum = 100)]
        weight: Option<i32>,
    }
}

pub async fn update(state: Shared, id: Id, caller: Caller, body: Body<AppUpdate>) -> Answer<AppView> {
    let AppUpdate { name, title, runs_scripts, weight } = body.0;
    let mut app = state.engine.apps().update(id.0, name.as_deref(), title.as_deref(), &caller.0).await?;
    if let Some(runs_scripts) = runs_scripts {
        app = state.engine.apps().set_runs_scripts(id.0, runs_scripts, &caller.0).await?;
    }
    if let Some(weight) = weight {
        app = state.engine.apps().set_weight(id.0, weight, &caller.0).await?;
    }
    Ok(Json(AppView::from(app)))
}

request! {
    /// The apps whose jobs may start jobs of this app, as children of theirs
    #[derive(serde::Serialize)]
    pub struct AppStarters: "the apps whose jobs may start jobs of this one, such as {\"apps\":[\"billing\"]}" {
        /// Their names; jobs of the app itself always may
        #[schema(max_items = 1000)]
        apps: Vec<String>,
    }
}

pub async fn starters(state: Shared, id: Id) -> Answer<AppStarters> {
    Ok(Json(AppStarters { apps: state.engine.apps().starters(id.0).await? }))
}

pub async fn set_starters(state: Shared, id: Id, caller: Caller, body: Body<AppStarters>) -> Answer<AppStarters> {
    state.engine.apps().set_starters(id.0, &body.0.apps, &caller.0).await?;
    starters(state, id).await
}

pub async fn delete(state: Shared, id: Id, caller: Caller) -> Result<NoContent, Error> {
    state.engine.apps().delete(id.0, &caller.0).await?;
    Ok(NoContent)
}

pub async fn former_names(state: Shared, id: Id) -> Answer<List<FormerNameView>> {
    let names = state.engine.apps().former_names(id.0).await?;
    Ok(Json(List::whole(names.into_iter().map(FormerNameView::from))))
}

pub async fn remove_former_name(state: Shared, id: Id, caller: Caller, query: Query) -> Result<NoContent, Error> {
    let name = query.text("name")?;
    let name = name.ok_or_else(|| Error::field("name", "is missing; write the former name"))?;
    state.engine.apps().remove_name(id.0, &name, &caller.0).await?;
    Ok(NoContent)
}

//! Asks the policy before a handler runs. Where the actor may not see an object, the answer is the one for an object that does not
//! exist.

use actix_web::body::BoxBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::{Next, from_fn};
use actix_web::{HttpMessage as _, HttpResponse, web};
use carillon_accounts::policy::{self, Decision, Object};
use carillon_engine::manage::Error;
use carillon_store::Actor;

use crate::web::access::route::{Access, Route, Target};
use crate::web::state::State;

/// The route's handler behind its access. `refuse` makes an error an answer of the API or of the console.
pub fn guarded(route: Route, refuse: fn(Error) -> actix_web::Error) -> actix_web::Route {
    let access = route.access;
    if matches!(access, Access::Open | Access::Executor) {
        return route.handler;
    }
    route.handler.wrap(from_fn(move |request: ServiceRequest, next: Next<_>| async move {
        match admit(&request, access).await {
            Ok(()) => next.call(request).await.map(ServiceResponse::map_into_boxed_body),
            Err(error) => Ok(answered(request, HttpResponse::from_error(refuse(error)))),
        }
    }))
}

/// An error that was returned would pass the guards around this, which add headers and make it a page.
fn answered(request: ServiceRequest, answer: HttpResponse) -> ServiceResponse<BoxBody> {
    let (request, _) = request.into_parts();
    ServiceResponse::new(request, answer)
}

async fn admit(request: &ServiceRequest, access: Access) -> Result<(), Error> {
    // A guard lets no request without an actor pass; if one forgets it, there is nothing here.
    let nothing = || Error::Missing("page".to_owned());
    let actor = request.extensions().get::<Actor>().cloned().ok_or_else(nothing)?;
    let Access::Policy(action, target) = access else {
        return Ok(());
    };
    let (object, name) = match target {
        Target::AnyApp => (Object::AnyApp, String::new()),
        Target::Shared => (Object::Shared, String::new()),
        Target::Installation => (Object::Installation, String::new()),
        // Whichever app it is of: the handler finds out whether there is such an object.
        _ if actor.grants.role_for_all() >= Some(action.role()) => return Ok(()),
        _ => located(request, target).await?,
    };
    match policy::decide(&actor, action, object) {
        Decision::Allowed => Ok(()),
        Decision::Forbidden => Err(Error::Forbidden(policy::refusal(action, object))),
        Decision::Hidden => Err(Error::Missing(name)),
    }
}

/// The app of the stored object, and what an error calls the object.
async fn located(request: &ServiceRequest, target: Target) -> Result<(Object, String), Error> {
    let nothing = || Error::Missing("page".to_owned());
    let store = &request.app_data::<web::Data<State>>().ok_or_else(nothing)?.store;
    let word = match target {
        Target::Job => "job",
        Target::Run => "run",
        Target::Backfill => "backfill",
        _ => "app",
    };
    let id = request.match_info().query("id");
    let name = format!("{word} {id}");
    let Some(id) = id.parse().ok().filter(|id| *id > 0) else {
        return Err(Error::Missing(name));
    };
    let app_id = match target {
        Target::Job => store.app_of_job(id).await?,
        Target::Run => store.app_of_run(id).await?,
        Target::Backfill => store.app_of_backfill(id).await?,
        _ => store.app(id).await?.map(|app| app.id),
    };
    match app_id {
        Some(app_id) => Ok((Object::App(app_id), name)),
        None => Err(Error::Missing(name)),
    }
}

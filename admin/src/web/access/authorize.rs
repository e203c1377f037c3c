//! Asks the policy before a handler runs. Where the actor may not see an object, the answer is the one for an object that does not
//! exist.

use actix_web::body::BoxBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::middleware::{Next, from_fn};
use actix_web::{HttpMessage as _, HttpRequest, HttpResponse, web};
use carillon_accounts::policy::{self, Decision, Object};
use carillon_engine::manage::Error;
use carillon_scheduler::AuditObjectKind;
use carillon_store::{Actor, AuditObject};

use crate::web::access::denial::{self, Refused};
use crate::web::access::route::{Access, Route, Target};
use crate::web::state::State;

/// The route's handler behind its access. `refuse` makes an error an answer of the API or of the console.
pub fn guarded(route: Route, refuse: fn(Error) -> actix_web::Error) -> actix_web::Route {
    let access = route.access;
    if matches!(access, Access::Open | Access::Executor) {
        return route.handler;
    }
    route.handler.wrap(from_fn(move |request: ServiceRequest, next: Next<_>| async move {
        let answer = match admit(&request, access).await {
            Ok(()) => next.call(request).await?.map_into_boxed_body(),
            Err(error) => answered(request, HttpResponse::from_error(refuse(error))),
        };
        record_denials(answer.request(), answer.status()).await;
        Ok(answer)
    }))
}

/// The handler may have refused something too: it knows the app that a form names, and the objects of a list of ids. Where the
/// answer does not say so, the time that it takes must not say it either.
async fn record_denials(request: &HttpRequest, status: StatusCode) {
    let refused = request.extensions().get::<Refused>().copied();
    let denied = request.extensions().get::<Actor>().and_then(|actor| actor.denials.take());
    if status == StatusCode::FORBIDDEN {
        let denied = denied.map(|denied| Refused(denied.object));
        denial::record(request, refused.or(denied).unwrap_or_default()).await;
    } else if let Some(denied) = denied {
        denial::record_denied(request, denied);
    }
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
        _ => {
            let found = located(request, target).await?;
            request.extensions_mut().insert(Refused(found));
            let name = format!("{} {}", found.kind, found.id);
            (found.app_id.map_or(Object::Installation, Object::App), name)
        }
    };
    match policy::decide(&actor, action, object) {
        Decision::Allowed => Ok(()),
        Decision::Forbidden => Err(Error::Forbidden(policy::refusal(action, object))),
        Decision::Hidden => {
            let refused = request.extensions().get::<Refused>().copied().unwrap_or_default();
            denial::record_hidden(request.request(), refused);
            Err(Error::Missing(name))
        }
    }
}

/// The stored object, with its app.
async fn located(request: &ServiceRequest, target: Target) -> Result<AuditObject, Error> {
    let nothing = || Error::Missing("page".to_owned());
    let store = &request.app_data::<web::Data<State>>().ok_or_else(nothing)?.store;
    let kind = match target {
        Target::Job => AuditObjectKind::Job,
        Target::Run => AuditObjectKind::Run,
        Target::Backfill => AuditObjectKind::Backfill,
        Target::Alert => AuditObjectKind::Alert,
        Target::AlertRule => AuditObjectKind::AlertRule,
        _ => AuditObjectKind::App,
    };
    let id = request.match_info().query("id");
    let missing = || Error::Missing(format!("{kind} {id}"));
    let id = id.parse().ok().filter(|id| *id > 0).ok_or_else(missing)?;
    let app_id = match target {
        Target::Job => store.apps().app_of_job(id).await?,
        Target::Run => store.apps().app_of_run(id).await?,
        Target::Backfill => store.apps().app_of_backfill(id).await?,
        // Those of no app are for roles that count for all apps.
        Target::Alert => store.alerts().app_of(id).await?.flatten(),
        Target::AlertRule => store.alerts().app_of_rule(id).await?.flatten(),
        _ => store.apps().get(id).await?.map(|app| app.id),
    };
    Ok(AuditObject { app_id: Some(app_id.ok_or_else(missing)?), ..AuditObject::new(kind, id) })
}

//! Executors by app, and the apps themselves.

use std::collections::BTreeMap;

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use askama::Template;
use carillon_scheduler::validate_app_name;
use serde::Deserialize;

use super::form::Form;
use super::guard::Fields;
use super::job::actor;
use super::problem::Problem;
use super::view::{Badge, OFFLINE, ONLINE, UNREACHABLE};
use crate::store::executor::Executor;
use crate::store::{App, Error};
use crate::web::State;
use crate::web::executor_api::WrongToken;
use crate::web::html::{self, Frame, see_other_with};
use crate::web::session::Viewer;

const TITLE_MAX: usize = 64;

/// An address that has registered.
struct Seat {
    executor: Executor,
    app_id: Option<i64>,
    badge: Badge,
    is_live: bool,
    /// It registers, but this node's requests to it fail.
    is_unreachable: bool,
}

impl Seat {
    fn of(executor: Executor, state: &State, now: i64) -> Self {
        let is_live = executor.is_live(now);
        let is_unreachable = is_live && state.pipeline.is_unreachable(&executor.address, executor.seen_at);
        Self {
            badge: match (is_live, is_unreachable) {
                (true, true) => UNREACHABLE,
                (true, false) => ONLINE,
                (false, _) => OFFLINE,
            },
            is_live,
            is_unreachable,
            app_id: None,
            executor,
        }
    }

    fn labels(&self) -> String {
        self.executor.labels().to_string()
    }

    /// Where its weight and labels are set, once there is such an app.
    fn settings(&self) -> Option<String> {
        let app_id = self.app_id?;
        let address = url::form_urlencoded::byte_serialize(self.executor.address.as_bytes());
        let address: String = address.collect();
        Some(format!("/apps/{app_id}/executor?address={address}"))
    }

    /// Our SDK names its start; others cannot.
    fn kind(&self) -> &'static str {
        match self.executor.boot_id {
            Some(_) => "Carillon SDK",
            None => "xxl-job",
        }
    }
}

struct Group {
    app: App,
    seats: Vec<Seat>,
    online: usize,
}

struct Unknown {
    name: String,
    seats: Vec<Seat>,
}

#[derive(Template)]
#[template(path = "apps/list.html")]
struct Page {
    frame: Frame,
    groups: Vec<Group>,
    unknown: Vec<Unknown>,
    /// Refused by this node because of their access token.
    refused: Vec<WrongToken>,
}

/// `GET /apps`
pub async fn list(state: web::Data<State>, frame: Frame) -> Result<HttpResponse, Problem> {
    let mut seats: BTreeMap<String, Vec<Seat>> = BTreeMap::new();
    for executor in state.store.executors().await? {
        let of_app = seats.entry(executor.app.clone()).or_default();
        of_app.push(Seat::of(executor, &state, frame.now));
    }
    let apps = state.store.apps().await?.into_iter();
    let groups = apps
        .map(|app| {
            let mut seats = seats.remove(&app.name).unwrap_or_default();
            for seat in &mut seats {
                seat.app_id = Some(app.id);
            }
            let online = seats.iter().filter(|seat| seat.is_live && !seat.is_unreachable).count();
            Group { app, seats, online }
        })
        .collect();
    let unknown = seats.into_iter().map(|(name, seats)| Unknown { name, seats });
    let page = Page { groups, unknown: unknown.collect(), refused: state.wrong_tokens.recent(frame.now), frame };
    Ok(html::page(&page, StatusCode::OK))
}

#[derive(Template)]
#[template(path = "apps/new.html")]
struct NewPage {
    frame: Frame,
    form: Form,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Start {
    name: String,
}

/// `GET /apps/new`
pub async fn new(frame: Frame, start: web::Query<Start>) -> HttpResponse {
    let form = Form::default().with("name", &start.name);
    html::page(&NewPage { frame, form }, StatusCode::OK)
}

/// `POST /apps`
pub async fn create(
    state: web::Data<State>,
    request: HttpRequest,
    viewer: Viewer,
    frame: Frame,
    fields: Fields,
) -> Result<HttpResponse, Problem> {
    let mut form = Form::from(fields);
    let name = form.value("name").trim().to_owned();
    let title = Some(form.value("title").trim().to_owned()).filter(|title| !title.is_empty());
    let title = title.unwrap_or_else(|| name.clone());
    if let Err(message) = validate_app_name(&name) {
        form.refuse("name", message);
    }
    if title.chars().count() > TITLE_MAX || title.chars().any(char::is_control) {
        form.refuse("title", format!("must be one line of at most {TITLE_MAX} characters"));
    }
    if form.is("step", "preview") {
        return Ok(html::page(&NewPage { frame, form }, StatusCode::OK));
    }
    if form.is_fine() {
        let actor = actor(&viewer, &request);
        match state.store.create_app(&name, &title, frame.now, &actor).await {
            Ok(app) => {
                state.pipeline.executors_changed();
                return Ok(see_other_with("/apps", "ok", &format!("The app {} is created.", app.name)));
            }
            Err(Error::Taken(_)) => form.refuse("name", "There is an app of this name already."),
            Err(error) => return Err(error.into()),
        }
    }
    let page = NewPage { frame, form };
    Ok(html::page(&page, StatusCode::UNPROCESSABLE_ENTITY))
}

//! What an operator sets of one executor: weight and labels.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use askama::Template;
use carillon_scheduler::Labels;
use carillon_scheduler::route::check_weight;
use serde::Deserialize;

use super::form::Form;
use super::guard::Fields;
use super::job::actor;
use super::problem::Problem;
use crate::store::App;
use crate::store::executor::{Executor, Traits};
use crate::web::State;
use crate::web::html::{self, Frame, see_other_with};
use crate::web::session::Viewer;

#[derive(Template)]
#[template(path = "apps/executor.html")]
struct Page {
    frame: Frame,
    app: App,
    executor: Executor,
    form: Form,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Which {
    address: String,
}

async fn find(state: &State, id: i64, address: &str) -> Result<(App, Executor), Problem> {
    let app = state.store.app(id).await?.ok_or(Problem::Missing("app"))?;
    let mut executors = state.store.executors_of(&app.name).await?.into_iter();
    let executor = executors.find(|executor| executor.address == address);
    Ok((app, executor.ok_or(Problem::Missing("executor"))?))
}

/// `GET /apps/{id}/executor?address=`
pub async fn edit(
    state: web::Data<State>,
    frame: Frame,
    id: web::Path<i64>,
    which: web::Query<Which>,
) -> Result<HttpResponse, Problem> {
    let (app, executor) = find(&state, *id, &which.address).await?;
    let weight = executor.set.weight.map_or_else(String::new, |it| it.to_string());
    let form =
        Form::default().with("weight", weight).with("labels", executor.set.labels.as_deref().unwrap_or_default());
    let page = Page { frame, app, executor, form };
    Ok(html::page(&page, StatusCode::OK))
}

/// `POST /apps/{id}/executor`
pub async fn update(
    state: web::Data<State>,
    request: HttpRequest,
    viewer: Viewer,
    frame: Frame,
    id: web::Path<i64>,
    fields: Fields,
) -> Result<HttpResponse, Problem> {
    let mut form = Form::from(fields);
    let (app, executor) = find(&state, *id, form.value("address")).await?;
    let traits = Traits { weight: weight(&mut form), labels: labels(&mut form) };
    let is_shown_again = form.is("step", "preview");
    if is_shown_again || !form.is_fine() {
        let page = Page { frame, app, executor, form };
        let status = match is_shown_again {
            true => StatusCode::OK,
            false => StatusCode::UNPROCESSABLE_ENTITY,
        };
        return Ok(html::page(&page, status));
    }
    let (actor, address) = (actor(&viewer, &request), &executor.address);
    state.store.set_executor_traits(&app, address, &traits, frame.now, &actor).await?;
    state.pipeline.executors_changed();
    let text = format!("The settings of {address} are saved.");
    Ok(see_other_with("/apps", "ok", &text))
}

/// Empty: what the executor says.
fn weight(form: &mut Form) -> Option<i32> {
    if form.value("weight").trim().is_empty() {
        return None;
    }
    let number: i64 = form.number("weight", 1);
    match check_weight(number) {
        Ok(weight) => Some(weight.cast_signed()),
        Err(message) => {
            form.refuse("weight", message);
            None
        }
    }
}

fn labels(form: &mut Form) -> Option<String> {
    match form.value("labels").parse::<Labels>() {
        Ok(labels) => Some(labels.to_string()).filter(|text| !text.is_empty()),
        Err(error) => {
            form.refuse("labels", error.to_string());
            None
        }
    }
}

//! A new account. Its owner sets the password by a link.

use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use askama::Template;
use carillon_accounts::password::Error;
use carillon_accounts::people;
use carillon_store::{App, Role, VisibleApps};

use crate::web::access::Caller;
use crate::web::console::users::grant_lines::{GrantField, grant_fields, read};
use crate::web::console::users::link;
use crate::web::forms::Form;
use crate::web::page::{PageContext, PageResult, render};
use crate::web::state::Shared;

#[derive(Template)]
#[template(path = "users/new.html")]
struct Page {
    context: PageContext,
    form: Form,
    grants: Vec<GrantField>,
    roles: &'static [Role],
}

fn page(context: PageContext, form: Form, apps: &[App]) -> Page {
    Page { grants: grant_fields(context.language, &form, apps), context, roles: Role::ALL, form }
}

/// `GET /users/new`
pub async fn new(state: Shared, context: PageContext) -> PageResult {
    let apps = state.store.apps().list(&VisibleApps::All).await?;
    Ok(render(&page(context, Form::default(), &apps), StatusCode::OK))
}

/// `POST /users`
pub async fn create(
    state: Shared,
    request: HttpRequest,
    by: Caller,
    context: PageContext,
    mut form: Form,
) -> PageResult {
    let apps = state.store.apps().list(&VisibleApps::All).await?;
    let grants = read(&mut form, &apps);
    let name = form.value("name").to_owned();
    if form.is_valid() {
        match people::invite(&state.store, &name, &grants, state.clock.now(), &by.0).await {
            Ok((id, made)) => return Ok(link::show(&state, &request, context, (id, name, true), made)),
            Err(Error::Refused(text)) => form.add_error("name", text),
            Err(Error::Store(carillon_store::Error::Taken(_))) => form.add_error("name", "This name is taken already."),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(render(&page(context, form, &apps), StatusCode::UNPROCESSABLE_ENTITY))
}

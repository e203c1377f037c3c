//! The page on which the first administrator is set up.

use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use askama::Template;
use carillon_accounts::session::SignedIn;
use carillon_accounts::setup::{self, FIRST_ADMIN, SecretCheck};
use carillon_accounts::{password, people};
use carillon_store::Actor;
use carillon_store::people::sessions::SignInMethod;

use crate::web::console::account::login;
use crate::web::forms::Fields;
use crate::web::page::{PageContext, PageError, PageResult, done, render, show};
use crate::web::state::{Shared, State};

#[derive(Template)]
#[template(path = "account/setup.html")]
struct Page {
    context: PageContext,
    secret: String,
    name: String,
    secret_error: Option<&'static str>,
    name_error: Option<String>,
    password_error: Option<String>,
}

impl Page {
    fn is_valid(&self) -> bool {
        self.secret_error.is_none() && self.name_error.is_none() && self.password_error.is_none()
    }
}

/// `GET /setup`
pub async fn form(state: Shared, context: PageContext) -> PageResult {
    refuse_second(&state).await?;
    let page = Page {
        context,
        secret: String::new(),
        name: FIRST_ADMIN.to_owned(),
        secret_error: None,
        name_error: None,
        password_error: None,
    };
    Ok(show(&page))
}

/// `POST /setup`
pub async fn set_up(state: Shared, request: HttpRequest, context: PageContext, fields: Fields) -> PageResult {
    refuse_second(&state).await?;
    let (name, password, now) = (fields.get("name"), fields.get("password"), state.clock.now());
    let (checked, secret_error) = match setup::check_secret(&state.store, fields.get("secret").trim(), now).await? {
        SecretCheck::Right(secret) => (Some(secret), None),
        SecretCheck::Wrong => (None, Some("This is not the set-up secret that Carillon printed when it started.")),
        SecretCheck::Expired => (None, Some("The set-up secret has expired. Restart Carillon: it prints a new one.")),
    };
    let repeated = (password != fields.get("repeated")).then(|| "The two passwords differ.".to_owned());
    let page = Page {
        context,
        secret: fields.get("secret").to_owned(),
        secret_error,
        name: name.to_owned(),
        name_error: people::name_complaint(name),
        password_error: password::complaint(password, name).or(repeated),
    };
    let Some(secret) = checked.filter(|_| page.is_valid()) else {
        return Ok(render(&page, StatusCode::UNPROCESSABLE_ENTITY));
    };
    let by = Actor { name: "setup".to_owned(), ..login::sender(&request) };
    let id = setup::set_up(&state.store, &secret, name, password, now, &by).await?.ok_or_else(used)?;
    let mut answer = done("/", page.context.t("setup-done"));
    let who = SignedIn::new(id, 0, SignInMethod::SetUp);
    login::start(&state, &request, &mut answer, (who, name), fields.get("zone")).await?;
    Ok(answer)
}

async fn refuse_second(state: &State) -> Result<(), PageError> {
    match !state.config.has_passwords || state.store.people().has_accounts().await? {
        true => Err(used()),
        false => Ok(()),
    }
}

fn used() -> PageError {
    PageError::Gone("This console has been set up already: there is an account; `carillon user link NAME` gives its owner a link for a password".into())
}

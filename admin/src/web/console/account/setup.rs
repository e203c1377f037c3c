//! The page on which the first administrator is set up.

use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use askama::Template;
use carillon_scheduler::Millis;
use subtle::ConstantTimeEq;

use crate::web::console::account::login;
use crate::web::forms::Fields;
use crate::web::page::{PageContext, PageError, PageResult, redirect_with_flash, render, show};
use crate::web::state::{Shared, State};
use carillon_accounts::password;
use carillon_accounts::secret;
use carillon_accounts::setup::{ADMIN, FIRST_ADMIN, name_complaint};

#[derive(Template)]
#[template(path = "account/setup.html")]
struct Page {
    context: PageContext,
    secret: String,
    name: String,
    secret_error: Option<String>,
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
    let (name, password) = (fields.get("name"), fields.get("password"));
    let mut page = Page {
        context,
        secret: fields.get("secret").to_owned(),
        secret_error: None,
        name: name.to_owned(),
        name_error: name_complaint(name),
        password_error: password::complaint(password, name),
    };
    if page.password_error.is_none() && password != fields.get("repeated") {
        page.password_error = Some("The two passwords differ.".to_owned());
    }
    let secret = match check_secret(&state, fields.get("secret").trim()).await? {
        Ok(secret) => Some(secret),
        Err(text) => {
            page.secret_error = Some(text);
            None
        }
    };
    let Some(secret) = secret.filter(|_| page.is_valid()) else {
        return Ok(render(&page, StatusCode::UNPROCESSABLE_ENTITY));
    };
    let hash = password::hash(password).await?;
    let made = state.store.set_up(&secret, name, &hash, ADMIN, state.clock.now()).await?;
    let id = made.ok_or_else(used)?;
    let mut answer = redirect_with_flash("/", "ok", "Welcome. You are the first administrator.");
    login::start(&state, &request, &mut answer, (id, name), fields.get("zone")).await?;
    Ok(answer)
}

async fn refuse_second(state: &State) -> Result<(), PageError> {
    if state.store.has_accounts().await? {
        return Err(used());
    }
    Ok(())
}

fn used() -> PageError {
    PageError::Gone("This console has been set up already".into())
}

type Secret = (String, Millis);

/// The stored secret, if `sent` is it; otherwise the error. Guesses need no throttle: the secret has 256 bits.
async fn check_secret(state: &State, sent: &str) -> Result<Result<Secret, String>, PageError> {
    let now = state.clock.now();
    let stored = state.store.setup_secret().await?;
    let Some(secret) = stored.filter(|it| it.1 > now) else {
        return Ok(Err("The set-up secret has expired. Restart Carillon: it prints a new one.".to_owned()));
    };
    let fits = bool::from(secret::hash(sent).as_bytes().ct_eq(secret.0.as_bytes()));
    Ok(if fits {
        Ok(secret)
    } else {
        Err("This is not the set-up secret that Carillon printed when it started.".to_owned())
    })
}

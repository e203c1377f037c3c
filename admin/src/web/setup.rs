//! The first administrator: made from a setting, or by the person who has the one-time set-up secret. And what the command
//! line does with accounts.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use askama::Template;
use carillon_scheduler::Millis;
use subtle::ConstantTimeEq;

use super::console::guard::Fields;
use super::console::problem::Problem;
use super::html::{self, Frame, see_other_with};
use super::password::{self, Error};
use super::{State, login, session};
use crate::config::random_secret;
use crate::store::{self, Store};

/// Name of the administrator that `--admin-password` makes.
pub const FIRST_ADMIN: &str = "admin";
/// The only role so far.
const ADMIN: &str = "admin";
const SECRET_MS: i64 = 30 * 60_000;
const NAME_MAX: usize = 64;

/// What the first visitor of the console must know, for half an hour.
#[derive(Clone)]
pub struct SetupSecret {
    pub secret: String,
    pub expires_at: Millis,
}

/// How a node found the accounts when it started.
pub enum FirstAdmin {
    /// There are accounts already.
    Exists,
    /// `admin` was made just now, with the given password.
    Made,
    /// Nobody can log in before the person who has this secret has set up an account.
    Awaited(SetupSecret),
}

/// On a database without accounts: makes `admin` with the password, or without one a set-up secret to be printed.
///
/// # Errors
///
/// The password is refused (length, too common), or the database fails.
pub async fn ensure_first_admin(store: &Store, password: Option<&str>, now: Millis) -> Result<FirstAdmin, Error> {
    if store.has_accounts().await? {
        return Ok(FirstAdmin::Exists);
    }
    if let Some(password) = password {
        return match add_user(store, FIRST_ADMIN, password, now).await {
            Ok(_) => Ok(FirstAdmin::Made),
            // Another node started at the same time.
            Err(Error::Store(store::Error::Taken(_))) => Ok(FirstAdmin::Exists),
            Err(error) => Err(error),
        };
    }
    let secret = random_secret();
    let expires_at = now + SECRET_MS;
    store.put_setup_secret(&session::hash(&secret), expires_at).await?;
    Ok(FirstAdmin::Awaited(SetupSecret { secret, expires_at }))
}

/// Makes an administrator.
///
/// # Errors
///
/// [`Error::Refused`] with the reason for a bad name or password, [`store::Error::Taken`] for a name that exists.
pub async fn add_user(store: &Store, name: &str, password: &str, now: Millis) -> Result<i64, Error> {
    let complaint = name_complaint(name).or_else(|| password::complaint(password, name));
    if let Some(complaint) = complaint {
        return Err(Error::Refused(complaint));
    }
    let hash = password::hash(password).await?;
    Ok(store.create_account(name, &hash, ADMIN, now).await?)
}

/// Sets a password and ends the sessions of its owner.
///
/// # Errors
///
/// [`Error::Refused`] with the reason for a bad password, [`store::Error::Missing`] for a name that does not exist.
pub async fn set_password(store: &Store, name: &str, password: &str, now: Millis) -> Result<(), Error> {
    if let Some(complaint) = password::complaint(password, name) {
        return Err(Error::Refused(complaint));
    }
    let account =
        store.account_by_name(name).await?.ok_or_else(|| store::Error::Missing(format!("the user {name:?}")))?;
    let hash = password::hash(password).await?;
    Ok(store.set_password(account.id, &hash, now).await?)
}

fn name_complaint(name: &str) -> Option<String> {
    let length = name.chars().count();
    if !(1..=NAME_MAX).contains(&length) {
        return Some(format!("The name has {length} characters; choose 1 to {NAME_MAX}."));
    }
    (name.trim() != name || name.chars().any(char::is_control))
        .then(|| "The name begins or ends with a space, or holds a control character.".to_owned())
}

#[derive(Template)]
#[template(path = "account/setup.html")]
struct Page {
    frame: Frame,
    secret: String,
    name: String,
    secret_error: Option<String>,
    name_error: Option<String>,
    password_error: Option<String>,
}

impl Page {
    fn is_fine(&self) -> bool {
        self.secret_error.is_none() && self.name_error.is_none() && self.password_error.is_none()
    }
}

/// `GET /setup`
pub async fn form(state: web::Data<State>, frame: Frame) -> Result<HttpResponse, Problem> {
    refuse_second(&state).await?;
    let page = Page {
        frame,
        secret: String::new(),
        name: FIRST_ADMIN.to_owned(),
        secret_error: None,
        name_error: None,
        password_error: None,
    };
    Ok(html::page(&page, StatusCode::OK))
}

/// `POST /setup`
pub async fn set_up(
    state: web::Data<State>,
    request: HttpRequest,
    frame: Frame,
    fields: Fields,
) -> Result<HttpResponse, Problem> {
    refuse_second(&state).await?;
    let (name, password) = (fields.get("name"), fields.get("password"));
    let mut page = Page {
        frame,
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
    let Some(secret) = secret.filter(|_| page.is_fine()) else {
        return Ok(html::page(&page, StatusCode::UNPROCESSABLE_ENTITY));
    };
    let hash = password::hash(password).await?;
    let made = state.store.set_up(&secret, name, &hash, ADMIN, state.clock.now()).await?;
    let id = made.ok_or_else(used)?;
    let mut answer = see_other_with("/", "ok", "Welcome. You are the first administrator.");
    login::start(&state, &request, &mut answer, (id, name), fields.get("zone")).await?;
    Ok(answer)
}

async fn refuse_second(state: &State) -> Result<(), Problem> {
    if state.store.has_accounts().await? {
        return Err(used());
    }
    Ok(())
}

fn used() -> Problem {
    Problem::Gone("This console has been set up already".into())
}

type Secret = (String, Millis);

/// The stored secret, if this is it; else what is wrong. It has 256 bits: guessing needs no throttle.
async fn check_secret(state: &State, sent: &str) -> Result<Result<Secret, String>, Problem> {
    let now = state.clock.now();
    let stored = state.store.setup_secret().await?;
    let Some(secret) = stored.filter(|it| it.1 > now) else {
        return Ok(Err("The set-up secret has expired. Restart Carillon: it prints a new one.".to_owned()));
    };
    let fits = bool::from(session::hash(sent).as_bytes().ct_eq(secret.0.as_bytes()));
    Ok(if fits {
        Ok(secret)
    } else {
        Err("This is not the set-up secret that Carillon printed when it started.".to_owned())
    })
}

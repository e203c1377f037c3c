//! A new password by a link that an administrator has made.

use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use actix_web::web::Query;
use askama::Template;
use carillon_accounts::people::UsedLink;
use carillon_accounts::session::SignedIn;
use carillon_accounts::{password, people};
use carillon_store::people::sessions::SignInMethod;
use serde::Deserialize;

use crate::web::console::account::{code, login};
use crate::web::forms::Fields;
use crate::web::page::{PageContext, PageError, PageResult, done, render};
use crate::web::state::{Shared, State};

#[derive(Template)]
#[template(path = "account/reset.html")]
struct Page {
    context: PageContext,
    secret: String,
    name: String,
    error: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct LinkQuery {
    secret: String,
}

fn no_link() -> PageError {
    PageError::Gone("This link has been used or has expired. Ask an administrator for another one".into())
}

async fn has_second_factor(state: &State, account_id: i64) -> Result<bool, PageError> {
    let account = state.store.people().account(account_id).await?;
    Ok(account.is_some_and(|account| account.totp_since.is_some()))
}

/// `GET /reset?secret=`
pub async fn form(state: Shared, context: PageContext, query: Query<LinkQuery>) -> PageResult {
    let found = people::account_of_link(&state.store, &query.secret, context.now).await?;
    let (_, name) = found.ok_or_else(no_link)?;
    let page = Page { context, secret: query.into_inner().secret, name, error: None };
    Ok(render(&page, StatusCode::OK))
}

/// `POST /reset`
pub async fn reset(state: Shared, request: HttpRequest, context: PageContext, fields: Fields) -> PageResult {
    let (secret, password) = (fields.get("secret"), fields.get("password"));
    let (_, name) = people::account_of_link(&state.store, secret, context.now).await?.ok_or_else(no_link)?;
    let differ = password != fields.get("repeated");
    let used = match differ {
        true => Err(password::Error::Refused("The two passwords differ.".to_owned())),
        false => people::use_link(&state.store, secret, password, context.now, &login::sender(&request)).await,
    };
    match used {
        Ok(Some(UsedLink { account_id, name, credentials })) => {
            let who = (SignedIn::new(account_id, credentials, SignInMethod::ResetLink), &*name);
            // The link stands for the password alone.
            if has_second_factor(&state, account_id).await? {
                return code::ask(&state, &request, context, who, ("/", ""), None).await;
            }
            let mut answer = done("/", context.t("reset-done"));
            login::start(&state, &request, &mut answer, who, "").await?;
            Ok(answer)
        }
        Ok(None) => Err(no_link()),
        Err(password::Error::Refused(text)) => {
            let page = Page { context, secret: secret.to_owned(), name, error: Some(text) };
            Ok(render(&page, StatusCode::UNPROCESSABLE_ENTITY))
        }
        Err(error) => Err(error.into()),
    }
}

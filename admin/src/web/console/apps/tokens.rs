//! The tokens of an app's executors.

use actix_web::http::header::{CACHE_CONTROL, HeaderValue};
use actix_web::web;
use askama::Template;
use carillon_engine::manage::Error;
use carillon_store::App;
use carillon_store::app::executor_tokens::{ExecutorToken, MAX_TOKENS};

use crate::web::access::Caller;
use crate::web::forms::{Fields, Form};
use crate::web::page::{PageContext, PageResult, done, render};
use crate::web::state::{Shared, State};

#[derive(Template)]
#[template(path = "apps/tokens.html")]
struct Page {
    context: PageContext,
    app: App,
    tokens: Vec<ExecutorToken>,
    form: Form,
    /// A token that has just been made: shown on this answer and never again.
    new_token: Option<String>,
    /// Tokens can be encrypted.
    has_key: bool,
    /// There is a token of all apps.
    has_global: bool,
}

impl Page {
    fn has_expired(&self, token: &ExecutorToken) -> bool {
        !token.is_valid(self.context.now)
    }

    fn has_valid(&self) -> bool {
        self.tokens.iter().any(|token| token.is_valid(self.context.now))
    }

    fn has_room(&self) -> bool {
        self.tokens.iter().filter(|token| token.is_valid(self.context.now)).count() < MAX_TOKENS
    }
}

async fn show(state: &State, context: PageContext, id: i64, form: Form, new_token: Option<String>) -> PageResult {
    let tokens = state.engine.executor_tokens();
    let page = Page {
        app: state.engine.apps().get(id).await?,
        tokens: state.engine.app_tokens().list(id).await?,
        new_token,
        has_key: !tokens.keys().is_empty(),
        has_global: tokens.has_global(),
        context,
        form,
    };
    let status = page.form.status();
    Ok(render(&page, status))
}

/// `GET /apps/{id}/tokens`
pub async fn page(state: Shared, context: PageContext, id: web::Path<i64>) -> PageResult {
    show(&state, context, *id, Form::default(), None).await
}

/// `POST /apps/{id}/tokens`: the answer shows the token, so it is no redirect.
pub async fn create(state: Shared, by: Caller, context: PageContext, id: web::Path<i64>, fields: Fields) -> PageResult {
    let mut form = Form::from(fields);
    let name = form.value("name").trim().to_owned();
    let days = match form.value("days").trim() {
        "" => None,
        _ => Some(form.number("days", 1)),
    };
    if !form.is_valid() {
        return show(&state, context, *id, form, None).await;
    }
    match state.engine.app_tokens().create(*id, &name, days, &by.0).await {
        Ok((_, token)) => {
            let mut answer = show(&state, context, *id, Form::default(), Some(token)).await?;
            answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
            return Ok(answer);
        }
        Err(Error::Invalid(errors)) => form.add_errors(errors),
        Err(Error::InUse(text)) => form.add_error("name", text),
        Err(error) => return Err(error.into()),
    }
    show(&state, context, *id, form, None).await
}

/// `POST /apps/{id}/tokens/{token}/revoke`
pub async fn revoke(state: Shared, by: Caller, context: PageContext, ids: web::Path<(i64, i64)>) -> PageResult {
    let (id, token_id) = *ids;
    state.engine.app_tokens().revoke(id, token_id, &by.0).await?;
    let text = context.t("app-token-revoked").to_string();
    Ok(done(&format!("/apps/{id}/tokens"), &text))
}

/// `POST /apps/{id}/tokens/rule`
pub async fn set_rule(
    state: Shared,
    by: Caller,
    context: PageContext,
    id: web::Path<i64>,
    fields: Fields,
) -> PageResult {
    let mut form = Form::from(fields);
    let is_set = form.is("own_tokens_only", "yes");
    match state.engine.app_tokens().set_own_tokens_only(*id, is_set, &by.0).await {
        Ok(app) => {
            let text = context.t(if is_set { "app-accepts-own-alone" } else { "app-accepts-global" });
            let text = text.with("app", app.name).to_string();
            return Ok(done(&format!("/apps/{}/tokens", app.id), &text));
        }
        Err(Error::InUse(text)) => form.add_error("own_tokens_only", text),
        Err(error) => return Err(error.into()),
    }
    show(&state, context, *id, form, None).await
}

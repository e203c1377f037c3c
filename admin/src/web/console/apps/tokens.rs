//! The tokens of an app's executors.

use actix_web::web::Path;
use askama::Template;
use carillon_store::App;
use carillon_store::app::executor_tokens::{ExecutorToken, MAX_TOKENS};

use crate::web::access::Caller;
use crate::web::forms::Form;
use crate::web::page::{PageContext, PageResult, done, render, uncached};
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
pub async fn page(state: Shared, context: PageContext, id: Path<i64>) -> PageResult {
    show(&state, context, *id, Form::default(), None).await
}

/// `POST /apps/{id}/tokens`: the answer shows the token, so it is no redirect.
pub async fn create(state: Shared, by: Caller, context: PageContext, id: Path<i64>, mut form: Form) -> PageResult {
    let name = form.value("name").trim().to_owned();
    let days = form.optional_number("days", 1);
    if !form.is_valid() {
        return show(&state, context, *id, form, None).await;
    }
    let made = state.engine.app_tokens().create(*id, &name, days, &by.0).await;
    if let Some((_, token)) = form.accept_at("name", made)? {
        return show(&state, context, *id, Form::default(), Some(token)).await.map(uncached);
    }
    show(&state, context, *id, form, None).await
}

/// `POST /apps/{id}/tokens/{token}/revoke`
pub async fn revoke(state: Shared, by: Caller, context: PageContext, ids: Path<(i64, i64)>) -> PageResult {
    let (id, token_id) = *ids;
    state.engine.app_tokens().revoke(id, token_id, &by.0).await?;
    Ok(done(&format!("/apps/{id}/tokens"), context.t("app-token-revoked")))
}

/// `POST /apps/{id}/tokens/rule`
pub async fn set_rule(state: Shared, by: Caller, context: PageContext, id: Path<i64>, mut form: Form) -> PageResult {
    let is_set = form.is("own_tokens_only", "yes");
    let set = state.engine.app_tokens().set_own_tokens_only(*id, is_set, &by.0).await;
    if let Some(app) = form.accept_at("own_tokens_only", set)? {
        let text = context.t(if is_set { "app-accepts-own-alone" } else { "app-accepts-global" });
        return Ok(done(&format!("/apps/{}/tokens", app.id), text.with("app", app.name)));
    }
    show(&state, context, *id, form, None).await
}

//! Alert rules: the list, and the form.

use actix_web::{HttpResponse, web};
use askama::Template;
use carillon_accounts::policy::{self, Action, Object};
use carillon_alerts::manage::ChannelView;
use carillon_engine::manage::Error;
use carillon_store::App;
use carillon_store::alert::rules::AlertRule;

use crate::web::access::Caller;
use crate::web::console::alerts::rule_form::{LABELS, draft, filled, first};
use crate::web::console::alerts::words::{KINDS, kind_label, kind_word};
use crate::web::forms::{Fields, Form};
use crate::web::page::{PageContext, PageResult, redirect_with_flash, render, show};
use crate::web::state::{Shared, State};

struct Row {
    rule: AlertRule,
    app: String,
    may_edit: bool,
    kinds: String,
    channels: String,
}

#[derive(Template)]
#[template(path = "alerts/rules.html")]
struct ListPage {
    context: PageContext,
    rows: Vec<Row>,
}

#[derive(Template)]
#[template(path = "alerts/rule.html")]
struct FormPage {
    context: PageContext,
    form: Form,
    /// None: a new one.
    id: Option<i64>,
    apps: Vec<App>,
    channels: Vec<ChannelView>,
}

impl FormPage {
    fn kinds(&self) -> [(&'static str, &'static str); 13] {
        KINDS.map(|kind| (kind.as_str(), kind_label(kind)))
    }

    /// The key of a field's label.
    fn label(&self, name: &str) -> &'static str {
        LABELS.iter().find(|(field, _)| *field == name).map_or("", |(_, label)| label)
    }

    fn lists(&self) -> [(&'static str, &'static str); 2] {
        [("channels", "channels"), ("second_channels", "rule-second-channels-if")]
    }

    fn action(&self) -> String {
        self.id.map_or_else(|| "/alerts/rules".to_owned(), |id| format!("/alerts/rules/{id}"))
    }
}

/// `GET /alerts/rules`
pub async fn list(state: Shared, context: PageContext) -> PageResult {
    let visible = context.visible();
    let apps = state.store.apps(&visible).await?;
    let channels = state.alerts.channels(&context.actor).await?;
    let row = |rule: AlertRule| {
        let app = apps.iter().find(|app| Some(app.id) == rule.app_id).map(|app| app.name.clone());
        let named = channels.iter().filter(|channel| rule.definition.all_channels().any(|id| id == channel.id));
        let kinds: Vec<String> =
            rule.definition.kinds.iter().map(|kind| context.t(kind_word(*kind)).to_string()).collect();
        Row {
            app: app.unwrap_or_else(|| context.t("of-all-apps").to_string()),
            may_edit: may_edit(&context, rule.app_id),
            kinds: kinds.join(", "),
            channels: named.map(|channel| channel.name.as_str()).collect::<Vec<_>>().join(", "),
            rule,
        }
    };
    let rows = state.store.alert_rules(&visible).await?.into_iter().map(row).collect();
    Ok(show(&ListPage { context, rows }))
}

fn may_edit(context: &PageContext, app_id: Option<i64>) -> bool {
    match app_id {
        Some(id) => context.may_edit(&id),
        None => policy::may(&context.actor, Action::Administer, Object::Installation),
    }
}

/// `GET /alerts/rules/new`
pub async fn new(state: Shared, context: PageContext) -> PageResult {
    form_page(&state, context, first(), None).await
}

/// `POST /alerts/rules`
pub async fn create(state: Shared, by: Caller, context: PageContext, fields: Fields) -> PageResult {
    let mut form = Form::from(fields);
    let draft = draft(&mut form);
    if form.is_valid() {
        match state.alerts.create_rule(draft, &by.0).await {
            Ok(rule) => return Ok(saved(&context, &rule)),
            Err(error) => refuse(&mut form, error)?,
        }
    }
    form_page(&state, context, form, None).await
}

/// `GET /alerts/rules/{id}`
pub async fn edit(state: Shared, context: PageContext, id: web::Path<i64>) -> PageResult {
    let rule = state.alerts.rule(*id).await?;
    let app = match rule.app_id {
        Some(id) => state.store.app(id).await?.map(|app| app.name).unwrap_or_default(),
        None => String::new(),
    };
    form_page(&state, context, filled(&rule, &app), Some(*id)).await
}

/// `POST /alerts/rules/{id}`
pub async fn update(state: Shared, by: Caller, context: PageContext, id: web::Path<i64>, fields: Fields) -> PageResult {
    let mut form = Form::from(fields);
    let draft = draft(&mut form);
    if form.is_valid() {
        let revision = form.value("revision").parse().ok();
        match state.alerts.update_rule(*id, draft, revision, &by.0).await {
            Ok(rule) => return Ok(saved(&context, &rule)),
            Err(error) => refuse(&mut form, error)?,
        }
    }
    form_page(&state, context, form, Some(*id)).await
}

/// `POST /alerts/rules/{id}/delete`
pub async fn delete(state: Shared, by: Caller, context: PageContext, id: web::Path<i64>) -> PageResult {
    state.alerts.delete_rule(*id, &by.0).await?;
    Ok(redirect_with_flash("/alerts/rules", "ok", &context.t("rule-deleted").to_string()))
}

fn saved(context: &PageContext, rule: &AlertRule) -> HttpResponse {
    redirect_with_flash("/alerts/rules", "ok", &context.t("rule-saved").with("name", &rule.name).to_string())
}

/// Errors of the form; others are pages.
pub(super) fn refuse(form: &mut Form, error: Error) -> Result<(), Error> {
    match error {
        Error::Invalid(errors) => {
            for error in errors {
                let name = match error.field.as_str() {
                    "escalation.channels" => "second_channels",
                    field if field.starts_with("silences") => "silences",
                    field => field.rsplit('.').next().unwrap_or(field),
                };
                form.add_error(name, error.message);
            }
        }
        Error::Taken(_) => form.add_error("name", "This name is taken already."),
        Error::Changed(text) => form.add_error("name", format!("{text}: open the page anew to see it.")),
        other => return Err(other),
    }
    Ok(())
}

async fn form_page(state: &State, context: PageContext, mut form: Form, id: Option<i64>) -> PageResult {
    form.sort_errors(LABELS);
    let mut apps = state.store.apps(&context.visible()).await?;
    apps.retain(|app| context.may_edit(&app.id));
    let channels = state.alerts.channels(&context.actor).await?;
    let status = form.status();
    Ok(render(&FormPage { context, form, id, apps, channels }, status))
}

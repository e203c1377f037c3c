//! Alert rules: the list, and the form.

use std::collections::BTreeSet;

use actix_web::web::Path;
use askama::Template;
use carillon_accounts::policy::{self, Action, Object};
use carillon_alerts::manage::ChannelView;
use carillon_engine::manage::Error;
use carillon_store::App;
use carillon_store::alert::rules::AlertRule;

use crate::web::access::Caller;
use crate::web::console::alerts::rule_form::{LABELS, draft, filled, first};
use crate::web::console::alerts::words::{KINDS, kind_label, kind_word};
use crate::web::forms::Form;
use crate::web::forms::child_jobs::{self, ChildJob};
use crate::web::page::{PageContext, PageResult, done, render, show};
use crate::web::state::{Shared, State};

/// Jobs of a rule that the list names.
const NAMED_JOBS: usize = 3;

struct Row {
    rule: AlertRule,
    app: String,
    may_edit: bool,
    kinds: String,
    /// The only jobs that the rule is about; empty: all of them.
    jobs: String,
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
    /// The chosen jobs, and those to choose from.
    child_jobs: Vec<ChildJob>,
    offered: Vec<ChildJob>,
}

impl FormPage {
    /// A channel with the apps that may use it.
    fn channel(&self, channel: &ChannelView) -> String {
        match channel.all_apps {
            true => channel.name.clone(),
            false => format!("{} ({})", channel.name, channel.apps.join(", ")),
        }
    }

    fn kinds(&self) -> [(&'static str, &'static str); KINDS.len()] {
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
    let apps = state.store.apps().list(&visible).await?;
    let channels = state.alerts.channels(&context.actor).await?;
    let rules = state.store.alerts().rules(&visible).await?;
    let ids: BTreeSet<i64> = rules.iter().flat_map(|rule| &rule.definition.jobs).copied().collect();
    let jobs = child_jobs::by_id(&state.store, &ids.into_iter().take(1000).collect::<Vec<_>>(), &visible).await?;
    let row = |rule: AlertRule| {
        let app = apps.iter().find(|app| Some(app.id) == rule.app_id).map(|app| app.name.clone());
        let named = channels.iter().filter(|channel| rule.definition.all_channels().any(|id| id == channel.id));
        let kinds: Vec<String> =
            rule.definition.kinds.iter().map(|kind| context.t(kind_word(*kind)).to_string()).collect();
        Row {
            app: app.unwrap_or_else(|| context.t("of-all-apps").to_string()),
            may_edit: may_edit(&context, rule.app_id),
            kinds: kinds.join(", "),
            jobs: only_jobs(&context, &rule, &jobs),
            channels: named.map(|channel| channel.name.as_str()).collect::<Vec<_>>().join(", "),
            rule,
        }
    };
    let rows = rules.into_iter().map(row).collect();
    Ok(show(&ListPage { context, rows }))
}

/// `Close books (billing #12), Settle (billing #15) and 3 more`
fn only_jobs(context: &PageContext, rule: &AlertRule, jobs: &[ChildJob]) -> String {
    let of_rule = jobs.iter().filter(|job| rule.definition.jobs.contains(&job.id));
    let names: Vec<String> = of_rule.take(NAMED_JOBS).map(|job| job.label(&context.language)).collect();
    let more = rule.definition.jobs.len().saturating_sub(names.len());
    match more {
        0 => names.join(", "),
        more => context.t("rule-jobs-more").with("jobs", names.join(", ")).count("count", more).to_string(),
    }
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
pub async fn create(state: Shared, by: Caller, context: PageContext, form: Form) -> PageResult {
    save(&state, by, context, form, None).await
}

/// `GET /alerts/rules/{id}`
pub async fn edit(state: Shared, context: PageContext, id: Path<i64>) -> PageResult {
    let rule = state.alerts.rule(*id).await?;
    let app = match rule.app_id {
        Some(id) => state.store.apps().get(id).await?.map(|app| app.name).unwrap_or_default(),
        None => String::new(),
    };
    form_page(&state, context, filled(&rule, &app), Some(*id)).await
}

/// `POST /alerts/rules/{id}`
pub async fn update(state: Shared, by: Caller, context: PageContext, id: Path<i64>, form: Form) -> PageResult {
    save(&state, by, context, form, Some(*id)).await
}

async fn save(state: &State, by: Caller, context: PageContext, mut form: Form, id: Option<i64>) -> PageResult {
    child_jobs::add_named(&state.store, &mut form, &context.visible()).await?;
    if form.is("step", "add_child") {
        return form_page(state, context, form, id).await;
    }
    let draft = draft(&mut form);
    if form.is_valid() {
        let saved = match id {
            Some(id) => state.alerts.update_rule(id, draft, form.value("revision").parse().ok(), &by.0).await,
            None => state.alerts.create_rule(draft, &by.0).await,
        };
        if let Some(rule) = accept(&mut form, saved)? {
            return Ok(done("/alerts/rules", context.t("rule-saved").with("name", &rule.name)));
        }
    }
    form_page(state, context, form, id).await
}

/// `POST /alerts/rules/{id}/delete`
pub async fn delete(state: Shared, by: Caller, context: PageContext, id: Path<i64>) -> PageResult {
    state.alerts.delete_rule(*id, &by.0).await?;
    Ok(done("/alerts/rules", context.t("rule-deleted")))
}

/// What was saved; None: the form has the errors. Others are pages.
pub(super) fn accept<T>(form: &mut Form, saved: Result<T, Error>) -> Result<Option<T>, Error> {
    match saved {
        Err(Error::Invalid(errors)) => {
            for error in errors {
                let name = match error.field.as_str() {
                    "escalation.channels" => "second_channels",
                    "jobs" => "child_name",
                    field if field.starts_with("apps") => "apps",
                    field if field.starts_with("silences") => "silences",
                    field => field.rsplit('.').next().unwrap_or(field),
                };
                form.add_error(name, error.message);
            }
        }
        Err(Error::Changed(text)) => form.add_error("name", format!("{text}: open the page again to see it.")),
        saved => return form.accept_named("This name is taken already.", saved),
    }
    Ok(None)
}

async fn form_page(state: &State, context: PageContext, mut form: Form, id: Option<i64>) -> PageResult {
    form.sort_errors(LABELS);
    let mut apps = state.store.apps().list(&context.visible()).await?;
    apps.retain(|app| context.may_edit(&app.id));
    let channels = state.alerts.channels(&context.actor).await?;
    let visible = context.visible();
    let chosen: Vec<i64> = form.items("children").iter().filter_map(|id| id.parse().ok()).collect();
    let child_jobs = child_jobs::by_id(&state.store, &chosen, &visible).await?;
    let offered = child_jobs::offered(&state.store, form.value("app"), "", &visible).await?;
    let status = form.status();
    Ok(render(&FormPage { context, form, id, apps, channels, child_jobs, offered }, status))
}

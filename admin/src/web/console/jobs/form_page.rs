//! The page of a job's form: the fields, their choices, and a conflict with another user.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use carillon_engine::executor::SentOnce;
use carillon_scheduler::job::Note;
use carillon_scheduler::{
    BlockStrategy, Durability, HttpMethod, JobDraft, JobTemplate, Overlap, RouteStrategy, ScriptKind, Weekday,
};
use carillon_store::{App, Job};

use crate::web::console::jobs::preview::{self, Preview};
use crate::web::console::workflows::definition::{self, Definition};
use crate::web::forms::child_jobs::{self, ChildJob};
use crate::web::forms::curl_form::CurlNotes;
use crate::web::forms::job_form::{fields_of, filled, labels, normal};
use crate::web::forms::merge::{self, Conflict, Difference, UNLIKE};
use crate::web::forms::moment::zone_of;
use crate::web::forms::{Form, workflow_form};
use crate::web::locale::{Language, Markup, Message};
use crate::web::page::{PageContext, PageError, render};
use crate::web::state::State;
use crate::web::text::names::weekday_name;
use crate::web::text::schedule::KINDS;
use crate::web::text::strategies;

/// A choice of a select: the word that is sent, and its text.
pub struct Choice {
    pub word: &'static str,
    pub text: String,
}

#[derive(Template)]
#[template(path = "jobs/form.html")]
pub struct Page {
    context: PageContext,
    /// Its key.
    title: &'static str,
    /// The job that is edited or copied.
    origin: Option<(i64, String)>,
    /// The targets of the form and of Cancel.
    action: String,
    back: String,
    apps: Vec<App>,
    form: Form,
    preview: Preview,
    pub conflict: Option<Conflict>,
    /// Where a new job differs from its original.
    unlike: Vec<Difference>,
    /// They are shown in place of saving.
    pub is_unlike_first: bool,
    /// What a line of curl has filled in.
    pub curl: Option<CurlNotes>,
    /// The request that was sent once, and its answer.
    pub sent: Option<SentOnce>,
    /// Strategies by their origin: the key of its name, and the strategies.
    routes: [(&'static str, Vec<Choice>); 2],
    blocks: Vec<Choice>,
    overlaps: Vec<Choice>,
    durabilities: Vec<Choice>,
    calendars: Vec<String>,
    child_jobs: Vec<ChildJob>,
    /// Jobs to choose further children from.
    offered: Vec<ChildJob>,
    is_new: bool,
    /// The job that is edited has a script: without a handler it keeps it.
    has_script: bool,
    /// A new job may have a script.
    offers_script: bool,
    asks_password: bool,
    /// The set of files that defines the job that is edited.
    set: Option<String>,
    /// What becomes of the members that code declares, if they are changed here.
    declared: Option<Markup>,
    /// The workflow that is filled in, if it can be drawn.
    definition: Option<Definition>,
}

impl Page {
    /// The key of what the answer to a request that was sent once would mean.
    fn sent_text(&self, sent: &SentOnce) -> &'static str {
        match sent.verdict() {
            "succeeded" => "http-sent-succeeded",
            "awaited" => "http-sent-awaited",
            "failed" => "http-sent-failed",
            "unknown" => "http-sent-unknown",
            _ => "http-sent-not-sent",
        }
    }

    /// The key of a field's label.
    fn label(&self, name: &str) -> &'static str {
        let found = labels().into_iter().find(|(field, _)| *field == name);
        found.map_or("", |(_, label)| label)
    }

    fn notes(&self) -> impl Iterator<Item = (&'static Note, &'static str)> {
        crate::web::forms::job_form::notes()
    }

    /// Where the link of an error leads.
    fn target(&self, name: &str) -> String {
        match name {
            "kind" => "kind-cron".to_owned(),
            "runs" => "runs-handler".to_owned(),
            "weekdays" => "weekday-MON".to_owned(),
            "children" => "child_name".to_owned(),
            name => name.to_owned(),
        }
    }

    fn kinds(&self) -> [(&'static str, &'static str); 7] {
        KINDS
    }

    /// A new job starts from one of them: its word, and the keys of its name and of what it is for.
    fn templates(&self) -> Vec<(&'static str, &'static str, &'static str)> {
        JobTemplate::ALL
            .iter()
            .map(|template| (template.as_str(), template_name(*template), template_text(*template)))
            .collect()
    }

    /// An empty form of a new job, or one that a template has filled.
    fn offers_templates(&self) -> bool {
        self.is_new && self.origin.is_none() && self.form.is_valid() && self.form.value("step").is_empty()
    }

    fn languages(&self) -> &'static [ScriptKind] {
        ScriptKind::ALL
    }

    fn methods(&self) -> &'static [HttpMethod] {
        HttpMethod::ALL
    }

    /// The words of the form, and the names of the days.
    fn weekdays(&self) -> impl Iterator<Item = (&'static str, Message)> {
        Weekday::ALL.iter().map(|day| (day.as_str(), weekday_name(self.context.language, *day)))
    }

    /// Whether a field of the group is set or has an error.
    fn has_limits(&self) -> bool {
        let names = ["start_at", "end_at", "max_fires", "spread_seconds", "calendars", "on_excluded"];
        names[..5].iter().any(|name| !self.form.value(name).trim().is_empty()) || self.is_wrong(&names)
    }

    fn has_late_rules(&self) -> bool {
        let plain = [
            ("catch_up", "all"),
            ("misfire", "fire_once"),
            ("misfire_threshold_seconds", "60"),
            ("misfire_limit", "100"),
            ("misfire_window_seconds", "3600"),
            ("clock_changes", "carillon"),
        ];
        let differs = |(name, value): &(&str, &str)| !["", value].contains(&self.form.value(name));
        plain.iter().any(differs) || self.is_wrong(&plain.map(|(name, _)| name))
    }

    fn is_wrong(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.form.error(name).is_some())
    }

    pub fn answer(self, status: StatusCode) -> HttpResponse {
        render(&self, status)
    }
}

/// The key of a template's name.
pub fn template_name(template: JobTemplate) -> &'static str {
    match template {
        JobTemplate::Report => "template-report",
        JobTemplate::Poll => "template-poll",
        JobTemplate::Cleanup => "template-cleanup",
    }
}

/// The key of what a template is for.
pub fn template_text(template: JobTemplate) -> &'static str {
    match template {
        JobTemplate::Report => "template-report-text",
        JobTemplate::Poll => "template-poll-text",
        JobTemplate::Cleanup => "template-cleanup-text",
    }
}

/// What the form is for.
#[derive(Clone, Copy)]
pub enum Purpose<'a> {
    New,
    Copy(&'a Job),
    Edit(&'a Job),
}

pub async fn page(
    state: &State,
    context: PageContext,
    purpose: Purpose<'_>,
    mut form: Form,
) -> Result<Page, PageError> {
    let language = context.language;
    let (title, action, origin) = match purpose {
        Purpose::New => ("job-new", "/jobs".to_owned(), None),
        Purpose::Copy(job) => ("job-copy", "/jobs".to_owned(), Some(job)),
        Purpose::Edit(job) => ("job-edit", format!("/jobs/{}/edit", job.id), Some(job)),
    };
    let before = match purpose {
        Purpose::Edit(job) => Some(job),
        _ => None,
    };
    let declared = match before {
        Some(job) => lock_declared(state, &mut form, job, &context).await?,
        None => None,
    };
    let unlike = match purpose {
        Purpose::Copy(job) if form.is_valid() => unlike(&context, &form, job),
        _ => vec![],
    };
    form.set(UNLIKE, merge::mark_of(&unlike));
    let back = origin.map_or_else(|| "/jobs".to_owned(), |job| format!("/jobs/{}", job.id));
    form.sort_errors(&labels());
    if form.value("runs").is_empty() {
        form.set("runs", "handler");
    }
    let preview = preview::of_form(state, &form, before, &context).await?;
    let mut calendars = state.store.calendars().names().await?;
    // One that was deleted meanwhile stays chosen, with its error.
    calendars.extend(form.items("calendars"));
    calendars.sort_unstable();
    calendars.dedup();
    let apps = editable_apps(state, &context, before).await?;
    let offered = child_jobs::offered(&state.store, form.value("app"), "", &context.visible()).await?;
    let children: Vec<i64> = form.items("children").iter().filter_map(|id| id.parse().ok()).collect();
    let definition = match workflow_form::drawable(&form) {
        Some(draft) => definition::definition(&state.store, language, &draft, &context.visible()).await?,
        None => None,
    };
    Ok(Page {
        title,
        definition,
        offers_script: before.is_none()
            && state.engine.cx.settings.scripts
            && apps.iter().any(|app| context.may_write_scripts(&app.id)),
        asks_password: context.viewer.as_ref().is_some_and(|viewer| viewer.issuer.is_none()),
        has_script: before.is_some_and(|job| job.draft.script.is_some()),
        set: before.map(|job| job.draft.set.clone()).filter(|set| !set.is_empty()),
        declared,
        origin: origin.map(|job| (job.id, job.draft.name.clone())),
        action,
        back,
        apps,
        form,
        preview,
        conflict: None,
        unlike,
        is_unlike_first: false,
        curl: None,
        sent: None,
        routes: [("routes-of-xxl-job", routes(language, true)), ("routes-of-carillon", routes(language, false))],
        blocks: BlockStrategy::ALL
            .iter()
            .map(|it| Choice { word: it.as_str(), text: strategies::block(language, *it) })
            .collect(),
        overlaps: Overlap::ALL
            .iter()
            .map(|it| Choice { word: it.as_str(), text: strategies::overlap(language, *it) })
            .collect(),
        durabilities: Durability::ALL
            .iter()
            .map(|it| Choice { word: it.as_str(), text: strategies::durability(language, *it) })
            .collect(),
        child_jobs: child_jobs::by_id(&state.store, &children, &context.visible()).await?,
        offered,
        calendars,
        is_new: before.is_none(),
        context,
    })
}

/// Where the job of the form differs from the one that it is like. The sources of scripts are not compared: the form shows them.
pub fn unlike(context: &PageContext, form: &Form, original: &Job) -> Vec<Difference> {
    let zone = zone_of(form, context.zone);
    let original = JobDraft { script: None, ..original.draft.clone() };
    merge::differences(context.language, &normal(form, zone), &filled(&original, zone))
}

/// The apps to choose from; that of the job in any case.
async fn editable_apps(state: &State, context: &PageContext, before: Option<&Job>) -> Result<Vec<App>, PageError> {
    let mut apps = state.store.apps().list(&context.visible()).await?;
    apps.retain(|app| context.may_edit(&app.id) || before.is_some_and(|job| job.app_id == app.id));
    Ok(apps)
}

fn routes(language: Language, of_xxl_job: bool) -> Vec<Choice> {
    let routes = RouteStrategy::ALL.iter().filter(|route| strategies::is_of_xxl_job(**route) == of_xxl_job);
    routes.map(|route| Choice { word: route.as_str(), text: strategies::route(language, *route) }).collect()
}

/// The members that code declares, and whether they can be changed here. Fields that a program enforces keep what is stored: browsers do not
/// send locked fields. Nor do they send those that were locked when the form was made.
pub async fn lock_declared(
    state: &State,
    form: &mut Form,
    job: &Job,
    context: &PageContext,
) -> Result<Option<Markup>, PageError> {
    let stored = filled(&job.draft, zone_of(form, context.zone));
    form.keep_locked(&stored);
    let Some(declared) = state.declarations.of_job(job).await? else { return Ok(None) };
    let app = state.engine.apps().get(job.app_id).await?;
    let members = declared.enforced(app.declarations);
    form.lock(&fields_of(members), &stored);
    let message = match members.is_empty() {
        true => context.t("declared-kept").with("members", declared.members.join(", ")),
        false => context
            .t("declared-enforced")
            .with("members", members.join(", "))
            .with("build", &declared.build)
            .with("place", &declared.place)
            .with("app", app.id.to_string()),
    };
    Ok(Some(message.markup()))
}

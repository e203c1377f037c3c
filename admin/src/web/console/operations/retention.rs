//! `GET /retention`: how long runs are kept, by all rules that are set.

use askama::Template;
use carillon_store::retention::rules::{EffectiveRetention, Retention, Scope};
use carillon_store::{Job, JobFilter};

use crate::web::locale::{Language, Message};
use crate::web::page::{PageContext, PageResult, show};
use crate::web::state::Shared;

/// Jobs with a rule of their own that are listed.
const JOBS: usize = 1_000;

/// A rule as a row: what it sets, and what is in force by it.
struct Row {
    label: String,
    /// Empty: there is no page.
    page: String,
    edit: Option<String>,
    cells: [Cell; 4],
}

/// A value in force.
struct Cell {
    /// The key of its name.
    label: &'static str,
    text: Message,
    is_set_here: bool,
}

impl Row {
    fn new(
        language: Language,
        (label, page): (&str, &str),
        edit: Option<String>,
        rule: Retention,
        in_force: EffectiveRetention,
    ) -> Self {
        let cell = |label, text, set: Option<i32>| Cell { label, text, is_set_here: set.is_some() };
        Self {
            label: label.to_owned(),
            page: page.to_owned(),
            edit,
            cells: [
                cell("retention-runs", days(language, in_force.days), rule.days),
                cell("retention-most", number(language, in_force.runs), rule.runs),
                cell("retention-failed", days(language, in_force.failure_days), rule.failure_days),
                cell("retention-last", language.text("number").with("number", in_force.failures), rule.failures),
            ],
        }
    }
}

/// `30 days`; 0: without end.
pub fn days(language: Language, count: i32) -> Message {
    match count {
        0 => language.text("for-ever"),
        count => language.text("span-days").count("count", count),
    }
}

/// 0 means without limit.
pub fn number(language: Language, count: i32) -> Message {
    match count {
        0 => language.text("no-limit"),
        count => language.text("number").with("number", count),
    }
}

#[derive(Template)]
#[template(path = "operations/retention.html")]
struct Page {
    context: PageContext,
    rows: Vec<Row>,
    is_cut: bool,
}

pub async fn page(state: Shared, context: PageContext) -> PageResult {
    let rules = state.store.retention().rules().await?;
    let edit = |may: bool, path: String| may.then_some(path);
    let everything = edit(context.may_administer_installation(), "/retention/edit".to_owned());
    let language = context.language;
    let all = context.t("all-jobs").to_string();
    let mut rows = vec![Row::new(language, (&all, ""), everything, rules.of(Scope::All), rules.keep(0, 0))];
    for app in state.store.apps().list(&context.visible()).await? {
        let path = edit(context.may_administer(&app.id), format!("/apps/{}/retention", app.id));
        let label = context.t("jobs-of").with("app", &app.name).to_string();
        rows.push(Row::new(language, (&label, ""), path, rules.of(Scope::App(app.id)), rules.keep(app.id, 0)));
    }
    let mut ids = rules.jobs();
    let is_cut = ids.len() > JOBS;
    ids.truncate(JOBS);
    if !ids.is_empty() {
        let filter = JobFilter { apps: context.visible(), ids, limit: JOBS as u32, ..JobFilter::default() };
        rows.extend(state.store.jobs().list(&filter).await?.items.into_iter().map(|job: Job| {
            let path = edit(context.may_edit(&job.app_id), format!("/jobs/{}/retention", job.id));
            let (rule, in_force) = (rules.of(Scope::Job(job.id)), rules.keep(job.app_id, job.id));
            Row::new(language, (&job.draft.name, &format!("/jobs/{}", job.id)), path, rule, in_force)
        }));
    }
    Ok(show(&Page { context, rows, is_cut }))
}

//! Backfills of a job: the range, a dry run first, the start, the progress, and cancelling.

use actix_web::web::{Path, Query};
use askama::Template;
use carillon_accounts::secret::hash;
use carillon_engine::manage::{BackfillRange, Error, MAX_CONCURRENT, MAX_INSTANTS};
use carillon_scheduler::{AuditAction, AuditObjectKind, FieldError, Millis};
use carillon_store::Job;
use carillon_store::audit::list::AuditFilter;
use carillon_store::backfill::backfills::{Backfill, BackfillResults};
use serde::Deserialize;

use crate::web::access::Caller;
use crate::web::console::badge::Badge;
use crate::web::forms::Form;
use crate::web::forms::moment::{self, moment};
use crate::web::page::{PageContext, PageError, PageResult, done, redirect_with_flash, render};
use crate::web::state::{Shared, State};

/// Backfills that are listed.
const LISTED: u32 = 20;
/// Instants of a backfill whose results are counted for the page.
const COUNTED: i32 = 20_000;
/// First and last instants that a dry run names.
const NAMED: usize = 3;

/// The form's fields and the keys of their labels.
const LABELS: &[(&str, &str)] = &[("from", "from"), ("to", "to"), ("max_concurrent", "backfill-concurrent")];

/// What a backfill would run.
struct DryRun {
    instants: usize,
    /// How many of them have a run already.
    skipped: usize,
    first: Vec<Millis>,
    /// The last ones that are not among the first.
    last: Vec<Millis>,
}

impl DryRun {
    fn new(instants: &[Millis], skipped: usize) -> Self {
        let first: Vec<Millis> = instants.iter().take(NAMED).copied().collect();
        let last = &instants[instants.len().saturating_sub(NAMED).max(first.len())..];
        Self { instants: instants.len(), skipped, last: last.to_vec(), first }
    }

    fn has_gap(&self) -> bool {
        self.instants > self.first.len() + self.last.len()
    }
}

#[derive(Template)]
#[template(path = "jobs/backfill.html")]
struct Page {
    context: PageContext,
    job: Job,
    form: Form,
    dry_run: Option<DryRun>,
    /// Executors of the app that do not hand the instant to their handlers.
    stock_executors: usize,
    backfills: Vec<Row>,
}

/// A backfill of the list.
struct Row {
    backfill: Backfill,
    /// None: it is too long to be counted each time, or none of its runs is kept.
    results: Option<BackfillResults>,
    /// None: the audit does not reach back to it.
    author: Option<String>,
}

impl Row {
    fn failed(&self) -> i64 {
        self.results.map_or(0, |results| results.on_record - results.succeeded - results.pending)
    }

    fn badge(&self) -> Badge {
        let badge = |word, tone, icon, moving| Badge { word, tone, icon, moving, hint: "" };
        let ended = self.backfill.finished_at.is_some() && self.results.is_none_or(|results| results.pending == 0);
        match (ended, self.backfill.cancelled) {
            (false, _) => badge("running", "running", "running", true),
            (true, true) => badge("cancelled", "none", "stop", false),
            (true, false) if self.results.is_none() => badge("backfill-ended", "none", "check", false),
            (true, false) if self.failed() > 0 => badge("backfill-ended", "failed", "cross", false),
            (true, false) => badge("backfill-ended", "ok", "check", false),
        }
    }
}

impl Page {
    fn label(&self, name: &str) -> &'static str {
        LABELS.iter().find(|(field, _)| *field == name).map_or("range", |(_, label)| label)
    }

    fn target(&self, name: &str) -> &'static str {
        LABELS.iter().find(|(field, _)| *field == name).map_or("from", |(field, _)| field)
    }

    fn is_moving(&self) -> bool {
        self.backfills.iter().any(|row| row.badge().moving)
    }

    fn most_instants(&self) -> usize {
        MAX_INSTANTS
    }

    fn most_concurrent(&self) -> i32 {
        MAX_CONCURRENT
    }
}

async fn page(state: &State, context: PageContext, job: Job, form: Form, dry_run: Option<DryRun>) -> PageResult {
    let backfills = rows(state, &job).await?;
    let executors = state.store.apps().executors_of(&job.draft.app).await?;
    // Their handlers learn the instant from the parameters alone.
    let names_instant = job.draft.params.contains("{{scheduled_at") || job.draft.params.contains("{{ scheduled_at");
    let stock_executors = executors
        .iter()
        .filter(|_| !names_instant)
        .filter(|it| it.is_live(context.now) && it.boot_id.is_none())
        .count();
    let status = form.status();
    Ok(render(&Page { context, job, form, dry_run, stock_executors, backfills }, status))
}

/// The newest backfills of a job, with their results and authors.
async fn rows(state: &State, job: &Job) -> Result<Vec<Row>, PageError> {
    let begun =
        AuditFilter { actions: vec![AuditAction::Backfill], ..AuditFilter::about(AuditObjectKind::Job, job.id) };
    let entries = state.store.audit().list(&begun).await?.items;
    let authors: Vec<(Option<i64>, String)> = entries
        .into_iter()
        .map(|entry| {
            let detail: serde_json::Value = serde_json::from_str(&entry.detail).unwrap_or_default();
            (detail["backfill"].as_i64(), entry.actor)
        })
        .collect();
    let mut rows = vec![];
    for backfill in state.store.backfills().list(job.id, None, LISTED).await?.items {
        let results = match backfill.instants {
            0..=COUNTED => Some(state.store.backfills().results(&backfill).await?),
            _ => None,
        };
        let results = results.filter(|results| results.on_record > 0);
        let author = authors.iter().find(|(id, _)| *id == Some(backfill.id)).map(|(_, name)| name.clone());
        rows.push(Row { backfill, results, author });
    }
    Ok(rows)
}

/// The range with which the form begins, for links.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct BackfillDefaults {
    from: String,
    to: String,
}

/// `GET /jobs/{id}/backfill`
pub async fn ask(state: Shared, context: PageContext, id: Path<i64>, defaults: Query<BackfillDefaults>) -> PageResult {
    let job = state.engine.jobs().get(*id).await?;
    let mut given = Form::default().with("from", &defaults.from).with("to", &defaults.to);
    let mut form = Form::default().with("max_concurrent", "1");
    for name in ["from", "to"] {
        if let Some(at) = moment(&mut given, name, context.zone) {
            form = moment::fill(form, name, Some(at), context.zone);
        }
    }
    page(&state, context, job, form, None).await
}

/// `POST /jobs/{id}/backfill`: a dry run, or the start of the range that a dry run has shown.
pub async fn start(state: Shared, by: Caller, context: PageContext, id: Path<i64>, mut form: Form) -> PageResult {
    let job = state.engine.jobs().get(*id).await?;
    if form.is("step", "preview") {
        return page(&state, context, job, form, None).await;
    }
    let Some((range, concurrent)) = range(&mut form, &context, job.id) else {
        return page(&state, context, job, form, None).await;
    };
    let shown = format!("{} {}", range.from_at, range.to_at);
    let made = state.engine.backfills().instants(range, &by.0).await;
    let seen = made.as_ref().map_or_else(|_| String::new(), |(instants, _)| hash(&format!("{instants:?}")));
    if form.is("step", "start") && form.is("shown", &shown) && made.is_ok() {
        if ["", &seen].contains(&form.value("instants")) {
            match state.engine.backfills().create(range, concurrent, &by.0).await {
                Ok(made) => {
                    let text = context.t("backfill-started").count("count", made.instants);
                    return Ok(done(&format!("/jobs/{}/backfill", job.id), text));
                }
                Err(error) => add_error(&mut form, error)?,
            }
        } else {
            let text = "The instants have changed since the dry run. Look at them again, then start the backfill.";
            form.add_error("range", text);
        }
    }
    form.set("shown", shown);
    form.set("instants", seen);
    let dry_run = match made {
        Ok((instants, made)) => Some(DryRun::new(&instants, made.len())),
        Err(error) => {
            add_error(&mut form, error)?;
            None
        }
    };
    page(&state, context, job, form, dry_run).await
}

/// None: a field is wrong.
fn range(form: &mut Form, context: &PageContext, job_id: i64) -> Option<(BackfillRange, i32)> {
    let (from, to) = (moment(form, "from", context.zone), moment(form, "to", context.zone));
    for (name, at) in [("from", from), ("to", to)] {
        if at.is_none() {
            form.add_error(name, "Choose the day and the time.");
        }
    }
    let concurrent = form.number("max_concurrent", 1);
    if !(1..=MAX_CONCURRENT).contains(&concurrent) {
        form.add_error("max_concurrent", format!("{concurrent} is not allowed; 1 to {MAX_CONCURRENT} runs"));
    }
    let (from_at, to_at) = from.zip(to)?;
    form.is_valid().then_some((BackfillRange { job_id, from_at, to_at }, concurrent))
}

fn add_error(form: &mut Form, error: Error) -> Result<(), PageError> {
    let Error::Invalid(errors) = error else {
        return Err(error.into());
    };
    // The schedule is no field here; its errors concern the job as a whole.
    let field = |error: FieldError| match error.field.as_str() {
        "schedule" => FieldError::new("range", error.message),
        _ => error,
    };
    form.add_errors(errors.into_iter().map(field).collect());
    Ok(())
}

/// `POST /backfills/{id}/cancel`
pub async fn cancel(state: Shared, by: Caller, context: PageContext, id: Path<i64>) -> PageResult {
    let backfill = state.engine.backfills().cancel(*id, &by.0).await?;
    let (kind, text) = match backfill.cancelled {
        true => ("ok", "backfill-is-cancelled"),
        false => ("failed", "backfill-was-complete"),
    };
    Ok(redirect_with_flash(&format!("/jobs/{}/backfill", backfill.job_id), kind, context.t(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dry_run_names_the_first_and_the_last_instants_once() {
        let of = |count: i64| {
            let instants: Vec<Millis> = (1..=count).collect();
            let dry = DryRun::new(&instants, 0);
            (dry.first.clone(), dry.last.clone(), dry.has_gap())
        };
        assert_eq!(of(1), (vec![1], vec![], false));
        assert_eq!(of(4), (vec![1, 2, 3], vec![4], false));
        assert_eq!(of(6), (vec![1, 2, 3], vec![4, 5, 6], false));
        assert_eq!(of(100), (vec![1, 2, 3], vec![98, 99, 100], true));
    }
}

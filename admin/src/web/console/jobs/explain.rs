//! Why a job ran at a time, or did not.

use actix_web::http::StatusCode;
use actix_web::web::{Path, Query};
use askama::Template;
use carillon_inspect::audit::GapReason;
use carillon_inspect::explain::{self, Explanation, Verdict};
use carillon_scheduler::Millis;
use carillon_store::Job;
use serde::Deserialize;

use crate::web::console::badge::Badge;
use crate::web::console::runs::row::RunRow;
use crate::web::forms::Form;
use crate::web::forms::moment::{self, moment};
use crate::web::page::{PageContext, PageResult, render};
use crate::web::state::Shared;

/// The answer for one instant.
struct Answer {
    at: Millis,
    badge: Badge,
    /// The story, one sentence each.
    sentences: Vec<String>,
    before: Option<Millis>,
    after: Option<Millis>,
    rows: Vec<RunRow>,
}

impl Answer {
    fn new(found: Explanation, context: &PageContext) -> Self {
        Self {
            at: found.at,
            badge: badge(found.verdict),
            sentences: found.sentences(context.language),
            before: found.nearby.before,
            after: found.nearby.after,
            rows: found.runs.into_iter().map(|it| RunRow::new(context, it.run)).collect(),
        }
    }
}

fn badge(verdict: Verdict) -> Badge {
    let (word, tone, icon) = match verdict {
        Verdict::Recorded => ("verdict-recorded", "ok", "check"),
        Verdict::Skipped => ("verdict-skipped", "waiting", "next"),
        Verdict::NoInstant | Verdict::FixedDelay => ("verdict-no-instant", "none", "dash"),
        Verdict::Excluded => ("verdict-excluded", "none", "calendar"),
        Verdict::Invalid => ("verdict-invalid", "none", "dash"),
        Verdict::BeforeJob => ("verdict-before-job", "none", "dash"),
        Verdict::Local => ("verdict-local", "ok", "check"),
        Verdict::Missing(GapReason::Unexplained) => ("verdict-lost", "failed", "warning"),
        Verdict::Missing(GapReason::Edited) => ("verdict-edited", "waiting", "edit"),
        Verdict::Missing(GapReason::Disabled) => ("verdict-disabled", "waiting", "pause"),
        Verdict::Missing(GapReason::Paused) => ("paused-by-engine", "waiting", "warning"),
        Verdict::Missing(GapReason::NotPlanned) => ("verdict-not-planned", "waiting", "clock"),
        Verdict::Missing(GapReason::UsedUp) => ("verdict-used-up", "none", "dash"),
        Verdict::Missing(GapReason::Pruned) => ("verdict-pruned", "none", "dash"),
        Verdict::Missing(GapReason::Unplannable | GapReason::Unknown) => ("not-known", "none", "question"),
    };
    Badge { word, tone, icon, moving: false, hint: "" }
}

#[derive(Template)]
#[template(path = "jobs/explain.html")]
struct Page {
    context: PageContext,
    job: Job,
    form: Form,
    answer: Option<Answer>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct ExplainQuery {
    /// `2026-11-21T09:00:00` in the form's zone, or an instant with its offset.
    at: String,
    /// What the form was filled with.
    at_was: String,
    times_in: String,
}

/// `GET /jobs/{id}/explain?at=`
pub async fn page(state: Shared, context: PageContext, id: Path<i64>, query: Query<ExplainQuery>) -> PageResult {
    let job = state.engine.jobs().get(*id).await?;
    let mut form = Form::default().with("at", &query.at).with(&moment::was("at"), &query.at_was);
    form.set(moment::ZONE, &query.times_in);
    let answer = match moment(&mut form, "at", context.zone) {
        Some(at) => {
            form = moment::fill(form, "at", Some(at), context.zone);
            let found = explain::explain(&state.store, job.id, at, context.now, &context.visible()).await?;
            found.map(|found| Answer::new(found, &context))
        }
        None => None,
    };
    let status = match form.is_valid() {
        true => StatusCode::OK,
        false => StatusCode::BAD_REQUEST,
    };
    Ok(render(&Page { context, job, form, answer }, status))
}

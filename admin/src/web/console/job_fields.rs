//! The fields of a job's form: what they are called, how a job fills them, and the definition that they make.

use carillon_scheduler::{
    BlockStrategy, CatchUp, ClockChanges, CronDraft, Facts, JobDraft, KindDraft, MisfirePolicy,
    RouteStrategy, ScheduleDraft,
};

use super::form::Form;
use super::problem::Problem;
use crate::store::{Definition, Job, Surroundings};
use crate::web::State;

/// The form's fields and what people call them.
pub const LABELS: &[(&str, &str)] = &[
    ("name", "Name"),
    ("app", "App"),
    ("handler", "Handler"),
    ("params", "Parameters"),
    ("kind", "Schedule"),
    ("expression", "Cron expression"),
    ("timezone", "Time zone"),
    ("clock_changes", "Clock changes"),
    ("seconds", "Every … seconds"),
    ("catch_up", "Late fires"),
    ("misfire", "Missed fires"),
    ("misfire_threshold_seconds", "Missed after"),
    ("route", "Route"),
    ("block", "While one is running"),
    ("timeout_seconds", "Time-out"),
    ("retries", "Retries"),
    ("enabled", "Enabled"),
];

/// A job as the form shows it.
pub fn filled(draft: &JobDraft) -> Form {
    let form = Form::default()
        .with("app", &draft.app)
        .with("name", &draft.name)
        .with("handler", &draft.handler)
        .with("params", &draft.params)
        .with("kind", draft.schedule.kind())
        .with("catch_up", draft.catch_up.as_str())
        .with("misfire", draft.misfire.as_str())
        .with(
            "misfire_threshold_seconds",
            draft.misfire_threshold_seconds.to_string(),
        )
        .with("route", draft.route.as_str())
        .with("block", draft.block.as_str())
        .with("timeout_seconds", draft.timeout_seconds.to_string())
        .with("retries", draft.retries.to_string())
        .with("enabled", if draft.enabled { "yes" } else { "" });
    match &draft.schedule.kind {
        KindDraft::Cron(cron) => form
            .with("expression", &cron.expression)
            .with("timezone", &cron.timezone)
            .with("clock_changes", cron.clock_changes.as_str()),
        KindDraft::FixedRate { seconds } => form
            .with("timezone", "UTC")
            .with("seconds", seconds.to_string()),
        _ => form.with("timezone", "UTC"),
    }
}

/// The schedule that was chosen; None if its numbers cannot be read, which the form then says.
pub fn schedule_of(form: &mut Form) -> Option<ScheduleDraft> {
    match form.value("kind") {
        "cron" => Some(
            KindDraft::Cron(CronDraft {
                expression: form.value("expression").to_owned(),
                timezone: form.value("timezone").trim().to_owned(),
                clock_changes: form.word::<ClockChanges>("clock_changes"),
            })
            .into(),
        ),
        "fixed_rate" => {
            let seconds = form.number("seconds", 0);
            form.error("seconds")
                .is_none()
                .then(|| ScheduleDraft::fixed_rate(seconds))
        }
        "none" | "" => Some(ScheduleDraft::none()),
        other => {
            let text = format!("`{other}` is no kind of schedule");
            form.refuse("kind", text);
            None
        }
    }
}

/// The checked definition; None: the form says what is wrong.
pub async fn definition(
    state: &State,
    form: &mut Form,
    before: Option<&Job>,
    now: i64,
) -> Result<Option<Definition>, Problem> {
    let schedule = schedule_of(form);
    let draft = JobDraft {
        app: form.value("app").to_owned(),
        name: form.value("name").to_owned(),
        handler: form.value("handler").to_owned(),
        // Browsers send line ends as CR LF, whatever was typed.
        params: form.value("params").replace("\r\n", "\n"),
        schedule: schedule.unwrap_or_default(),
        catch_up: form.word::<CatchUp>("catch_up"),
        misfire: form.word::<MisfirePolicy>("misfire"),
        misfire_threshold_seconds: form.number("misfire_threshold_seconds", 60),
        route: form.word::<RouteStrategy>("route"),
        block: form.word::<BlockStrategy>("block"),
        timeout_seconds: form.number("timeout_seconds", 0),
        retries: form.number("retries", 0),
        enabled: form.is("enabled", "yes"),
        ..before.map_or_else(|| JobDraft::new("", "", ""), |job| job.draft.clone())
    };
    let app = match draft.app.is_empty() {
        true => None,
        false => state.store.app_by_name(&draft.app).await?,
    };
    let calendars = state
        .store
        .calendars_named(&draft.schedule.calendars)
        .await?;
    let checked = match &app {
        Some(app) => Definition::check_in(
            match before {
                None => Surroundings::new(app, &calendars),
                Some(job) => Surroundings::of(app, job, &calendars),
            },
            &draft,
            now,
        ),
        None => {
            form.refuse("app", "Choose the app whose executors run it.");
            draft
                .validate(&Facts::anchored(now), None, now)
                .and(Err(vec![]))
        }
    };
    match checked {
        Ok(definition) if form.is_fine() => Ok(Some(definition)),
        Ok(_) => Ok(None),
        Err(errors) => {
            form.refuse_all(errors);
            Ok(None)
        }
    }
}

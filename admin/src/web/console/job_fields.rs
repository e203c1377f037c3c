//! The fields of a job's form: what they are called, how a job fills them, and the definition that they make.

use carillon_scheduler::{BlockStrategy, CatchUp, JobDraft, MisfirePolicy, Overlap, RouteStrategy, ScheduleContext};
use chrono_tz::Tz;

use super::form::Form;
use super::problem::Problem;
use super::schedule_fields::{self, schedule_of};
use crate::store::{Definition, Job};
use crate::web::State;
use crate::web::around::Around;
use crate::web::forms::{child_jobs, retry_form};

const WHAT: &[(&str, &str)] = &[("name", "Name"), ("app", "App"), ("handler", "Handler"), ("params", "Parameters")];
const HOW: &[(&str, &str)] = &[
    ("catch_up", "Catch-up"),
    ("misfire_threshold_seconds", "Misfire threshold"),
    ("misfire", "Misfire"),
    ("misfire_limit", "Misfire limit"),
    ("misfire_window_seconds", "Misfire window"),
    ("route", "Route"),
    ("route_labels", "Labels"),
    ("overlap", "Overlap"),
    ("overlap_queue", "Overlap queue"),
    ("block", "Block strategy"),
    ("timeout_seconds", "Time-out"),
    ("flag_after_seconds", "Flag if not sent within"),
    ("retries", "Retries"),
];
const LAST: &[(&str, &str)] = &[("enabled", "Enabled")];

/// The form's fields and their labels, in the order of the page.
pub fn labels() -> Vec<(&'static str, &'static str)> {
    [WHAT, schedule_fields::LABELS, HOW, retry_form::LABELS, child_jobs::LABELS, LAST].concat()
}

/// A job as the form shows it to a viewer in this zone.
pub fn filled(draft: &JobDraft, zone: Tz) -> Form {
    let form = Form::default()
        .with("app", &draft.app)
        .with("name", &draft.name)
        .with("handler", &draft.handler)
        .with("params", &draft.params)
        .with("catch_up", draft.catch_up.as_str())
        .with("misfire", draft.misfire.as_str())
        .with("misfire_threshold_seconds", draft.misfire_threshold_seconds.to_string())
        .with("misfire_limit", draft.misfire_limit.to_string())
        .with("misfire_window_seconds", draft.misfire_window_seconds.to_string())
        .with("route", draft.route.as_str())
        .with("route_labels", &draft.route_labels)
        .with("overlap", draft.overlap.as_str())
        .with("overlap_queue", draft.overlap_queue.to_string())
        .with("block", draft.block.as_str())
        .with("timeout_seconds", draft.timeout_seconds.to_string())
        .with("retries", draft.retries.to_string())
        .with("flag_after_seconds", draft.flag_after_seconds.to_string())
        .with("enabled", if draft.enabled { "yes" } else { "" });
    let form = retry_form::fill(form, &draft.retry_delay);
    schedule_fields::fill(child_jobs::fill(form, draft), &draft.schedule, zone)
}

/// The same form as it would be filled from the job that it makes: what is absent has its default, and what does not belong
/// to the chosen schedule is gone.
pub fn normal(form: &Form, zone: Tz) -> Form {
    filled(&draft(&mut form.clone(), zone), zone)
}

/// The draft that was filled in; what cannot be read has its default, and the form says so.
fn draft(form: &mut Form, zone: Tz) -> JobDraft {
    let schedule = schedule_of(form, zone);
    JobDraft {
        app: form.value("app").to_owned(),
        name: form.value("name").to_owned(),
        handler: form.value("handler").to_owned(),
        // Browsers send line ends as CR LF, whatever was typed.
        params: form.value("params").replace("\r\n", "\n"),
        schedule: schedule.unwrap_or_default(),
        catch_up: form.word::<CatchUp>("catch_up"),
        misfire: form.word::<MisfirePolicy>("misfire"),
        misfire_threshold_seconds: form.number("misfire_threshold_seconds", 60),
        misfire_limit: form.number("misfire_limit", 100),
        misfire_window_seconds: form.number("misfire_window_seconds", 3_600),
        route: form.word::<RouteStrategy>("route"),
        route_labels: form.value("route_labels").to_owned(),
        overlap: form.word::<Overlap>("overlap"),
        overlap_queue: form.number("overlap_queue", 10),
        block: form.word::<BlockStrategy>("block"),
        timeout_seconds: form.number("timeout_seconds", 0),
        retries: form.number("retries", 0),
        retry_delay: retry_form::retry_delay(form),
        children: child_jobs::children(form),
        flag_after_seconds: form.number("flag_after_seconds", 0),
        enabled: form.is("enabled", "yes"),
    }
}

/// The checked definition; None: the form says what is wrong.
pub async fn definition(
    state: &State,
    form: &mut Form,
    before: Option<&Job>,
    zone: Tz,
) -> Result<Option<Definition>, Problem> {
    let now = state.clock.now();
    let draft = draft(form, zone);
    let app = match draft.app.is_empty() {
        true => None,
        false => state.store.app_by_name(&draft.app).await?,
    };
    let mut around = Around::of(state, std::slice::from_ref(&draft), before).await?;
    let checked = match &app {
        Some(app) => {
            let (surroundings, _) = around.surroundings(app, &draft, before, now);
            Definition::check_in(surroundings, &draft, now)
        }
        None => {
            form.refuse("app", "Choose the app whose executors run it.");
            let calendars = around.calendars(&draft);
            let facts = ScheduleContext { calendars: calendars.list(), ..ScheduleContext::from_anchor(now) };
            draft.validate(&facts, None, now).and(Err(vec![]))
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

//! The fields of a job's form: the keys of their labels, how a job fills them, and the definition that they describe.

use carillon_scheduler::{BlockStrategy, CatchUp, JobDraft, MisfirePolicy, Overlap, RouteStrategy, Zone};

use crate::web::forms::form::Form;
use crate::web::forms::schedule_form;
use crate::web::forms::{child_jobs, line_ends, retry_form};

const WHAT: &[(&str, &str)] = &[
    ("name", "name"),
    ("app", "app"),
    ("handler", "handler"),
    ("params", "parameters"),
    ("description", "description"),
    ("owner", "owner"),
    ("tags", "tags"),
];
const HOW: &[(&str, &str)] = &[
    ("catch_up", "catch-up"),
    ("misfire_threshold_seconds", "misfire-threshold"),
    ("misfire", "misfire"),
    ("misfire_limit", "misfire-limit"),
    ("misfire_window_seconds", "misfire-window"),
    ("route", "route"),
    ("route_labels", "labels"),
    ("overlap", "overlap"),
    ("overlap_queue", "overlap-queue"),
    ("block", "block-strategy"),
    ("timeout_seconds", "time-out"),
    ("flag_after_seconds", "flag-if-not-sent"),
    ("retries", "retries"),
    ("pause_after_failures", "pause-after-failures"),
];
const LAST: &[(&str, &str)] = &[("enabled", "job-enabled")];

/// The form's fields and the keys of their labels, in the order of the page.
pub fn labels() -> Vec<(&'static str, &'static str)> {
    [WHAT, schedule_form::LABELS, HOW, retry_form::LABELS, child_jobs::LABELS, LAST].concat()
}

/// A job as the form shows it to a viewer in this zone.
pub fn filled(draft: &JobDraft, zone: Zone) -> Form {
    let form = Form::default()
        .with("app", &draft.app)
        .with("name", &draft.name)
        .with("handler", &draft.handler)
        .with("params", &draft.params)
        .with("description", &draft.description)
        .with("owner", &draft.owner)
        .with("tags", draft.tags.join(" "))
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
        .with("pause_after_failures", draft.pause_after_failures.to_string())
        .with("enabled", if draft.enabled { "yes" } else { "" });
    let form = retry_form::fill(form, &draft.retry_delay);
    schedule_form::fill(child_jobs::fill(form, draft), &draft.schedule, zone)
}

/// The form as the job that it describes would fill it: absent fields get their defaults, and fields that do not belong to the
/// chosen kinds are reset.
pub fn normal(form: &Form, zone: Zone) -> Form {
    filled(&draft(&mut form.clone(), zone), zone)
}

/// The draft that was filled in. A value that cannot be read gets its default and an error in the form.
pub fn draft(form: &mut Form, zone: Zone) -> JobDraft {
    if form.value("app").is_empty() {
        form.add_error("app", "Choose the app whose executors run it.");
    }
    let schedule = schedule_form::read(form, zone);
    JobDraft {
        app: form.value("app").to_owned(),
        name: form.value("name").to_owned(),
        handler: form.value("handler").to_owned(),
        params: line_ends::plain(form.value("params")),
        description: line_ends::plain(form.value("description")),
        owner: form.value("owner").to_owned(),
        tags: tags(form.value("tags")),
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
        pause_after_failures: form.number("pause_after_failures", 0),
        enabled: form.is("enabled", "yes"),
    }
}

/// Between blanks or commas.
fn tags(text: &str) -> Vec<String> {
    let mut tags: Vec<String> =
        text.split(|c: char| c == ',' || c.is_whitespace()).filter(|tag| !tag.is_empty()).map(str::to_owned).collect();
    tags.sort_unstable();
    tags.dedup();
    tags
}

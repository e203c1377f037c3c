//! The fields of a job's form: the keys of their labels, how a job fills them, and the definition that they describe.

use carillon_scheduler::job::{NOTES, Note};
use carillon_scheduler::{BlockStrategy, JobDraft, RouteStrategy, Zone};

use crate::web::forms::form::Form;
use crate::web::forms::{
    child_jobs, curl_form, http_form, line_ends, parts_form, retry_form, schedule_form, script_form, workflow_form,
};

/// A field that is one member of the definition, under its name.
struct Field {
    name: &'static str,
    /// The key of its label.
    label: &'static str,
    fill: fn(&JobDraft) -> String,
    read: fn(&mut Form, &mut JobDraft),
}

/// `member kind label`. An empty field of kind `word`, `number` or `seconds` means the default.
macro_rules! fields {
    ($($member:ident $kind:ident $label:literal,)+) => { &[$(Field {
        name: stringify!($member),
        label: $label,
        fill: |draft| fields!(@fill $kind draft.$member),
        read: |form, draft| draft.$member = fields!(@read $kind form, stringify!($member), draft.$member),
    },)+] };
    (@fill tags $value:expr) => { $value.join(" ") };
    (@fill parts $value:expr) => { parts_form::fill(&$value) };
    (@fill yes $value:expr) => { if $value { "yes" } else { "" }.to_owned() };
    (@fill $kind:ident $value:expr) => { $value.to_string() };
    (@read text $form:ident, $name:expr, $default:expr) => { $form.value($name).to_owned() };
    (@read lines $form:ident, $name:expr, $default:expr) => { line_ends::plain($form.value($name)) };
    (@read parts $form:ident, $name:expr, $default:expr) => { parts_form::read($form.value($name)) };
    (@read tags $form:ident, $name:expr, $default:expr) => { tags($form.value($name)) };
    (@read yes $form:ident, $name:expr, $default:expr) => { $form.is($name, "yes") };
    (@read word $form:ident, $name:expr, $default:expr) => { $form.word($name) };
    (@read $kind:ident $form:ident, $name:expr, $default:expr) => { $form.$kind($name, $default) };
}

/// The keys of the hints of notes, in their order.
const HINTS: [&str; NOTES.len()] = ["owner-hint"];

/// The notes of a job, each with the key of its hint.
pub fn notes() -> impl Iterator<Item = (&'static Note, &'static str)> {
    NOTES.iter().zip(HINTS)
}

const WHAT: &[Field] = fields! {
    name text "name",
    app text "app",
    handler text "handler",
    params lines "parameters",
    takes_result yes "takes-result",
    parts parts "parts",
    key text "job-key",
    description lines "description",
    owner text "owner",
    tags tags "tags",
};
const HOW: &[Field] = fields! {
    durability word "durability",
    catch_up word "catch-up",
    misfire_threshold_seconds seconds "misfire-threshold",
    misfire word "misfire",
    misfire_limit number "misfire-limit",
    misfire_window_seconds seconds "misfire-window",
    route word "route",
    route_labels text "labels",
    overlap word "overlap",
    overlap_queue number "overlap-queue",
    max_concurrent number "max-concurrent",
    limits tags "job-limits",
    priority seconds "priority",
    block word "block-strategy",
    timeout_seconds seconds "time-out",
    flag_after_seconds seconds "flag-if-not-sent",
    start_within_seconds seconds "start-within",
    retries number "retries",
    pause_after_failures number "pause-after-failures",
};
const LAST: &[Field] = fields! { enabled yes "job-enabled", };

fn plain_fields() -> impl Iterator<Item = &'static Field> {
    [WHAT, HOW, LAST].into_iter().flatten()
}

/// The form's fields and the keys of their labels, in the order of the page.
pub fn labels() -> Vec<(&'static str, &'static str)> {
    let of = |fields: &[Field]| fields.iter().map(|field| (field.name, field.label)).collect::<Vec<_>>();
    let (what, how, last) = (of(WHAT), of(HOW), of(LAST));
    [
        &what,
        script_form::LABELS,
        workflow_form::LABELS,
        curl_form::LABELS,
        http_form::LABELS,
        schedule_form::LABELS,
        &how,
        retry_form::LABELS,
        child_jobs::LABELS,
        &last,
    ]
    .concat()
}

/// The fields of these members.
pub fn fields_of(members: &[String]) -> Vec<&'static str> {
    let mut fields = vec![];
    for member in members {
        let of_member: &[(&'static str, &'static str)] = match member.as_str() {
            "schedule" => schedule_form::LABELS,
            "retry_delay" => retry_form::LABELS,
            "children" => child_jobs::LABELS,
            "workflow" => workflow_form::LABELS,
            _ => &[],
        };
        fields.extend(of_member.iter().map(|(name, _)| *name));
        fields.extend(plain_fields().map(|field| field.name).filter(|name| *name == member.as_str()));
        // A job with a handler of the code is not made one of another kind.
        fields.extend((member == "handler").then_some("runs"));
    }
    fields
}

/// A job as the form shows it to a viewer in this zone.
pub fn filled(draft: &JobDraft, zone: Zone) -> Form {
    let form = plain_fields().fold(Form::default(), |form, field| form.with(field.name, (field.fill)(draft)));
    let form = retry_form::fill(form, &draft.retry_delay);
    let form = http_form::fill(workflow_form::fill(child_jobs::fill(form, draft), draft), draft);
    schedule_form::fill(form, &draft.schedule, zone)
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
    let mut draft = JobDraft::new("", "", "");
    draft.schedule = schedule_form::read(form, zone).unwrap_or_default();
    for field in plain_fields() {
        (field.read)(form, &mut draft);
    }
    draft.retry_delay = retry_form::retry_delay(form);
    draft.children = child_jobs::children(form);
    if workflow_form::is_chosen(form) {
        // One that cannot be read has its errors; the others are those of any job.
        draft.workflow = workflow_form::workflow(form);
        draft.handler = if draft.workflow.is_some() { String::new() } else { "workflow".to_owned() };
    }
    if http_form::is_chosen(form) {
        draft.http = Some(http_form::request(form));
        // Fields that the page does not show then.
        (draft.handler, draft.route, draft.route_labels) = (String::new(), RouteStrategy::default(), String::new());
        (draft.block, draft.timeout_seconds) = (BlockStrategy::default(), 0);
    }
    draft
}

/// Between blanks or commas.
fn tags(text: &str) -> Vec<String> {
    let mut tags: Vec<String> =
        text.split(|c: char| c == ',' || c.is_whitespace()).filter(|tag| !tag.is_empty()).map(str::to_owned).collect();
    tags.sort_unstable();
    tags.dedup();
    tags
}

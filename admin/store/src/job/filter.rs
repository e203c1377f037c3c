//! Which jobs a list shows, and in which order.

use carillon_scheduler::{Millis, RunState};
use sea_orm::{DbBackend, Value};

use crate::db::sql::contains::Contains;
use crate::db::sql::filter::{Conditions, Search};
use crate::people::grants::VisibleApps;

/// Which jobs; the default is all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobFilter {
    /// Only those of these apps.
    pub apps: VisibleApps,
    /// Part of the name, the handler, the description or a tag, in any case; or the whole id.
    pub text: Option<String>,
    /// The whole name.
    pub name: Option<String>,
    /// One of these; empty: any.
    pub ids: Vec<i64>,
    /// The app's name.
    pub app: Option<String>,
    /// The whole owner.
    pub owner: Option<String>,
    pub tag: Option<String>,
    pub enabled: Option<bool>,
    /// The schedule's kind: `cron`, `fixed_rate`, `none`.
    pub kind: Option<String>,
    /// The name of a calendar that their schedules use.
    pub calendar: Option<String>,
    /// The result of the last run that has one, among the newest runs, or a failure before them; empty: any, or none.
    pub last_results: Vec<RunState>,
    pub sort: JobSort,
    /// By id: jobs with a smaller id than this. Otherwise: the number of jobs before the page.
    pub after: Option<i64>,
    /// 1 to 1000.
    pub limit: u32,
}

/// The order of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JobSort {
    /// Newest first.
    #[default]
    Id,
    Name,
    /// Soonest after this first; only those that fire.
    NextFire(Millis),
    /// Failures first, then the newest; only those that have a result among the newest runs.
    LastResult,
}

impl JobSort {
    pub const WORDS: [&'static str; 4] = ["id", "name", "next_fire", "last_result"];

    /// The order that a word of [`Self::WORDS`] stands for.
    pub fn from_word(word: &str, now: Millis) -> Option<Self> {
        match word {
            "id" => Some(Self::Id),
            "name" => Some(Self::Name),
            "next_fire" => Some(Self::NextFire(now)),
            "last_result" => Some(Self::LastResult),
            _ => None,
        }
    }
}

/// What a run can have as its result, for [`JobFilter::last_results`].
pub const RESULTS: [RunState; 5] =
    [RunState::Succeeded, RunState::Failed, RunState::Lost, RunState::Unknown, RunState::Killed];

/// The newest run with a result of each job, above an id.
pub(crate) const LAST_RESULTS: &str = "SELECT job_id, MAX(id) AS last_id FROM run WHERE id > ? AND state IN ({state.succeeded}, {state.failed}, \
     {state.lost}, {state.unknown}, {state.killed}) GROUP BY job_id";

impl JobFilter {
    /// Whether a page of it may lie far back. An app's jobs and paused ones have an index; a name is to be found wherever it is.
    pub(crate) fn is_narrow(&self) -> bool {
        self.name.is_none() && (self.text.is_some() || self.kind.is_some())
    }

    /// Whether it asks for the newest runs.
    pub(crate) fn needs_results(&self) -> bool {
        !self.last_results.is_empty() || self.sort == JobSort::LastResult
    }
}

/// `above`: the run from which on results count.
pub(crate) fn conditions(backend: DbBackend, filter: &JobFilter, search: Search, above: i64) -> Conditions {
    let mut conditions = Conditions::default();
    conditions.visible(&filter.apps, "j.app_id");
    if let Some(text) = filter.text.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
        add_text(&mut conditions, backend, text);
    }
    conditions.add_if("j.name = ?", filter.name.as_deref());
    conditions.among("j.id", filter.ids.iter().copied());
    conditions.add_if("j.app_id = (SELECT id FROM app WHERE name = ?)", filter.app.as_deref());
    conditions.add_if("j.id IN (SELECT job_id FROM job_label WHERE owner = ?)", filter.owner.as_deref());
    conditions.add_if("j.id IN (SELECT job_id FROM job_tag WHERE tag = ?)", filter.tag.as_deref());
    match filter.enabled {
        Some(true) => conditions.add("j.enabled = TRUE", []),
        // The words of the index `job_paused`.
        Some(false) => conditions.add("j.enabled = FALSE", []),
        None => {}
    }
    conditions.add_if(kind_is(backend), filter.kind.as_deref());
    conditions.add_if(
        "j.id IN (SELECT u.job_id FROM job_calendar u JOIN calendar c ON c.id = u.calendar_id WHERE c.name = ?)",
        filter.calendar.as_deref(),
    );
    if !filter.last_results.is_empty() {
        let states: Vec<String> = filter.last_results.iter().map(|state| state.code().to_string()).collect();
        // Failures are kept longer than the newest runs reach.
        let states = states.join(",");
        let text = format!(
            "(j.id IN (SELECT r.job_id FROM ({LAST_RESULTS}) AS l JOIN run r ON r.id = l.last_id WHERE r.state IN ({states})) \
             OR j.id IN (SELECT f.job_id FROM report_failing f JOIN run r ON r.id = f.run_id WHERE r.state IN ({states}) \
             AND f.job_id NOT IN (SELECT job_id FROM ({LAST_RESULTS}) AS newer)))"
        );
        conditions.add(text, [above.into(), above.into()]);
    }
    conditions.add_if("j.id >= ?", search.bottom);
    conditions
}

/// Without statistics SQLite would look up and sort all jobs of a kind, which may be nearly all there are.
fn kind_is(backend: DbBackend) -> &'static str {
    match backend {
        DbBackend::Sqlite => "+j.schedule_kind = ?",
        _ => "j.schedule_kind = ?",
    }
}

/// Part of the name, the handler, the description or a tag, in any case.
fn add_text(conditions: &mut Conditions, backend: DbBackend, text: &str) {
    let contains = Contains::new(backend, text);
    let (mut either, mut values): (Vec<String>, Vec<Value>) = (vec![], vec![]);
    for column in ["j.name", "j.handler"] {
        either.push(contains.condition(column));
        values.extend(contains.values());
    }
    let (description, tags) = (contains.condition("description"), contains.condition("tags"));
    either.push(format!("j.id IN (SELECT job_id FROM job_label WHERE {description} OR {tags})"));
    values.extend([contains.values(), contains.values()].concat());
    if let Ok(id) = text.parse::<i64>() {
        either.push("j.id = ?".to_owned());
        values.push(id.into());
    }
    conditions.add(format!("({})", either.join(" OR ")), values);
}

//! Which runs a list shows, and in which order.

use carillon_scheduler::{Cause, Millis, RunState};
use sea_orm::{DbBackend, Value};

use crate::db::sql::contains::Contains;
use crate::db::sql::filter::Conditions;
use crate::people::grants::VisibleApps;

/// Which runs; the default is all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Only those of these apps.
    pub apps: VisibleApps,
    pub job_id: Option<i64>,
    /// The app's name.
    pub app: Option<String>,
    /// The whole owner of the job.
    pub owner: Option<String>,
    /// A tag of the job.
    pub tag: Option<String>,
    /// Part of the job's name or of the result, in any case; or the whole id.
    pub text: Option<String>,
    /// Any of these; empty: any at all.
    pub states: Vec<RunState>,
    pub cause: Option<Cause>,
    /// `from` ≤ `scheduled_at` < `to`.
    pub from: Option<Millis>,
    pub to: Option<Millis>,
    /// Only the last attempt of each part of a fire.
    pub is_last_attempt: bool,
    /// Only runs that no later run repeats.
    pub is_not_rerun: bool,
    pub sort: RunSort,
    /// By id: runs with a smaller id than this. Otherwise: the number of runs before the page.
    pub after: Option<i64>,
    /// 1 to 1000.
    pub limit: u32,
}

/// The order of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunSort {
    /// Newest first.
    #[default]
    Id,
    /// By the fire's instant, the latest first; of the newest runs.
    Time,
    /// The longest first, from the request to the outcome; of the newest runs.
    Duration,
    /// The latest first, from the due time to the request; of the newest runs.
    Lateness,
}

impl RunSort {
    pub const WORDS: [&'static str; 4] = ["id", "time", "duration", "lateness"];

    /// The order that a word of [`Self::WORDS`] stands for.
    pub fn from_word(word: &str) -> Option<Self> {
        let orders = [Self::Id, Self::Time, Self::Duration, Self::Lateness];
        let found = Self::WORDS.iter().position(|known| *known == word);
        found.map(|index| orders[index])
    }

    pub(crate) fn order(self) -> &'static str {
        match self {
            Self::Id => "r.id DESC",
            Self::Time => "r.scheduled_at DESC, r.id DESC",
            Self::Duration => "COALESCE(r.finished_at - r.sent_at, -1) DESC, r.id DESC",
            Self::Lateness => "COALESCE(r.sent_at - r.due_at, -1) DESC, r.id DESC",
        }
    }
}

/// Ids that one page of a filter looks at. There is no index by job, time or cause: each claim would pay for it.
pub const SEARCHED_RUN_IDS: i64 = 100_000;
/// The same where a text is looked for.
const SEARCHED_FOR_TEXT: i64 = 25_000;
/// The same where they are sorted.
const SORTED: i64 = 50_000;

impl RunFilter {
    /// Whether a run may lack what it asks for, or the newest ones are sorted.
    pub(crate) fn is_narrow(&self) -> bool {
        let all = Self { after: self.after, limit: self.limit, ..Self::default() };
        *self != all
    }

    /// For a sorted list: how many runs are before the page.
    pub(crate) fn runs_before(&self) -> i64 {
        self.after.unwrap_or(0).max(0)
    }

    /// How many ids one page of it looks at.
    pub fn searched_ids(&self) -> i64 {
        match (&self.text, self.sort) {
            (Some(_), _) => SEARCHED_FOR_TEXT,
            (None, RunSort::Id) => SEARCHED_RUN_IDS,
            _ => SORTED,
        }
    }

    /// Whether the index of open runs finds them.
    pub(crate) fn is_open(&self) -> bool {
        !self.states.is_empty() && self.states.iter().all(|state| state.is_open())
    }
}

pub(crate) fn conditions(backend: DbBackend, filter: &RunFilter) -> Conditions {
    let mut conditions = Conditions::default();
    conditions.visible(&filter.apps, "r.app_id");
    conditions.add_if("r.job_id = ?", filter.job_id);
    conditions.add_if("r.app_id = (SELECT id FROM app WHERE name = ?)", filter.app.as_deref());
    conditions.add_if("r.job_id IN (SELECT job_id FROM job_label WHERE owner = ?)", filter.owner.as_deref());
    conditions.add_if("r.job_id IN (SELECT job_id FROM job_tag WHERE tag = ?)", filter.tag.as_deref());
    if let Some(text) = filter.text.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
        add_text(&mut conditions, backend, text);
    }
    conditions.among("r.state", filter.states.iter().map(|state| state.code()));
    conditions.add_if("r.cause = ?", filter.cause.map(Cause::code));
    // A run that has handed in items stands for their deliveries.
    if filter.cause.is_none() && filter.text.is_none() {
        conditions.add("r.cause <> {cause.item}", []);
    }
    conditions.add_if("r.scheduled_at >= ?", filter.from);
    conditions.add_if("r.scheduled_at < ?", filter.to);
    if filter.is_last_attempt {
        let text = "NOT EXISTS (SELECT 1 FROM run AS later WHERE later.fire_no = r.fire_no AND later.job_id = r.job_id \
                    AND later.cause = r.cause AND later.part = r.part AND later.attempt = r.attempt + 1)";
        conditions.add(text, []);
    }
    if filter.is_not_rerun {
        conditions.add("NOT EXISTS (SELECT 1 FROM run_input AS again WHERE again.rerun_of = r.id)", []);
    }
    conditions
}

fn add_text(conditions: &mut Conditions, backend: DbBackend, text: &str) {
    let contains = Contains::new(backend, text);
    let (result, name) = (contains.condition("r.result_msg"), contains.condition("named.name"));
    let mut values: Vec<Value> = [contains.values(), contains.values()].concat();
    let mut text_condition = format!(
        "{result} OR EXISTS (SELECT 1 FROM job AS named WHERE named.id = r.job_id AND named.app_id = r.app_id AND {name})"
    );
    if let Ok(id) = text.parse::<i64>() {
        text_condition.push_str(" OR r.id = ?");
        values.push(id.into());
    }
    conditions.add(format!("({text_condition})"), values);
}

//! The filters of the list of jobs: as they stand in the address, and in the form that does something with all that match.

use carillon_scheduler::{KindDraft, RunState, check_tag};
use carillon_store::{JobFilter, JobSort};
use serde::Deserialize;

use crate::web::console::app_filter::{WrongFilters, check_app};
use crate::web::forms::Form;
use crate::web::page::{PageContext, PageError, list_address};
use crate::web::state::State;

/// Words of the last result, and the keys of their texts.
pub const RESULT_GROUPS: [(&str, &str); 4] = [
    ("trouble", "state-trouble"),
    ("failed", "result-is-failed"),
    ("killed", "result-is-killed"),
    ("succeeded", "result-is-succeeded"),
];
/// Words of the order, and the keys of their texts.
pub const SORTS: [(&str, &str); 4] =
    [("", "newest-first"), ("name", "by-name"), ("next_fire", "by-next-fire"), ("last_result", "failures-first")];

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ListQuery {
    pub text: String,
    pub app: String,
    pub owner: String,
    pub tag: String,
    /// `enabled` or `paused`.
    pub state: String,
    pub kind: String,
    /// A word of [`RESULT_GROUPS`].
    pub result: String,
    pub sort: String,
    pub after: Option<i64>,
}

impl ListQuery {
    /// The hidden fields of a form.
    pub fn of_form(form: &Form) -> Self {
        let value = |name: &str| form.value(name).to_owned();
        Self {
            text: value("text"),
            app: value("app"),
            owner: value("owner"),
            tag: value("tag"),
            state: value("state"),
            kind: value("kind"),
            result: value("result"),
            sort: String::new(),
            after: None,
        }
    }

    /// The filter, and what is wrong with it.
    pub async fn filter(&self, state: &State, context: &PageContext) -> Result<(JobFilter, WrongFilters), PageError> {
        let given = |text: &str| Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned);
        let filter = JobFilter {
            apps: context.visible(),
            text: given(&self.text),
            app: given(&self.app),
            owner: given(&self.owner),
            tag: given(&self.tag),
            enabled: match self.state.as_str() {
                "enabled" => Some(true),
                "paused" => Some(false),
                _ => None,
            },
            kind: given(&self.kind),
            last_results: results(&self.result),
            sort: JobSort::from_word(&self.sort, context.now).unwrap_or_default(),
            after: self.after,
            ..JobFilter::default()
        };
        let mut wrong = self.wrong();
        check_app(state, context, filter.app.as_deref(), &mut wrong).await?;
        Ok((filter, wrong))
    }

    fn wrong(&self) -> WrongFilters {
        let mut wrong = vec![];
        if !["", "enabled", "paused"].contains(&self.state.as_str()) {
            wrong.push(("state", format!("“{:.64}” is no state of a job", self.state)));
        }
        if !self.kind.is_empty() && !KindDraft::WORDS.contains(&self.kind.as_str()) {
            wrong.push(("schedule", format!("“{:.64}” is no kind of schedule", self.kind)));
        }
        if !self.result.is_empty() && results(&self.result).is_empty() {
            wrong.push(("last-result", format!("“{:.64}” is no result of a run", self.result)));
        }
        if !self.sort.is_empty() && !JobSort::WORDS.contains(&self.sort.as_str()) {
            wrong.push(("order", format!("“{:.64}” is no order of jobs", self.sort)));
        }
        let tag = self.tag.trim();
        if !tag.is_empty()
            && let Err(message) = check_tag(tag)
        {
            wrong.push(("tag", message));
        }
        wrong
    }

    /// What is kept when something is done with all that match.
    pub fn filters(&self) -> [(&'static str, &str); 7] {
        [
            ("text", &self.text),
            ("app", &self.app),
            ("owner", &self.owner),
            ("tag", &self.tag),
            ("state", &self.state),
            ("kind", &self.kind),
            ("result", &self.result),
        ]
    }

    pub fn is_filtered(&self) -> bool {
        self.filters().iter().any(|(_, value)| !value.is_empty())
    }

    pub fn address(&self, after: Option<i64>) -> String {
        let filters = self.filters();
        let sort = ("sort", self.sort.as_str());
        let pairs: Vec<(&str, &str)> = filters.into_iter().chain([sort]).collect();
        list_address("/jobs", &pairs, after)
    }
}

/// The states of a word of the filter.
fn results(word: &str) -> Vec<RunState> {
    match word {
        "trouble" => vec![RunState::Failed, RunState::Lost, RunState::Unknown],
        word => word.parse().into_iter().filter(|state| carillon_store::job::filter::RESULTS.contains(state)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_says_it_all() {
        let query =
            ListQuery { tag: "a".into(), result: "trouble".into(), sort: "name".into(), ..ListQuery::default() };
        assert_eq!(query.address(Some(50)), "/jobs?tag=a&result=trouble&sort=name&after=50");
        assert_eq!(results("trouble").len(), 3);
        assert_eq!(results("running"), []);
    }
}

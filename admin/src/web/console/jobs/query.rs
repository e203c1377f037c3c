//! The filters of the list of jobs: as they stand in the address, and in the form that does something with all that match.

use carillon_scheduler::{KindDraft, RunState, check_tag};
use carillon_store::{JobFilter, JobSort};

use crate::web::console::filters::{WrongFilters, check_app, given, list_query, read};
use crate::web::page::{PageContext, PageError};
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

list_query! {
    pub struct ListQuery {
        filters: [
            text,
            app,
            owner,
            tag,
            /// `enabled` or `paused`.
            state,
            kind,
            /// A word of [`RESULT_GROUPS`].
            result,
        ],
        sort: String,
        after: Option<i64>,
    }
}

impl ListQuery {
    /// The filter, and what is wrong with it.
    pub async fn filter(&self, state: &State, context: &PageContext) -> Result<(JobFilter, WrongFilters), PageError> {
        let mut wrong = vec![];
        let enabled = read(&mut wrong, "state", &self.state, "no state of a job", |word| match word {
            "enabled" => Some(true),
            "paused" => Some(false),
            _ => None,
        });
        let kind = read(&mut wrong, "schedule", &self.kind, "no kind of schedule", |word| {
            KindDraft::WORDS.contains(&word).then(|| word.to_owned())
        });
        let last_results = read(&mut wrong, "last-result", &self.result, "no result of a run", |word| {
            Some(results(word)).filter(|results| !results.is_empty())
        });
        let order = |word: &str| JobSort::from_word(word, context.now);
        let sort = read(&mut wrong, "order", &self.sort, "no order of jobs", order);
        let (app, tag) = (given(&self.app), given(&self.tag));
        wrong.extend(tag.as_deref().and_then(|tag| check_tag(tag).err()).map(|message| ("tag", message)));
        check_app(state, context, app.as_deref(), &mut wrong).await?;
        let filter = JobFilter {
            apps: context.visible(),
            text: given(&self.text),
            app,
            owner: given(&self.owner),
            tag,
            enabled,
            kind,
            last_results: last_results.unwrap_or_default(),
            sort: sort.unwrap_or_default(),
            after: self.after,
            ..JobFilter::default()
        };
        Ok((filter, wrong))
    }

    pub fn address(&self, after: Option<i64>) -> String {
        self.address_of("/jobs", &[("sort", &self.sort)], after)
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

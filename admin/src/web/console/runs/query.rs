//! The filters of the list of runs: as they stand in the address, and in the form that does something with all that match.

use carillon_scheduler::{Cause, RunState, check_tag};
use carillon_store::{RunFilter, RunSort};

use crate::web::console::filters::{WrongFilters, check_app, given, list_query, read, read_range};
use crate::web::page::{PageContext, PageError};
use crate::web::state::State;

/// Words of the order, and the keys of their texts.
pub const SORTS: [(&str, &str); 4] =
    [("", "newest-first"), ("time", "by-time"), ("duration", "longest-first"), ("lateness", "most-late-first")];

list_query! {
    pub struct ListQuery {
        filters: [
            text,
            job,
            app,
            owner,
            tag,
            /// A state, or one of the groups `open` and `trouble`.
            state,
            cause,
            /// `2026-11-21T09:00`, in the viewer's zone.
            from,
            to,
        ],
        sort: String,
        after: Option<i64>,
    }
}

impl ListQuery {
    /// The filter, and what is wrong with it.
    pub async fn filter(&self, state: &State, context: &PageContext) -> Result<(RunFilter, WrongFilters), PageError> {
        let mut wrong = vec![];
        let id = |text: &str| text.parse().ok();
        let job_id = read(&mut wrong, "job", &self.job, "no id of a job; an id is a number", id);
        let states = read(&mut wrong, "state", &self.state, "no state of a run", |word| {
            Some(states(word)).filter(|states| !states.is_empty())
        });
        let cause = read(&mut wrong, "cause", &self.cause, "no cause of a run", |word| word.parse::<Cause>().ok());
        let [from, to] = read_range(&mut wrong, [&self.from, &self.to], context.zone);
        let sort = read(&mut wrong, "order", &self.sort, "no order of runs", RunSort::from_word);
        let tag =
            read(&mut wrong, "tag", &self.tag, "no tag of a job", |tag| check_tag(tag).is_ok().then(|| tag.to_owned()));
        let app = given(&self.app);
        check_app(state, context, app.as_deref(), &mut wrong).await?;
        let filter = RunFilter {
            apps: context.visible(),
            job_id,
            app,
            owner: given(&self.owner),
            tag,
            text: given(&self.text),
            states: states.unwrap_or_default(),
            cause,
            from,
            to,
            sort: sort.unwrap_or_default(),
            after: self.after,
            ..RunFilter::default()
        };
        Ok((filter, wrong))
    }

    pub fn address(&self, after: Option<i64>) -> String {
        self.address_of("/runs", &[("sort", &self.sort)], after)
    }
}

/// The states of a word of the filter.
fn states(word: &str) -> Vec<RunState> {
    match word {
        "open" => vec![RunState::Claimed, RunState::Sending, RunState::Running],
        "trouble" => vec![RunState::Failed, RunState::Lost, RunState::Unknown],
        word => word.parse().into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_says_it_all() {
        let query = ListQuery { app: "a b".into(), state: "trouble".into(), ..ListQuery::default() };
        assert_eq!(query.address(Some(7)), "/runs?app=a+b&state=trouble&after=7");
        assert_eq!(states("trouble").len(), 3);
    }
}

//! The filters of the list of runs: as they stand in the address, and in the form that does something with all that match.

use carillon_scheduler::{Cause, RunState, check_tag};
use carillon_store::{RunFilter, RunSort};
use serde::Deserialize;

use crate::web::console::app_filter::{WrongFilters, check_app};
use crate::web::forms::Form;
use crate::web::page::{PageContext, PageError, list_address};
use crate::web::state::State;
use crate::web::text::local_time::moment;

/// Words of the order, and the keys of their texts.
pub const SORTS: [(&str, &str); 4] =
    [("", "newest-first"), ("time", "by-time"), ("duration", "longest-first"), ("lateness", "most-late-first")];

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ListQuery {
    pub text: String,
    pub job: String,
    pub app: String,
    pub owner: String,
    pub tag: String,
    /// A state, or one of the groups `open` and `trouble`.
    pub state: String,
    pub cause: String,
    /// `2026-11-21T09:00`, in the viewer's zone.
    pub from: String,
    pub to: String,
    pub sort: String,
    pub after: Option<i64>,
}

impl ListQuery {
    /// The hidden fields of a form.
    pub fn of_form(form: &Form) -> Self {
        let value = |name: &str| form.value(name).to_owned();
        Self {
            text: value("text"),
            job: value("job"),
            app: value("app"),
            owner: value("owner"),
            tag: value("tag"),
            state: value("state"),
            cause: value("cause"),
            from: value("from"),
            to: value("to"),
            sort: String::new(),
            after: None,
        }
    }

    /// The filter, and what is wrong with it.
    pub async fn filter(&self, state: &State, context: &PageContext) -> Result<(RunFilter, WrongFilters), PageError> {
        let (filter, mut wrong) = self.read(context);
        check_app(state, context, filter.app.as_deref(), &mut wrong).await?;
        Ok((filter, wrong))
    }

    fn read(&self, context: &PageContext) -> (RunFilter, WrongFilters) {
        let zone = context.zone;
        let mut wrong = vec![];
        let mut read = |label: &'static str, text: &str, what: &str, is_read: bool| {
            if !text.trim().is_empty() && !is_read {
                wrong.push((label, format!("“{:.64}” is {what}", text.trim())));
            }
        };
        let job_id = self.job.trim().parse().ok();
        read("job", &self.job, "no id of a job; an id is a number", job_id.is_some());
        let states = states(&self.state);
        read("state", &self.state, "no state of a run", !states.is_empty());
        let cause = self.cause.parse::<Cause>().ok();
        read("cause", &self.cause, "no cause of a run", cause.is_some());
        let time = format!("no time that exists in {}; write it as 2026-01-31T18:30", zone.name());
        let (from, to) = (moment(&self.from, zone), moment(&self.to, zone));
        read("from", &self.from, &time, from.is_some());
        read("to", &self.to, &time, to.is_some());
        let sort = RunSort::from_word(&self.sort);
        read("order", &self.sort, "no order of runs", sort.is_some());
        read("tag", &self.tag, "no tag of a job", check_tag(self.tag.trim()).is_ok());
        let given = |text: &str| Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned);
        let filter = RunFilter {
            apps: context.visible(),
            job_id,
            app: given(&self.app),
            owner: given(&self.owner),
            tag: given(&self.tag),
            text: given(&self.text),
            states,
            cause,
            from,
            to,
            sort: sort.unwrap_or_default(),
            after: self.after,
            ..RunFilter::default()
        };
        (filter, wrong)
    }

    /// What is kept when something is done with all that match.
    pub fn filters(&self) -> [(&'static str, &str); 9] {
        [
            ("text", &self.text),
            ("job", &self.job),
            ("app", &self.app),
            ("owner", &self.owner),
            ("tag", &self.tag),
            ("state", &self.state),
            ("cause", &self.cause),
            ("from", &self.from),
            ("to", &self.to),
        ]
    }

    pub fn is_filtered(&self) -> bool {
        self.filters().iter().any(|(_, value)| !value.is_empty())
    }

    pub fn address(&self, after: Option<i64>) -> String {
        let sort = ("sort", self.sort.as_str());
        let pairs: Vec<(&str, &str)> = self.filters().into_iter().chain([sort]).collect();
        list_address("/runs", &pairs, after)
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

//! What the page is asked for, in the address.

use carillon_store::report::read::ReportGroup;
use serde::Deserialize;

use crate::web::console::filters::{WrongFilters, read};
use crate::web::page::list_address;
use crate::web::reports::{DAYS, MAX_DAYS, Question, ReportSort};

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ReportQuery {
    pub days: String,
    pub group: String,
    pub app: String,
    pub job: String,
    pub sort: String,
}

impl ReportQuery {
    /// Words that are not known are errors; where they stand the default counts.
    pub fn question(&self) -> (Question, WrongFilters) {
        let mut wrong = vec![];
        let days = read(&mut wrong, "period", &self.days, &format!("no number from 1 to {MAX_DAYS}"), |text| {
            text.parse().ok().filter(|days| (1..=MAX_DAYS).contains(days))
        });
        let job_id = read(&mut wrong, "job-id", &self.job, "no id; an id is a number above 0", |text| {
            text.parse().ok().filter(|id| *id > 0)
        });
        let group = read(&mut wrong, "report-group", &self.group, "none of day, app, job", |word| match word {
            "day" => Some(ReportGroup::Day),
            "app" => Some(ReportGroup::App),
            "job" => Some(ReportGroup::Job),
            _ => None,
        });
        let orders = format!("none of {}", ReportSort::WORDS.join(", "));
        let sort = read(&mut wrong, "order", &self.sort, &orders, ReportSort::from_word);
        let app = Some(self.app.clone()).filter(|app| !app.is_empty());
        let (days, group) = (days.unwrap_or(DAYS), group.unwrap_or(ReportGroup::Day));
        (Question { days, group, app, job_id, sort }, wrong)
    }

    fn address_at(&self, path: &str, changed: &[(&'static str, &str)]) -> String {
        let own = [
            ("days", &self.days),
            ("group", &self.group),
            ("app", &self.app),
            ("job", &self.job),
            ("sort", &self.sort),
        ];
        let pairs = own.map(|(name, own)| {
            let value = changed.iter().find(|(other, _)| *other == name).map(|(_, value)| *value);
            (name, value.unwrap_or(own.as_str()))
        });
        list_address(path, &pairs, None)
    }

    pub fn by_group(&self, group: &str) -> String {
        self.address_at("/reports", &[("group", group), ("sort", "")])
    }

    pub fn by_sort(&self, sort: &str) -> String {
        self.address_at("/reports", &[("sort", sort)])
    }

    /// The same of all apps and jobs.
    pub fn by_clearing(&self) -> String {
        self.address_at("/reports", &[("app", ""), ("job", "")])
    }

    /// The days of one app or one job.
    pub fn of(&self, name: &'static str, value: &str) -> String {
        self.address_at("/reports", &[("group", "day"), ("sort", ""), (name, value)])
    }

    pub fn export(&self) -> String {
        self.address_at("/reports/export", &[])
    }

    pub fn is_filtered(&self) -> bool {
        !(self.app.is_empty() && self.job.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_says_it_all() {
        let query = ReportQuery { days: "7".into(), group: "job".into(), sort: "failed".into(), ..Default::default() };
        assert_eq!(query.by_group("app"), "/reports?days=7&group=app");
        assert_eq!(query.by_sort("runs"), "/reports?days=7&group=job&sort=runs");
        assert_eq!(query.of("job", "4"), "/reports?days=7&group=day&job=4");
        assert_eq!(query.export(), "/reports/export?days=7&group=job&sort=failed");
        assert!(query.question().1.is_empty());
        let wrong = ReportQuery { days: "91".into(), job: "x".into(), group: "y".into(), sort: "z".into(), ..query };
        assert_eq!(wrong.question().1.len(), 4);
    }
}

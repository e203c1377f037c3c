//! Failures of jobs whose app has no executor: the alert about the app explains them, so they make no messages of their own.

use std::collections::{BTreeMap, BTreeSet};

use carillon_scheduler::{AlertKind, Millis};

use crate::alert::alerts::Alert;
use crate::db::sql::filter::Conditions;
use crate::error::Result;
use crate::store::Store;

/// Failures of this time before the app was first seen without an executor belong to it, too: an executor that has gone is missed
/// only when its lease ends.
const BEFORE: Millis = 120_000;
/// An app without an executor becomes an alert within this time.
const UNTIL_SEEN: Millis = 60_000;
/// An event is routed within this time.
const UNTIL_ROUTED: Millis = 10_000;

/// Whether an alert about a missing executor explains what an alert has to tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Explained {
    #[default]
    No,
    /// The app has no executor, which will become an alert if it lasts.
    Soon,
    Yes,
}

impl Store {
    /// Whether all that is new in an alert is explained by an alert of the same rule.
    pub async fn explained(&self, alert: &Alert, now: Millis) -> Result<Explained> {
        let news = self.apps_of_news(alert).await?;
        let Some(news) = news.filter(|news| !news.is_empty()) else {
            return Ok(Explained::No);
        };
        let outages = self.outages_of_rule(alert.rule_id, &news).await?;
        let explains = |app: i64, at: Millis| {
            let of_app = outages.iter().filter(|(id, _, _)| *id == app);
            of_app.into_iter().any(|(_, since, until)| since - BEFORE <= at && until.is_none_or(|until| at <= until))
        };
        let unexplained: BTreeSet<i64> =
            news.iter().filter(|(app, at)| !explains(**app, **at)).map(|(app, _)| *app).collect();
        if unexplained.is_empty() {
            return Ok(Explained::Yes);
        }
        if alert.told > 0 || alert.opened_at < now - UNTIL_SEEN {
            return Ok(Explained::No);
        }
        let empty: BTreeSet<i64> = self.apps_without_executor(now).await?.iter().map(|app| app.app_id).collect();
        Ok(if unexplained.is_subset(&empty) { Explained::Soon } else { Explained::No })
    }

    /// The apps of the jobs that have failed since the last message, each with its latest failure. None: there is other news.
    async fn apps_of_news(&self, alert: &Alert) -> Result<Option<BTreeMap<i64, Millis>>> {
        let text = "SELECT i.kind, j.app_id, i.last_at FROM alert_item i LEFT JOIN job j ON j.id = i.job_id \
                    WHERE i.alert_id = ? AND i.resolved_at IS NULL AND i.last_at > ?";
        let since = alert.told_at.filter(|_| alert.told > 0).map_or(0, |told_at| told_at - UNTIL_ROUTED);
        let rows: Vec<(String, Option<i64>, Millis)> =
            self.tuples(&self.engine_reads, text, values![alert.id, since]).await?;
        let mut apps: BTreeMap<i64, Millis> = BTreeMap::new();
        for (kind, app, at) in rows {
            let is_failure = [AlertKind::Failed, AlertKind::Stuck].iter().any(|it| it.as_str() == kind);
            let Some(app) = app.filter(|_| is_failure) else { return Ok(None) };
            let latest = apps.entry(app).or_insert(at);
            *latest = (*latest).max(at);
        }
        Ok(Some(apps))
    }

    /// When each of these apps had no executor, as alerts of the rule say: its app, since and until when.
    async fn outages_of_rule(
        &self,
        rule_id: i64,
        apps: &BTreeMap<i64, Millis>,
    ) -> Result<Vec<(i64, Millis, Option<Millis>)>> {
        let subjects: BTreeMap<String, i64> = apps.keys().map(|id| (format!("app:{id}"), *id)).collect();
        let mut conditions = Conditions::default();
        conditions.add("a.rule_id = ?", [rule_id.into()]);
        conditions.among("a.group_key", subjects.keys().map(String::as_str).chain(["rule"]));
        conditions.among("i.subject", subjects.keys().map(String::as_str));
        let (filter, values) = conditions.finish();
        let text = format!(
            "SELECT i.subject, i.first_at, i.resolved_at FROM alert a JOIN alert_item i ON i.alert_id = a.id{filter}"
        );
        let rows: Vec<(String, Millis, Option<Millis>)> = self.tuples(&self.engine_reads, &text, values).await?;
        let outage = |(subject, since, until): (String, Millis, Option<Millis>)| {
            subjects.get(&subject).map(|app| (*app, since, until))
        };
        Ok(rows.into_iter().filter_map(outage).collect())
    }
}

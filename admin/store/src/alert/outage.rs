//! Failures of jobs whose app has no executor: the alert about the app explains them, so they make no messages of their own.

use std::collections::{BTreeMap, BTreeSet};

use carillon_scheduler::{AlertKind, Millis, RunReason};

use crate::alert::alerts::Alert;
use crate::db::sql::filter::Conditions;
use crate::error::Result;
use crate::views::AlertStore;

/// Failures of this time before the app was first seen without an executor belong to it, too: an executor that has gone is missed
/// only when its lease ends.
const BEFORE: Millis = 120_000;
/// An app without an executor becomes an alert within this time.
const UNTIL_SEEN: Millis = 60_000;
/// The same of an app whose executors cannot be reached: first their leases end.
const UNTIL_LEASE_ENDS: Millis = 150_000;
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

/// What the jobs of an app have to tell.
struct News {
    /// The latest failure.
    last_at: Millis,
    /// Each run found no executor that could take it.
    found_none: bool,
}

impl AlertStore<'_> {
    /// Whether all that is new in an alert is explained by an alert of the same rule, which is about `kinds`. A run that an executor has
    /// had is not explained: only one that found no executor is.
    pub async fn explained(self, alert: &Alert, kinds: &[AlertKind], now: Millis) -> Result<Explained> {
        let news = self.apps_of_news(alert, kinds).await?;
        let Some(news) = news.filter(|news| !news.is_empty()) else {
            return Ok(Explained::No);
        };
        let outages = self.outages_of_rule(alert.rule_id, &news).await?;
        let explains = |app: i64, at: Millis| {
            let of_app = outages.iter().filter(|(id, _, _)| *id == app);
            of_app.into_iter().any(|(_, since, until)| since - BEFORE <= at && until.is_none_or(|until| at <= until))
        };
        let unexplained: BTreeMap<i64, &News> =
            news.iter().filter(|(app, it)| !explains(**app, it.last_at)).map(|(app, it)| (*app, it)).collect();
        let open_for = now - alert.opened_at;
        match (unexplained.is_empty(), alert.told) {
            (true, _) => return Ok(Explained::Yes),
            (false, 0) => {}
            (false, _) => return Ok(Explained::No),
        }
        if unexplained.values().all(|it| it.found_none) && open_for < UNTIL_LEASE_ENDS {
            return Ok(Explained::Soon);
        }
        if open_for > UNTIL_SEEN {
            return Ok(Explained::No);
        }
        let empty: BTreeSet<i64> = self.apps_without_executor(now).await?.iter().map(|app| app.app_id).collect();
        let are_empty = unexplained.keys().all(|app| empty.contains(app));
        Ok(if are_empty { Explained::Soon } else { Explained::No })
    }

    /// The apps of the jobs that have failed since the last message. None: there is other news. An item holds its latest event alone, so
    /// that the earlier outcomes of its job are counted by their alarms.
    async fn apps_of_news(self, alert: &Alert, kinds: &[AlertKind]) -> Result<Option<BTreeMap<i64, News>>> {
        let outcomes = kinds.iter().filter(|kind| kind.is_outcome()).map(|kind| format!("'{kind}', "));
        let text = format!(
            "SELECT i.kind, j.app_id, i.last_at, r.reason, (SELECT COUNT(*) FROM alarm a LEFT JOIN run o ON o.id = a.run_id \
             WHERE a.job_id = i.job_id AND a.created_at > ? AND a.created_at >= i.first_at AND a.kind IN ({}'') \
             AND (o.reason IS NULL OR o.reason <> ?)) FROM alert_item i LEFT JOIN job j ON j.id = i.job_id \
             LEFT JOIN run r ON r.id = i.run_id WHERE i.alert_id = ? AND i.resolved_at IS NULL AND i.last_at > ?",
            outcomes.collect::<String>()
        );
        let since = alert.told_at.filter(|_| alert.told > 0).map_or(0, |told_at| told_at - UNTIL_ROUTED);
        let no_executor = RunReason::NoExecutor.as_str();
        type Row = (String, Option<i64>, Millis, Option<String>, i64);
        let values = values![since, no_executor, alert.id, since];
        let rows: Vec<Row> = self.tuples(&self.engine_reads, &text, values).await?;
        let mut apps: BTreeMap<i64, News> = BTreeMap::new();
        for (kind, app, at, reason, others) in rows {
            let is_failure =
                [AlertKind::Failed, AlertKind::Stuck, AlertKind::LateStart].iter().any(|it| it.as_str() == kind);
            let Some(app) = app.filter(|_| is_failure && others == 0) else { return Ok(None) };
            let found_none = reason.as_deref() == Some(no_executor);
            let news = apps.entry(app).or_insert(News { last_at: at, found_none });
            (news.last_at, news.found_none) = (news.last_at.max(at), news.found_none && found_none);
        }
        Ok(Some(apps))
    }

    /// When each of these apps had no executor, as alerts of the rule say: its app, since and until when.
    async fn outages_of_rule(
        self,
        rule_id: i64,
        apps: &BTreeMap<i64, News>,
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

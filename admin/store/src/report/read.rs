//! Reports: summaries added up by day, app or job.

use std::collections::BTreeMap;

use carillon_scheduler::Millis;
use foldhash::{HashMap, HashMapExt as _};

use crate::error::Result;
use crate::people::grants::VisibleApps;
use crate::report::buckets::{KeyedLine, Times};
use crate::report::counts::{self, Counts};
use crate::views::ReportStore;

/// Lines of `report_day` that one report adds up.
pub const MOST_LINES: usize = 200_000;

/// What the lines of a report are about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReportGroup {
    #[default]
    Day,
    App,
    Job,
}

#[derive(Clone, Debug, Default)]
pub struct ReportFilter {
    pub apps: VisibleApps,
    pub app_id: Option<i64>,
    pub job_id: Option<i64>,
    /// Days since 1970-01-01, UTC, both included.
    pub from_day: i32,
    pub to_day: i32,
}

/// Runs of a day, an app or a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportLine {
    /// The day, or the id of the app or the job.
    pub key: i64,
    /// None of a day, and of what is deleted.
    pub name: Option<String>,
    pub counts: Counts,
    /// From the request to the end. None: none of them ran.
    pub duration_p50: Option<Millis>,
    pub duration_p95: Option<Millis>,
    /// From the due time to the request.
    pub lateness_p50: Option<Millis>,
    pub lateness_p95: Option<Millis>,
}

impl ReportLine {
    fn new(key: i64, name: Option<String>, counts: Counts, times: &Times) -> Self {
        Self {
            key,
            name,
            counts,
            duration_p50: times.durations.percentile(50),
            duration_p95: times.durations.percentile(95),
            lateness_p50: times.lateness.percentile(50),
            lateness_p95: times.lateness.percentile(95),
        }
    }
}

/// The lines by their keys, and all of them together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub lines: Vec<ReportLine>,
    pub total: ReportLine,
}

impl ReportStore<'_> {
    /// None: it would add up more than [`MOST_LINES`].
    pub async fn read(self, filter: &ReportFilter, group: ReportGroup) -> Result<Option<Report>> {
        let mut text = format!(
            "SELECT day, job_id, app_id, {}, times FROM report_day WHERE day >= ? AND day <= ?{}",
            counts::COLUMNS,
            filter.apps.and("app_id")
        );
        let mut values = values![filter.from_day, filter.to_day];
        let by_job = group == ReportGroup::Job || filter.job_id.is_some();
        text.push_str(if by_job { " AND job_id > 0" } else { " AND job_id < 0" });
        for (column, id) in [("app_id", filter.app_id), ("job_id", filter.job_id)] {
            if let Some(id) = id {
                text.push_str(&format!(" AND {column} = ?"));
                values.push(id.into());
            }
        }
        text.push_str(" LIMIT ?");
        values.push((MOST_LINES as i64 + 1).into());
        let found: Vec<KeyedLine> = self.all(&self.read, &text, values).await?;
        if found.len() > MOST_LINES {
            return Ok(None);
        }
        let mut groups: BTreeMap<i64, (Counts, Times)> = BTreeMap::new();
        let mut total = (Counts::default(), Times::default());
        for KeyedLine { day, job_id, line } in &found {
            let key = match group {
                ReportGroup::Day => i64::from(*day),
                ReportGroup::App => line.app_id,
                ReportGroup::Job => *job_id,
            };
            for (counts, times) in [groups.entry(key).or_default(), &mut total] {
                counts.add(&line.counts);
                times.merge(&line.times);
            }
        }
        let mut names = self.report_names(group, groups.keys().copied().collect()).await?;
        let line = |(key, (counts, times))| ReportLine::new(key, names.remove(&key), counts, &times);
        let lines = groups.into_iter().map(line).collect();
        Ok(Some(Report { lines, total: ReportLine::new(0, None, total.0, &total.1) }))
    }

    async fn report_names(self, group: ReportGroup, ids: Vec<i64>) -> Result<HashMap<i64, String>> {
        let table = match group {
            ReportGroup::Day => return Ok(HashMap::new()),
            ReportGroup::App => "app",
            ReportGroup::Job => "job",
        };
        let text = format!("SELECT id, name FROM {table} WHERE id IN ({{ids}})");
        Ok(self.tuples(&self.read, &text, values![self.ids(&ids)]).await?.into_iter().collect())
    }

    /// Runs of each hour (since 1970-01-01) from this one on, the earliest first; hours without runs are left out.
    pub async fn hourly_counts(self, from_hour: i32, visible: &VisibleApps) -> Result<Vec<(i32, Counts)>> {
        let text = format!(
            "SELECT hour, {} FROM report_hour WHERE hour >= ?{} ORDER BY hour",
            counts::COLUMNS,
            visible.and("app_id")
        );
        let mut hours: BTreeMap<i32, Counts> = BTreeMap::new();
        type Row = (i32, i64, i64, i64, i64, i64);
        for (hour, succeeded, failed, killed, cancelled, doubtful) in
            self.tuples::<Row>(&self.read, &text, values![from_hour]).await?
        {
            hours.entry(hour).or_default().add(&Counts::from_row((succeeded, failed, killed, cancelled, doubtful)));
        }
        Ok(hours.into_iter().collect())
    }
}

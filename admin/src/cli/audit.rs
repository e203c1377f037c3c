//! `carillon audit`: what is on record of every job's instants, against what its schedule said; each difference with its
//! reason.

use std::io::{self, Write};
use std::sync::Arc;

use carillon_admin::config::{Error, LogFormat};
use carillon_admin::store::Store;
use carillon_inspect::audit::Difference;
use carillon_inspect::audit::audit_job;
use carillon_inspect::audit::{JobAudit, audit_deleted_job};
use carillon_scheduler::{Clock as _, Millis, SystemClock};
use chrono::{DateTime, SecondsFormat};
use clap::Args;
use serde_json::json;

use super::logging;
use super::settings::DatabaseSettings;

/// Instants of one job that are worked out, at most.
const INSTANTS: usize = 1_000_000;

#[derive(Args)]
pub struct Wish {
    /// How far to look back, such as 90s, 30m, 1h or 7d
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = span)]
    since: Millis,
    /// Only this job
    #[arg(long, value_name = "ID")]
    job: Option<i64>,
    /// One JSON object a line instead of text for people
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    database: DatabaseSettings,
}

/// Something is not as it should be.
#[derive(Debug, thiserror::Error)]
#[error("{0} instants differ from their schedule, and nothing explains it")]
struct Unexplained(u64);

/// A job that is not there.
#[derive(Debug, thiserror::Error)]
#[error("there is no job {0}")]
pub struct Refused(i64);

/// What was looked at.
#[derive(Default)]
struct Sum {
    jobs: usize,
    deleted: usize,
    differences: usize,
    unexplained: u64,
}

/// Exit code 1 if anything is unexplained.
pub async fn run(wish: Wish) -> anyhow::Result<()> {
    logging::start(LogFormat::Text, "warn");
    let database = wish.database.database().map_err(Error::from)?;
    let store = super::user::open_to_look(&database).await?;
    let now = match store.database_now().await? {
        Some(now) => now,
        None => SystemClock::new().now(),
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    let sum = match audit(&store, &wish, now, &mut out).await {
        // Who closes the pipe has seen enough.
        Err(error) if is_broken_pipe(&error) => return Ok(()),
        sum => sum?,
    };
    if !wish.json {
        writeln!(
            out,
            "{} jobs since {}: {} differences, {} instants unexplained{}",
            sum.jobs,
            written(now - wish.since),
            sum.differences,
            sum.unexplained,
            match sum.deleted {
                0 => String::new(),
                deleted => format!("; {deleted} of the jobs are deleted"),
            }
        )?;
    }
    out.flush()?;
    match sum.unexplained {
        0 => Ok(()),
        count => Err(Unexplained(count).into()),
    }
}

async fn audit(store: &Arc<Store>, wish: &Wish, now: Millis, out: &mut impl Write) -> anyhow::Result<Sum> {
    let mut sum = Sum::default();
    if let Some(id) = wish.job {
        let found = match audit_job(store, id, now - wish.since, now, INSTANTS).await? {
            Some(found) => found,
            None => {
                let deleted = store.deleted_jobs(0, id - 1, 1).await?;
                let job = deleted.iter().find(|job| job.job_id == id);
                let job = job.ok_or(Refused(id))?;
                audit_deleted_job(store, job, now - wish.since, now, INSTANTS).await?
            }
        };
        sum.add(id, &found, wish, now, out)?;
        return Ok(sum);
    }
    let mut after = 0;
    loop {
        let ids = store.job_ids(after, 500).await?;
        let Some(last) = ids.last() else {
            break;
        };
        after = *last;
        for id in ids {
            // None: it has been deleted meanwhile.
            if let Some(found) = audit_job(store, id, now - wish.since, now, INSTANTS).await? {
                sum.add(id, &found, wish, now, out)?;
            }
        }
    }
    let (since, mut after) = (now - wish.since, 0);
    loop {
        let deleted = store.deleted_jobs(since, after, 500).await?;
        let Some(last) = deleted.last() else {
            return Ok(sum);
        };
        after = last.job_id;
        for job in deleted {
            let found = audit_deleted_job(store, &job, since, now, INSTANTS).await?;
            sum.add(job.job_id, &found, wish, now, out)?;
        }
    }
}

impl Sum {
    fn add(&mut self, id: i64, look: &JobAudit, wish: &Wish, now: Millis, out: &mut impl Write) -> io::Result<()> {
        self.jobs += 1;
        self.deleted += usize::from(look.deleted_at.is_some());
        for difference in &look.differences {
            self.differences += 1;
            if !difference.is_explained() {
                self.unexplained += u64::from(difference.count);
            }
            match wish.json {
                true => writeln!(out, "{}", as_json(difference, look))?,
                false => writeln!(out, "{}", line(difference, look))?,
            }
        }
        if look.reached < look.deleted_at.unwrap_or(now) && !wish.json {
            writeln!(
                out,
                "job {id} `{}`: looked at up to {}; it fires too often for more at once",
                look.name,
                written(look.reached)
            )?;
        }
        Ok(())
    }
}

fn line(difference: &Difference, look: &JobAudit) -> String {
    let times = match difference.from == difference.to {
        true => written(difference.from),
        false => format!("{} to {}", written(difference.from), written(difference.to)),
    };
    let what = match difference.count {
        0 => difference.kind.as_str().to_owned(),
        count => format!("{count} {}", difference.kind.as_str()),
    };
    format!("job {} `{}`: {what}, {times}: {}", difference.job_id, look.name, difference.reason.sentence())
}

fn as_json(difference: &Difference, look: &JobAudit) -> serde_json::Value {
    json!({
        "job_id": difference.job_id,
        "job": look.name,
        "found": difference.kind.as_str(),
        "count": difference.count,
        "from": written(difference.from),
        "to": written(difference.to),
        "reason": difference.reason.as_str(),
        "explained": difference.is_explained(),
    })
}

pub(super) fn written(at: Millis) -> String {
    let time = DateTime::from_timestamp_millis(at).unwrap_or_default();
    let digits = match at.rem_euclid(1000) {
        0 => SecondsFormat::Secs,
        _ => SecondsFormat::Millis,
    };
    time.to_rfc3339_opts(digits, true)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

fn span(text: &str) -> Result<Millis, String> {
    let wrong = || format!("`{text:.32}` is no span of time; write a number with s, m, h or d, such as 1h");
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return Err(wrong()),
    };
    let number: i64 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    match (1..=3660).contains(&(number * seconds / 86_400 + 1)) && number > 0 {
        true => Ok(number * seconds * 1000),
        false => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use carillon_inspect::audit::{GapKind, GapReason};

    use super::*;

    #[test]
    fn spans_are_read() {
        assert_eq!(span("90s"), Ok(90_000));
        assert_eq!(span("7d"), Ok(604_800_000));
        for wrong in ["", "h", "1", "0s", "-1h", "1w", "1é", "99999d"] {
            assert!(span(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_difference_is_one_line() {
        let look = JobAudit { name: "Settle".into(), differences: vec![], reached: 0, deleted_at: None };
        let mut difference = Difference {
            job_id: 7,
            from: 1_760_000_000_000,
            to: 1_760_000_002_000,
            count: 3,
            kind: GapKind::Missing,
            reason: GapReason::Unexplained,
        };
        assert_eq!(
            line(&difference, &look),
            "job 7 `Settle`: 3 missing, 2025-10-09T08:53:20Z to 2025-10-09T08:53:22Z: unexplained"
        );
        assert_eq!(as_json(&difference, &look)["explained"], false);
        (difference.count, difference.kind, difference.reason) = (0, GapKind::Unlooked, GapReason::Unknown);
        assert!(line(&difference, &look).ends_with(
            "unlooked, 2025-10-09T08:53:20Z to 2025-10-09T08:53:22Z: the definition before an edit is not on record"
        ));
    }
}

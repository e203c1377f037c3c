//! `carillon audit`: what is on record of every job's instants, against what its schedule said; each difference with its
//! reason. And what must never be in the records of workflows and items.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use crate::config::LogFormat;
use carillon_inspect::audit::Difference;
use carillon_inspect::audit::audit_job;
use carillon_inspect::audit::{JobAudit, audit_deleted_job};
use carillon_locale::Language;
use carillon_scheduler::Millis;
use carillon_store::Store;
use carillon_store::map::audit::StalledMap;
use carillon_store::workflow::audit::{FaultKind, WorkflowFault};
use clap::Args;
use serde_json::json;

use crate::cli::arguments::{InvalidInput, counted, format_time};
use crate::cli::settings::DatabaseSettings;
use crate::cli::{database, logging};

/// Instants of one job that are worked out, at most.
const INSTANTS: usize = 1_000_000;

#[derive(Args)]
pub struct AuditArgs {
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

/// Ends the command with exit code 1.
#[derive(Debug, thiserror::Error)]
enum Unexplained {
    #[error("{0} instants differ from their schedule, and nothing explains it")]
    Instants(u64),
    #[error("{0} records of workflows and items are wrong")]
    Workflows(usize),
}

/// Counts over all jobs.
#[derive(Default)]
struct Sum {
    jobs: usize,
    deleted: usize,
    differences: usize,
    unexplained: u64,
    faults: usize,
}

/// Exit code 1 if anything is unexplained.
pub async fn run(args: AuditArgs) -> anyhow::Result<()> {
    logging::start(LogFormat::Text, "warn");
    let store = database::open_read_only(&args.database).await?;
    let now = database::now(&store).await?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut sum = Sum::default();
    match audit(&store, &args, now, (&mut sum, &mut out)).await {
        // The reader has closed the pipe.
        Err(error) if is_broken_pipe(&error) => return Ok(()),
        done => done?,
    };
    if !args.json {
        writeln!(
            out,
            "{} since {}: {}, {} unexplained{}{}",
            counted(sum.jobs, "job"),
            format_time(now - args.since),
            counted(sum.differences, "difference"),
            counted(sum.unexplained as usize, "instant"),
            match sum.deleted {
                0 => String::new(),
                deleted => format!("; {deleted} of the jobs are deleted"),
            },
            match sum.faults {
                0 => String::new(),
                faults => format!("; {} of workflows and items", counted(faults, "fault")),
            }
        )?;
    }
    out.flush()?;
    match (sum.unexplained, sum.faults) {
        (0, 0) => Ok(()),
        (0, faults) => Err(Unexplained::Workflows(faults).into()),
        (count, _) => Err(Unexplained::Instants(count).into()),
    }
}

async fn audit(
    store: &Arc<Store>,
    args: &AuditArgs,
    now: Millis,
    (sum, out): (&mut Sum, &mut impl Write),
) -> anyhow::Result<()> {
    audit_instants(store, args, now, (sum, out)).await?;
    let workflows = store.workflows().faults().await?;
    let workflows = workflows.iter().map(|fault| (fault.job_id, fault_line(fault), fault_as_json(fault)));
    let items = store.maps().stalled().await?;
    let items = items.iter().map(|map| (map.job_id, stalled_line(map), stalled_as_json(map)));
    for (_, line, value) in workflows.chain(items).filter(|(job_id, ..)| args.job.is_none_or(|id| id == *job_id)) {
        sum.faults += 1;
        writeln!(out, "{}", if args.json { value.to_string() } else { line })?;
    }
    Ok(())
}

async fn audit_instants(
    store: &Arc<Store>,
    args: &AuditArgs,
    now: Millis,
    (sum, out): (&mut Sum, &mut impl Write),
) -> anyhow::Result<()> {
    if let Some(id) = args.job {
        let found = match audit_job(store, id, now - args.since, now, INSTANTS).await? {
            Some(found) => found,
            None => {
                let deleted = store.jobs().deleted(0, id - 1, 1).await?;
                let job = deleted.iter().find(|job| job.job_id == id);
                let job = job.ok_or_else(|| InvalidInput(format!("there is no job {id}")))?;
                audit_deleted_job(store, job, now - args.since, now, INSTANTS).await?
            }
        };
        sum.add(id, &found, args, now, out)?;
        return Ok(());
    }
    for id in store.runs().all_job_ids().await? {
        // None: it has been deleted meanwhile.
        if let Some(found) = audit_job(store, id, now - args.since, now, INSTANTS).await? {
            sum.add(id, &found, args, now, out)?;
        }
    }
    let (since, mut after) = (now - args.since, 0);
    loop {
        let deleted = store.jobs().deleted(since, after, 500).await?;
        let Some(last) = deleted.last() else {
            return Ok(());
        };
        after = last.job_id;
        for job in deleted {
            let found = audit_deleted_job(store, &job, since, now, INSTANTS).await?;
            sum.add(job.job_id, &found, args, now, out)?;
        }
    }
}

impl Sum {
    fn add(&mut self, id: i64, look: &JobAudit, args: &AuditArgs, now: Millis, out: &mut impl Write) -> io::Result<()> {
        self.jobs += 1;
        self.deleted += usize::from(look.deleted_at.is_some());
        for difference in &look.differences {
            self.differences += 1;
            if !difference.is_explained() {
                self.unexplained += u64::from(difference.count);
            }
            match args.json {
                true => writeln!(out, "{}", as_json(difference, look))?,
                false => writeln!(out, "{}", line(difference, look))?,
            }
        }
        if look.reached < look.deleted_at.unwrap_or(now) && !args.json {
            writeln!(
                out,
                "job {id} `{}`: looked at up to {}; it fires too often for more at once",
                look.name,
                format_time(look.reached)
            )?;
        }
        Ok(())
    }
}

fn line(difference: &Difference, look: &JobAudit) -> String {
    let times = match difference.from == difference.to {
        true => format_time(difference.from),
        false => format!("{} to {}", format_time(difference.from), format_time(difference.to)),
    };
    let what = match difference.count {
        0 => difference.kind.as_str().to_owned(),
        count => format!("{count} {}", difference.kind.as_str()),
    };
    format!("job {} `{}`: {what}, {times}: {}", difference.job_id, look.name, difference.reason.text(Language::English))
}

fn as_json(difference: &Difference, look: &JobAudit) -> serde_json::Value {
    json!({
        "job_id": difference.job_id,
        "job": look.name,
        "found": difference.kind.as_str(),
        "count": difference.count,
        "from": format_time(difference.from),
        "to": format_time(difference.to),
        "reason": difference.reason.as_str(),
        "explained": difference.is_explained(),
    })
}

fn fault_line(fault: &WorkflowFault) -> String {
    let what = match fault.kind {
        FaultKind::Stalled => {
            "the workflow is on its way, but nothing of it runs or is to follow, and no person holds it".to_owned()
        }
        FaultKind::MissingRun { node, node_run_id } => format!("run {node_run_id} of its node {node} does not exist"),
    };
    format!("run {} of job {}: {what}", fault.run_id, fault.job_id)
}

fn fault_as_json(fault: &WorkflowFault) -> serde_json::Value {
    let (found, node, node_run_id) = match fault.kind {
        FaultKind::Stalled => ("stalled", None, None),
        FaultKind::MissingRun { node, node_run_id } => ("missing_run", Some(node), Some(node_run_id)),
    };
    json!({
        "job_id": fault.job_id,
        "run_id": fault.run_id,
        "found": found,
        "node": node,
        "node_run_id": node_run_id,
        "explained": false,
    })
}

fn stalled_line(map: &StalledMap) -> String {
    let StalledMap { run_id, job_id } = map;
    format!("run {run_id} of job {job_id}: its items are on their way, but nothing of them runs or is to follow")
}

fn stalled_as_json(map: &StalledMap) -> serde_json::Value {
    json!({"job_id": map.job_id, "run_id": map.run_id, "found": "stalled_items", "explained": false})
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

fn span(text: &str) -> Result<Millis, String> {
    let longest = Duration::from_secs(3660 * 86_400);
    let span = humantime::parse_duration(text).ok().filter(|span| !span.is_zero() && *span < longest);
    let wrong = || format!("`{text:.32}` is no span of time; write a number with s, m, h or d, such as 1h");
    span.map(|span| span.as_millis() as Millis).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use carillon_inspect::audit::{GapKind, GapReason};

    use super::*;

    #[test]
    fn spans_are_read() {
        assert_eq!(span("90s"), Ok(90_000));
        assert_eq!(span("7d"), Ok(604_800_000));
        for wrong in ["", "h", "1", "0s", "-1h", "1x", "1é", "99999d"] {
            assert!(span(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_difference_is_one_line() {
        let look =
            JobAudit { name: "Settle".into(), differences: vec![], reached: 0, next_fire_at: None, deleted_at: None };
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

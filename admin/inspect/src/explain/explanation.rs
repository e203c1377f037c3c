//! The story of one instant of one job: what became of it, or why it is none or nothing came of it.

use std::collections::BTreeMap;

use carillon_scheduler::{AuditAction, Cause, Millis, RunReason, RunState};

use crate::audit::difference::{GapKind, GapReason};
use crate::audit::job_audit::AuditInput;
use carillon_store as store;
use carillon_store::app::limits::line::LimitPlace;
use carillon_store::job::history::{Change, DefinitionVersion, VersionRules};
use carillon_store::job::revisions::Revision;
use carillon_store::run::route::RouteDecision;
use carillon_store::{Job, Misfire, RunFilter, RunParams, RunView, Store, VisibleApps};

use crate::explain::neighbours::AdjacentFires;

/// A grant of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalGrant {
    pub epoch: i64,
    /// Of the executor.
    pub address: String,
}

/// What is known of an instant.
#[derive(Clone, Debug)]
pub struct Explanation {
    pub job_id: i64,
    /// Its name; None: the job is deleted.
    pub job: Option<String>,
    /// The objective that the job has now: its runs start within this time; 0: none.
    pub start_within_seconds: i32,
    pub at: Millis,
    /// When it was asked for.
    pub now: Millis,
    pub verdict: Verdict,
    /// Of the definition in force then; None: not known.
    pub revision: Option<i64>,
    /// What put it in force, if that is not long ago.
    pub begun_by: Option<Change>,
    /// The instants around it by that definition, and why it is none.
    pub nearby: AdjacentFires,
    /// The range of skipped instants that it lies in.
    pub misfire: Option<Misfire>,
    /// The loop that it was fired in; None: it was not, or the loop has had another grant since.
    pub local: Option<LocalGrant>,
    /// Its runs, by schedule first and then by backfill; parts and attempts in their order. Without any: the runs that were
    /// started at exactly that time by hand, over the API or by a parent job, among the newest runs of all jobs
    /// ([`SEARCHED_RUN_IDS`](carillon_store::run::view::filter::SEARCHED_RUN_IDS)): there is no index by time. Those of before the
    /// job has moved belong to the app that it had, and are left out where that app is not visible.
    pub runs: Vec<ExplainedRun>,
}

/// A run, what it was given, and how its executor was chosen.
#[derive(Clone, Debug)]
pub struct ExplainedRun {
    pub run: RunView,
    pub params: RunParams,
    pub choice: Option<RouteDecision>,
    /// The limits that it waits for, with its place at each.
    pub places: Vec<LimitPlace>,
}

/// What became of it, or why nothing did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It has a run.
    Recorded,
    /// It lies in a range of skipped instants.
    Skipped,
    /// The schedule says nothing of it.
    NoInstant,
    /// A calendar excludes its day.
    Excluded,
    /// It lies outside the job's validity.
    Invalid,
    /// The job did not exist yet.
    BeforeJob,
    /// Fires are counted from the ends of runs.
    FixedDelay,
    /// An executor fires it by itself, and it is not recorded singly.
    Local,
    /// It is an instant without a record, for this reason.
    Missing(GapReason),
}

impl Verdict {
    /// In one word, for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Recorded => "recorded",
            Self::Skipped => "skipped",
            Self::NoInstant => "no_instant",
            Self::Excluded => "excluded",
            Self::Invalid => "invalid",
            Self::BeforeJob => "before_job",
            Self::FixedDelay => "fixed_delay",
            Self::Local => "local",
            Self::Missing(reason) => reason.as_str(),
        }
    }
}

/// Every word of a verdict.
pub const VERDICTS: [&str; 17] = [
    "recorded",
    "skipped",
    "no_instant",
    "excluded",
    "invalid",
    "before_job",
    "fixed_delay",
    "local",
    "unexplained",
    "edited",
    "disabled",
    "paused",
    "not_planned",
    "used_up",
    "pruned",
    "unplannable",
    "unknown",
];

/// Runs by hand and the like that are listed at most.
const LISTED_RUNS: u32 = 100;

/// Explains one instant of a job, to who sees these apps. None: there is no such job, and no record of it at this instant.
pub async fn explain(
    store: &Store,
    job_id: i64,
    at: Millis,
    now: Millis,
    visible: &VisibleApps,
) -> store::Result<Option<Explanation>> {
    let runs = explained_runs(store, job_id, at, visible).await?;
    let by_schedule = runs.iter().any(|it| it.run.cause == Cause::Schedule);
    let has_runs = !runs.is_empty();
    let verdict = |other| if by_schedule { Verdict::Recorded } else { other };
    // What is known without the definition of then.
    let records = Explanation {
        job_id,
        job: None,
        start_within_seconds: 0,
        at,
        now,
        verdict: verdict(Verdict::Skipped),
        revision: None,
        begun_by: None,
        nearby: AdjacentFires::default(),
        misfire: None,
        local: None,
        runs,
    };
    let Some(input) = AuditInput::read(store, job_id, at - 1, at).await? else {
        let misfire = store.runs().records_of(job_id, at - 1, at).await?.ranges.pop();
        return Ok((has_runs || misfire.is_some()).then_some(Explanation { misfire, ..records }));
    };
    let job = Some(input.job.draft.name.clone());
    if is_of_hidden_app(store, &input.job, at, visible).await? {
        // Nothing is said of the definition that the job had there; its later attempts may be of an app that is visible.
        let verdict = verdict(Verdict::Missing(GapReason::Unknown));
        return Ok(Some(Explanation { job, verdict, ..records }));
    }
    let era = input.eras.iter().map(|era| &era.version).find(|era| contains(era, at));
    let nearby = era.map_or_else(AdjacentFires::default, |era| AdjacentFires::around(era, at));
    let misfire = input.records.ranges.first().cloned();
    let verdict = match &misfire {
        _ if by_schedule => Verdict::Recorded,
        Some(_) if nearby.is_instant => Verdict::Skipped,
        _ => unrecorded(&input, era, &nearby, at),
    };
    let local = match verdict {
        Verdict::Local => local_grant(store, job_id, at).await?,
        _ => None,
    };
    Ok(Some(Explanation {
        job,
        start_within_seconds: input.job.draft.start_within_seconds,
        verdict,
        local,
        revision: era.and_then(|era| era.revision),
        begun_by: era.and_then(|era| era.begun_by.clone()),
        nearby,
        misfire: misfire.filter(|_| verdict == Verdict::Skipped),
        ..records
    }))
}

/// The grant under which an executor fired the job at that time, if it is the last one and has been reported since.
async fn local_grant(store: &Store, job_id: i64, at: Millis) -> store::Result<Option<LocalGrant>> {
    let Some(lease) = store.loops().get(job_id).await? else { return Ok(None) };
    let has_time = !lease.is_stopped && (lease.granted_at..=lease.reported_at).contains(&at);
    Ok(has_time.then_some(LocalGrant { epoch: lease.epoch, address: lease.address }))
}

/// Whether the job belonged to an app then that is not visible, as far as its history tells.
async fn is_of_hidden_app(store: &Store, job: &Job, at: Millis, visible: &VisibleApps) -> store::Result<bool> {
    if visible.is_all() {
        return Ok(false);
    }
    let apps: Vec<String> = store.apps().list(visible).await?.into_iter().map(|app| app.name).collect();
    let oldest = store.jobs().revisions(job, Some(&apps)).await?.pop();
    // What a change has changed is left out where it moved the job here.
    let is_move = |it: &Revision| it.before.is_null() && it.change.action != AuditAction::Create.as_str();
    Ok(oldest.filter(is_move).is_some_and(|moved| at <= moved.change.at))
}

fn contains(era: &DefinitionVersion, at: Millis) -> bool {
    era.from < at && era.to.is_none_or(|to| at <= to)
}

/// The limits that each of these runs waits for, with its place at each; a run that is not there does not wait for any.
pub async fn places_of(
    store: &Store,
    runs: &[&RunView],
    visible: &VisibleApps,
) -> store::Result<BTreeMap<i64, Vec<LimitPlace>>> {
    let waits =
        |run: &&&RunView| run.state == RunState::Claimed && run.reason.as_deref() == Some(RunReason::Limit.as_str());
    let waiting: Vec<i64> = runs.iter().filter(waits).map(|run| run.id).collect();
    match waiting.is_empty() {
        true => Ok(BTreeMap::new()),
        false => store.limits().places_of(&waiting, visible).await,
    }
}

async fn explained_runs(
    store: &Store,
    job_id: i64,
    at: Millis,
    visible: &VisibleApps,
) -> store::Result<Vec<ExplainedRun>> {
    let mut runs = vec![];
    let mut of_instant = store.runs().runs_of_instant(job_id, at, visible).await?;
    if of_instant.is_empty() {
        of_instant = started_at(store, job_id, at, visible).await?;
    }
    for found in of_instant {
        let Some(run) = store.runs().get(found.id).await? else {
            continue;
        };
        let choice = store.runs().route_decision(&run).await?;
        let params = store.runs().params_of(&run).await?;
        runs.push(ExplainedRun { run, params, choice, places: vec![] });
    }
    let all: Vec<&RunView> = runs.iter().map(|explained: &ExplainedRun| &explained.run).collect();
    let mut places = places_of(store, &all, visible).await?;
    for explained in &mut runs {
        explained.places = places.remove(&explained.run.id).unwrap_or_default();
    }
    Ok(runs)
}

/// Runs by hand, over the API and by a parent job, oldest first.
async fn started_at(store: &Store, job_id: i64, at: Millis, visible: &VisibleApps) -> store::Result<Vec<RunView>> {
    let filter = RunFilter {
        apps: visible.clone(),
        job_id: Some(job_id),
        from: Some(at),
        to: Some(at + 1),
        limit: LISTED_RUNS,
        ..RunFilter::default()
    };
    let mut runs = store.runs().list(&filter).await?.items;
    runs.reverse();
    Ok(runs)
}

/// The verdict of an instant without a record.
fn unrecorded(input: &AuditInput, era: Option<&DefinitionVersion>, nearby: &AdjacentFires, at: Millis) -> Verdict {
    let Some(era) = era else {
        return Verdict::BeforeJob;
    };
    match &era.rules {
        VersionRules::Unknown => Verdict::Missing(GapReason::Unknown),
        VersionRules::Broken { .. } => Verdict::Missing(GapReason::Unplannable),
        VersionRules::Known { schedule, is_local: true, .. } if schedule.is_delay() || nearby.is_instant => {
            Verdict::Local
        }
        VersionRules::Known { schedule, .. } if schedule.is_delay() => Verdict::FixedDelay,
        VersionRules::Known { .. } if nearby.is_instant => {
            let (found, _) = input.compare(at - 1, at, 10);
            let missing = found.iter().find(|it| it.kind == GapKind::Missing);
            Verdict::Missing(missing.map_or(GapReason::Unexplained, |it| it.reason))
        }
        VersionRules::Known { .. } if !nearby.excluded_by.is_empty() => Verdict::Excluded,
        VersionRules::Known { .. } if nearby.is_outside => Verdict::Invalid,
        VersionRules::Known { .. } => Verdict::NoInstant,
    }
}

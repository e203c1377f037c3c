//! `/joblog`: runs, which xxl-job calls logs.

use carillon_accounts::policy::{Action, Object};
use carillon_engine::manage::{self, KillResult};
use carillon_scheduler::{RunState, Zone};
use carillon_store::{Job, RunFilter, RunParams, RunView};
use foldhash::HashMap;
use serde_json::{Value, json};

use super::answer::Reply;
use super::call::Call;
use super::dates;
use super::paging::PageRange;
use crate::web::api::Error;
use crate::web::state::{Shared, State};

/// Runs that one call looks at: the newest ones.
const MOST: u32 = 10_000;

/// `/joblog/pageList`
pub async fn page_list(state: Shared, call: Call) -> Reply {
    let range = PageRange::of(&call)?;
    let filter = filter(&state, &call).await?;
    let ids = state.store.runs().ids_of(&filter, MOST).await?;
    let runs = match range.cut(&ids) {
        [] => vec![],
        ids => state.store.runs().with_ids(ids).await?,
    };
    let views: Vec<&RunView> = runs.iter().map(|(_, run)| run).collect();
    let params = if views.is_empty() { vec![] } else { state.store.runs().params_of_each(&views).await? };
    let jobs = jobs_of(&state, &views).await?;
    let rows = runs.iter().zip(&params).map(|((app_id, run), params)| {
        let job = jobs.get(&run.job_id).filter(|job| job.app_id == *app_id);
        row(&call, (*app_id, run), (job, params), state.config.report_zone)
    });
    Ok(range.answer(&call, &rows.collect::<Vec<_>>(), ids.len()))
}

async fn jobs_of(state: &State, runs: &[&RunView]) -> Result<HashMap<i64, Job>, Error> {
    let mut ids: Vec<i64> = runs.iter().map(|run| run.job_id).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() {
        return Ok(HashMap::default());
    }
    Ok(state.store.jobs().with_ids(&ids).await?.into_iter().map(|job| (job.id, job)).collect())
}

async fn filter(state: &State, call: &Call) -> Result<RunFilter, Error> {
    let sent = &call.parameters;
    let mut filter = RunFilter { apps: call.visible(), ..RunFilter::default() };
    if sent.number("jobGroup")?.is_some_and(|id| id > 0) {
        filter.app = Some(call.app(state, "jobGroup").await?.name);
    }
    filter.job_id = sent.number("jobId")?.filter(|id| *id > 0);
    filter.states = match sent.number("logStatus")? {
        Some(1) => vec![RunState::Succeeded],
        Some(2) => {
            vec![RunState::Failed, RunState::Killed, RunState::Cancelled, RunState::Unknown, RunState::Lost]
        }
        Some(3) => vec![RunState::Claimed, RunState::Sending, RunState::Running],
        _ => vec![],
    };
    if let Some(span) = sent.text(&["filterTime"]) {
        let zone = state.config.report_zone;
        let wrong = || Error::field("filterTime", "must be two times: 2025-07-04 00:00:00 - 2025-07-04 23:59:59");
        let (from, to) = span.split_once(" - ").ok_or_else(wrong)?;
        filter.from = Some(dates::instant(from, zone).ok_or_else(wrong)?);
        // The last second counts.
        filter.to = Some(dates::instant(to, zone).ok_or_else(wrong)? + 1000);
    }
    Ok(filter)
}

/// The codes of a run: of its trigger, and of its result. 0: not known yet.
fn codes(run: &RunView) -> (i32, i32) {
    let trigger = match (run.sent_at, run.state) {
        (Some(_), _) => 200,
        (None, state) if state.is_pending() => 0,
        (None, _) => 500,
    };
    let handle = match run.state {
        RunState::Claimed | RunState::Sending | RunState::Running => 0,
        RunState::Succeeded => 200,
        RunState::Failed if run.reason.as_deref() == Some("timeout") => 502,
        // It was never sent: its trigger has failed.
        _ if trigger == 500 => 0,
        _ => 500,
    };
    (trigger, handle)
}

fn row(call: &Call, (app_id, run): (i64, &RunView), (job, params): (Option<&Job>, &RunParams), zone: Zone) -> Value {
    let (trigger, handle) = codes(run);
    let (trigger_text, handle_text) =
        if trigger == 500 { (run.message(), String::new()) } else { (String::new(), run.message()) };
    let part = (run.parts > 1).then(|| format!("{}/{}", run.part, run.parts));
    let retries = job.map_or(0, |job| (job.draft.retries - run.attempt + 1).max(0));
    json!({
        "id": run.id,
        "jobGroup": app_id,
        "jobId": run.job_id,
        "executorAddress": run.address,
        "executorHandler": job.map(|job| job.draft.handler.as_str()),
        "executorParam": params.text(),
        "executorShardingParam": part,
        "executorFailRetryCount": retries,
        "triggerTime": call.date(run.scheduled_at, zone),
        "triggerCode": trigger,
        "triggerMsg": trigger_text,
        "handleTime": run.finished_at.filter(|_| handle > 0).map(|at| call.date(at, zone)),
        "handleCode": handle,
        "handleMsg": handle_text,
        "alarmStatus": 0,
    })
}

/// `/joblog/logDetailCat`
pub async fn log(state: Shared, call: Call) -> Reply {
    let sent = &call.parameters;
    let (id, from) = (sent.id("logId")?, sent.number("fromLineNum")?.unwrap_or(1));
    let missing = || manage::Error::Missing(format!("run {id}"));
    let app_id = state.store.apps().app_of_run(id).await?.ok_or_else(missing)?;
    manage::require(&call.by, Action::View, Object::App(app_id), || format!("run {id}"))?;
    let from = i32::try_from(from.max(1)).unwrap_or(i32::MAX);
    let page = state.engine.runs().log(id, from, &call.by).await?;
    Ok(call.done(json!({
        "fromLineNum": page.from,
        "toLineNum": page.to,
        "logContent": page.content,
        "end": page.end,
        "isEnd": page.end,
    })))
}

/// `/joblog/logKill`
pub async fn kill(state: Shared, call: Call) -> Reply {
    match state.engine.runs().kill(call.parameters.id("id")?, &call.by).await? {
        KillResult::AlreadyEnded => Err(Error::field("id", "the run has ended already")),
        KillResult::Cancelled | KillResult::Asked => Ok(call.done(Value::Null)),
    }
}

//! Jobs are made, changed, deleted, started, stopped and run.

use carillon_accounts::policy::{Action, Object};
use carillon_engine::manage::{self, PreviewRequest, RunRequest};
use carillon_scheduler::{Cause, JobDraft};
use carillon_store::{Job, PauseNote};
use serde_json::Value;

use super::answer::Reply;
use super::call::Call;
use super::dates;
use super::job_fields::{apply, asked_kind, new_draft};
use crate::web::api::Error;
use crate::web::state::{Shared, State};

/// Instants of a preview.
const NEXT: usize = 5;

/// `/jobinfo/add`, `/jobinfo/save`, `/jobinfo/insert`, `/api/addJob`: the job is stopped.
pub async fn add(state: Shared, call: Call) -> Reply {
    let app = call.app(&state, "jobGroup").await?;
    let draft = new_draft(&call.parameters, &app.name, state.config.report_zone)?;
    let job = state.engine.jobs().create(draft, None, &call.by).await?;
    // As xxl-job: the number as a text.
    Ok(call.done(job.id.to_string()))
}

/// `/jobinfo/update`, `/api/updateJob`
pub async fn update(state: Shared, call: Call) -> Reply {
    let job = visible_job(&state, &call, call.parameters.id("id")?).await?;
    let mut draft = JobDraft { schedule: job.full_schedule(), ..job.draft.clone() };
    if call.parameters.has("jobGroup") {
        draft.app = call.app(&state, "jobGroup").await?.name;
    }
    apply(&call.parameters, &mut draft, state.config.report_zone)?;
    if draft.schedule.kind != job.draft.schedule.kind {
        // Another period counts from now, and has another place in its spread.
        draft.schedule.anchor_at = None;
        draft.schedule.spread_offset_seconds = None;
    }
    state.engine.jobs().update(job.id, &draft, Some(job.revision), &call.by).await?;
    Ok(call.done(Value::Null))
}

/// A job that the caller sees.
pub async fn visible_job(state: &State, call: &Call, id: i64) -> Result<Job, Error> {
    let job = state.engine.jobs().get(id).await?;
    manage::require(&call.by, Action::View, Object::App(job.app_id), || format!("job {id}"))?;
    Ok(job)
}

/// `/jobinfo/remove`, `/jobinfo/delete`, `/api/removeJob`
pub async fn remove(state: Shared, call: Call) -> Reply {
    state.engine.jobs().delete(call.parameters.one_id()?, &call.by).await?;
    Ok(call.done(Value::Null))
}

/// `/jobinfo/start`, `/api/startJob`: xxl-job starts no job that will not fire.
pub async fn start(state: Shared, call: Call) -> Reply {
    let job = visible_job(&state, &call, call.parameters.one_id()?).await?;
    let next = state.engine.jobs().next_fires(job.id, None, 1).await?;
    if next.fires.is_empty() && job.draft.schedule.kind() != "fixed_delay" {
        return Err(Error::field("scheduleType", "the job has no schedule, or one that never fires again"));
    }
    state.engine.jobs().resume(job.id, &call.by).await?;
    Ok(call.done(Value::Null))
}

/// `/jobinfo/stop`, `/api/stopJob`
pub async fn stop(state: Shared, call: Call) -> Reply {
    state.engine.jobs().pause(call.parameters.one_id()?, PauseNote::default(), &call.by).await?;
    Ok(call.done(Value::Null))
}

/// `/jobinfo/trigger`, `/api/triggerJob`. An absent parameter is the job's own; an empty one is empty. Of several addresses the first
/// that is registered gets the run.
pub async fn trigger(state: Shared, call: Call) -> Reply {
    let sent = &call.parameters;
    let list = sent.text(&["addressList"]).unwrap_or_default();
    let addresses: Vec<&str> = list.split(',').map(str::trim).filter(|address| !address.is_empty()).collect();
    let mut addresses = addresses.into_iter().peekable();
    let job_id = sent.id("id")?;
    loop {
        let address = addresses.next().map(str::to_owned);
        let request = RunRequest {
            parts: None,
            job_id,
            cause: Cause::Api,
            params: sent.find("executorParam").map(str::to_owned),
            priority: None,
            address,
            idempotency_key: None,
        };
        match state.engine.jobs().run(request, &call.by).await {
            Err(manage::Error::Invalid(wrong))
                if addresses.peek().is_some() && wrong.iter().all(|error| error.field == "address") => {}
            done => {
                done?;
                return Ok(call.done(Value::Null));
            }
        }
    }
}

/// `/jobinfo/nextTriggerTime`
pub async fn next_trigger_times(state: Shared, call: Call) -> Reply {
    let zone = state.config.report_zone;
    let mut draft = JobDraft::new("preview", "preview", "preview");
    draft.schedule = asked_kind(&call.parameters, zone)?.into();
    let ask = PreviewRequest { draft: &draft, before: None, needs_app: false, from: None, count: NEXT };
    let preview = state.engine.jobs().preview(&ask, &call.by).await?;
    let times: Vec<String> = preview.fires.iter().map(|at| dates::local(*at, zone)).collect();
    Ok(call.done(times))
}

//! `/jobinfo/pageList`, and the jobs of a group.

use carillon_store::{Job, JobFilter};
use serde_json::json;

use super::answer::Reply;
use super::call::Call;
use super::job_fields::row;
use super::paging::PageRange;
use crate::web::api::Error;
use crate::web::state::{Shared, State};

/// Jobs that one call looks at: the newest ones, and fewer where texts are looked for.
const MOST: u32 = 100_000;
const MOST_SEARCHED: u32 = 10_000;
/// Jobs that are read at once.
const SLICE: usize = 1000;

/// `/jobinfo/pageList`
pub async fn page_list(state: Shared, call: Call) -> Reply {
    let range = PageRange::of(&call)?;
    let (ids, total) = found(&state, &call, range).await?;
    let mut jobs = newest_first(&state, &call, &ids).await?;
    let now = state.clock.now();
    state.store.jobs().show_next_fires(&mut jobs, now).await?;
    let rows: Vec<_> = jobs.iter().map(|job| row(job, &call, state.config.report_zone)).collect();
    Ok(range.answer(&call, &rows, total))
}

/// The jobs of the page, and how many there are.
async fn found(state: &State, call: &Call, range: PageRange) -> Result<(Vec<i64>, usize), Error> {
    let sent = &call.parameters;
    let mut filter = JobFilter { apps: call.visible(), ..JobFilter::default() };
    if sent.number("jobGroup")?.is_some_and(|id| id > 0) {
        filter.app = Some(call.app(state, "jobGroup").await?.name);
    }
    filter.enabled = sent.number("triggerStatus")?.filter(|status| *status >= 0).map(|status| status == 1);
    let texts = [["jobDesc", "name"], ["executorHandler"; 2], ["author"; 2]].map(|names| sent.text(&names));
    if texts.iter().all(Option::is_none) {
        let ids = state.store.jobs().ids_of(&filter, MOST).await?;
        return Ok((range.cut(&ids).to_vec(), ids.len()));
    }
    // The database finds a part of the name or the handler; an owner is found whole there.
    filter.text = texts[0].or(texts[1]).map(str::to_owned);
    let mut fitting = vec![];
    for slice in state.store.jobs().ids_of(&filter, MOST_SEARCHED).await?.chunks(SLICE) {
        let jobs = newest_first(state, call, slice).await?;
        let fits = |job: &&Job| {
            let draft = &job.draft;
            let of_handler = sent.fits(&["executorHandler"], &draft.handler);
            sent.fits(&["jobDesc", "name"], &draft.name) && of_handler && sent.fits(&["author"], &draft.owner)
        };
        fitting.extend(jobs.iter().filter(fits).map(|job| job.id));
    }
    Ok((range.cut(&fitting).to_vec(), fitting.len()))
}

/// At most 1000.
async fn newest_first(state: &State, call: &Call, ids: &[i64]) -> Result<Vec<Job>, Error> {
    if ids.is_empty() {
        return Ok(vec![]);
    }
    let filter = JobFilter { apps: call.visible(), ids: ids.to_vec(), limit: SLICE as u32, ..JobFilter::default() };
    Ok(state.store.jobs().list(&filter).await?.items)
}

/// `/joblog/getJobsByGroup`
pub async fn jobs_of_group(state: Shared, call: Call) -> Reply {
    let app = call.app(&state, "jobGroup").await?;
    let filter = JobFilter { apps: call.visible(), app: Some(app.name), ..JobFilter::default() };
    let ids = state.store.jobs().ids_of(&filter, SLICE as u32).await?;
    let jobs = newest_first(&state, &call, &ids).await?;
    let rows: Vec<_> = jobs.iter().map(|job| row(job, &call, state.config.report_zone)).collect();
    Ok(call.done(json!(rows)))
}

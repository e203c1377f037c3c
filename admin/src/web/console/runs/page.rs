//! The page of a run: timeline, facts, the other runs of its fire, and the log.

use actix_web::web;
use askama::Template;
use carillon_scheduler::RunState;
use carillon_store::{Job, RunParams};

use crate::web::console::runs::log::{self, LogView};
use crate::web::console::runs::route::RouteView;
use crate::web::console::runs::row::RunRow;
use crate::web::console::runs::timeline::{TimelineStep, timeline};
use crate::web::page::{PageContext, PageResult, show};
use crate::web::state::Shared;

#[derive(Template)]
#[template(path = "runs/page.html")]
struct Page {
    context: PageContext,
    row: RunRow,
    job: Option<Job>,
    may_operate: bool,
    steps: Vec<TimelineStep>,
    choice: Option<RouteView>,
    /// The other runs of the same fire.
    family: Vec<RunRow>,
    given: RunParams,
    log: LogView,
}

impl Page {
    fn can_be_killed(&self) -> bool {
        let run = &self.row.run;
        matches!(run.state, RunState::Claimed | RunState::Sending | RunState::Running) && run.kill_asked_at.is_none()
    }

    /// Its outcome is not known to the engine.
    fn can_be_resolved(&self) -> bool {
        matches!(self.row.run.state, RunState::Unknown | RunState::Lost)
    }

    /// The parameters of the run; None: see the note.
    fn params(&self) -> Option<&str> {
        self.given.text()
    }

    /// Where the parameters come from, and whether those of the job differ now.
    fn params_note(&self) -> String {
        match &self.given {
            RunParams::Own(_) => "given for this run".to_owned(),
            RunParams::Waiting(_) => "the job's own, as they are now: the run is not sent yet".to_owned(),
            RunParams::NeverSent => "It was never sent, so it was given none.".to_owned(),
            RunParams::NotOnRecord => "They are not on record for this run.".to_owned(),
            RunParams::Sent(text) => {
                let version = self.row.run.revision.map_or_else(String::new, |number| format!(", version {number}"));
                match &self.job {
                    Some(job) if job.draft.params != *text => {
                        format!("the job's own as the run was sent{version}; version {} has others", job.revision)
                    }
                    _ => format!("the job's own{version}"),
                }
            }
        }
    }

    fn is_moving(&self) -> bool {
        self.row.badge.moving
    }
}

/// `GET /runs/{id}`
pub async fn page(
    state: Shared,
    context: PageContext,
    id: web::Path<i64>,
    query: web::Query<log::LogQuery>,
) -> PageResult {
    let run = state.engine.runs().get(*id).await?;
    let mut family = state.store.fire_runs(&run).await?;
    if family.len() < 2 {
        family.clear();
    }
    let now = context.now;
    let app_id = state.store.app_of_run(run.id).await?;
    let choice = state.store.choice(&run).await?.map(RouteView::new);
    let row = RunRow::new(run, now);
    let page = Page {
        choice,
        log: log::view(&state, &row.run, query.line).await,
        given: state.store.params_of(&row.run).await?,
        // It may have moved to an app that the viewer does not see.
        job: state.store.job(row.run.job_id).await?.filter(|job| context.may_see(&job.app_id)),
        steps: timeline(&row.run, &row, now),
        may_operate: app_id.is_some_and(|app_id| context.may_operate(&app_id)),
        family: family.into_iter().map(|run| RunRow::new(run, now)).collect(),
        row,
        context,
    };
    Ok(show(&page))
}

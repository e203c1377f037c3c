//! The page of a run: timeline, facts, the nodes of a workflow, the other runs of its fire, and the log.

use std::borrow::Cow;

use actix_web::HttpRequest;
use actix_web::web::{Path, Query};
use askama::Template;
use carillon_engine::manage::FoundRun;
use carillon_inspect::explain;
use carillon_scheduler::job::placeholders::{PlaceholderValues, fill};
use carillon_scheduler::{Cause, Millis, RunState, Traceparent, Zone};
use carillon_store::map::view::DeliveryView;
use carillon_store::{Job, RunParams, RunView};

use crate::web::console::runs::audit_trail::{RunPeople, name_deleted_jobs, people_of};
use crate::web::console::runs::items::Items;
use crate::web::console::runs::log::{self, LogView};
use crate::web::console::runs::route::RouteView;
use crate::web::console::runs::row::RunRow;
use crate::web::console::runs::scheduled;
use crate::web::console::runs::timeline::{TimelineStep, timeline};
use crate::web::console::workflows::progress::Progress;
use crate::web::guard::session_guard::LIVE;
use crate::web::locale::Message;
use crate::web::page::{PageContext, PageError, PageResult, redirect, show};
use crate::web::state::{Shared, State};

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
    /// The runs that repeat this one.
    reruns: Vec<i64>,
    /// The run whose success has started this one. None: it is no run of a child job. Inside None: the viewer may not see it.
    parent: Option<Option<RunView>>,
    /// The runs of child jobs that its fire has started.
    children: Vec<RunRow>,
    people: RunPeople,
    given: RunParams,
    log: LogView,
    /// The items that it has handed in.
    items: Option<Items>,
    /// The items that it delivers, of a run that the viewer may see.
    delivery: Option<DeliveryView>,
    /// The W3C trace context of its request.
    traceparent: Traceparent,
    /// It runs no handler, so it has no executor and no log.
    is_workflow: bool,
    /// Of a workflow that has begun.
    progress: Option<Progress>,
    /// What it waits for, with its place in line.
    waits: Vec<String>,
    /// The workflow's run of which it is a node, and the node's name. None: it is no node, or the viewer may not see that run.
    node_of: Option<(i64, String)>,
}

impl Page {
    fn can_be_killed(&self) -> bool {
        let run = &self.row.run;
        matches!(run.state, RunState::Claimed | RunState::Sending | RunState::Running) && run.kill_asked_at.is_none()
    }

    /// From its due time until its request left, in ms.
    fn late_when_sent(&self) -> Option<Millis> {
        Some(self.row.run.sent_at? - self.row.run.due_at)
    }

    /// The same until its executor received it, by that one's clock.
    fn late_when_received(&self) -> Option<Millis> {
        Some(self.row.run.received_at? - self.row.run.due_at)
    }

    /// The key of what a run is sent to.
    fn receiver(&self) -> &'static str {
        let is_http = self.job.as_ref().is_some_and(|job| job.draft.http.is_some());
        if is_http { "http-service" } else { "executor" }
    }

    /// An ended run of a workflow that no later attempt has repeated.
    fn can_go_on(&self) -> bool {
        let run = &self.row.run;
        let is_repeated = || self.family.iter().any(|other| other.run.attempt > run.attempt);
        self.progress.is_some() && self.job.is_some() && !run.state.is_open() && !is_repeated()
    }

    /// Running it again what failed is the first thing to do.
    fn has_failed(&self) -> bool {
        matches!(self.row.run.state, RunState::Failed | RunState::Killed)
    }

    /// Its outcome is not known to the engine.
    fn can_be_resolved(&self) -> bool {
        matches!(self.row.run.state, RunState::Unknown | RunState::Lost)
    }

    /// The parameters of the run as its executor gets them; None: see the note.
    fn params(&self) -> Option<Cow<'_, str>> {
        let run = &self.row.run;
        if self.is_workflow && !matches!(self.given, RunParams::Own(_)) {
            return None;
        }
        let text = self.given.text()?;
        // The result of a parent is sent as it is.
        if matches!(run.cause, Cause::Child | Cause::Node) && matches!(self.given, RunParams::Own(_)) {
            return Some(text.into());
        }
        let zone = self.job.as_ref().map_or(Zone::UTC, |job| job.draft.schedule.zone());
        let RunView { id, job_id, scheduled_at, attempt, part, parts, .. } = *run;
        Some(fill(text, &PlaceholderValues { scheduled_at, zone, run_id: id, job_id, attempt, part, parts }))
    }

    /// Where the parameters come from, and whether those of the job differ now.
    fn params_note(&self) -> Message {
        match &self.given {
            RunParams::Own(_) => self.context.t("params-given"),
            // It is sent to no executor, so there is no record of what it was sent.
            _ if self.is_workflow => self.context.t("workflow-params-own"),
            RunParams::OfPart(_) => self.context.t("params-of-part"),
            RunParams::Waiting(_) => self.context.t("params-waiting"),
            RunParams::Items => self.context.t("params-items"),
            RunParams::NeverSent => self.context.t("params-never-sent"),
            RunParams::NotOnRecord => self.context.t("params-unknown"),
            RunParams::Sent(text) => {
                let changed = self.job.as_ref().filter(|job| job.draft.params != *text);
                match (self.row.run.revision, changed) {
                    (None, None) => self.context.t("params-own"),
                    (Some(version), None) => self.context.t("params-of-version").with("version", version),
                    (None, Some(job)) => self.context.t("params-changed").with("now", job.revision),
                    (Some(version), Some(job)) => {
                        self.context.t("params-changed-since").with("version", version).with("now", job.revision)
                    }
                }
            }
        }
    }

    /// Which lines of the log the page shows.
    fn place(&self) -> Message {
        self.log.place(self.context.language)
    }

    /// A delivery of items is no fire of its own.
    fn can_run_again(&self) -> bool {
        self.job.is_some() && self.row.run.cause != Cause::Item
    }

    fn is_moving(&self) -> bool {
        self.row.badge.moving
    }
}

/// A run that the viewer may see; one of before its job has moved may belong to another app.
pub async fn visible_run(state: &State, context: &PageContext, id: i64) -> Result<Option<RunView>, PageError> {
    match state.store.apps().app_of_run(id).await?.filter(|app_id| context.may_see(app_id)) {
        Some(_) => Ok(state.store.runs().get(id).await?),
        None => Ok(None),
    }
}

/// The workflow's run that the viewer may see, and the name of the node.
async fn node_of(state: &State, context: &PageContext, run: &RunView) -> Result<Option<(i64, String)>, PageError> {
    let owner = match run.cause {
        Cause::Node => state.store.workflows().owner_of(run.fire_no).await?,
        _ => None,
    };
    match owner {
        Some((id, node)) => Ok(visible_run(state, context, id).await?.map(|run| (run.id, node))),
        None => Ok(None),
    }
}

/// `GET /runs/{id}`
pub async fn page(
    state: Shared,
    context: PageContext,
    id: Path<i64>,
    query: Query<log::LogQuery>,
    request: HttpRequest,
) -> PageResult {
    let run = match state.engine.runs().find(*id).await? {
        FoundRun::Scheduled(run) => return Ok(redirect(&scheduled::address(&run))),
        // The number of its trigger.
        FoundRun::Run(run) if run.id != *id => return Ok(redirect(&format!("/runs/{}", run.id))),
        FoundRun::Run(run) => *run,
    };
    let mut family = state.store.runs().fire_runs(&run, &context.visible()).await?;
    if family.len() < 2 {
        family.clear();
    }
    let app_id = state.store.apps().app_of_run(run.id).await?;
    let choice = state.store.runs().route_decision(&run).await?.map(|choice| RouteView::new(context.language, choice));
    let mut row = RunRow::new(&context, run);
    name_deleted_jobs(&state, std::slice::from_mut(&mut row)).await?;
    // The script that keeps the page fresh fetches the log by itself.
    // It may have moved to an app that the viewer does not see.
    let job = state.store.jobs().get(row.run.job_id).await?;
    let may_operate = app_id.is_some_and(|app_id| context.may_operate(&app_id));
    let view = state.engine.runs().workflow(row.run.id, &context.actor).await?;
    let is_sent = row.run.address.is_some() || row.run.sends > 0;
    let is_workflow = view.is_some() || !is_sent && job.as_ref().is_some_and(|job| job.draft.workflow.is_some());
    let log = match is_workflow || request.headers().contains_key(LIVE) {
        true => LogView::default(),
        false => log::view(&state, &context, &row.run, query.line).await,
    };
    let people = people_of(&state, &row.run).await?;
    let children = state.store.runs().child_runs(&row.run, &context.visible()).await?;
    let items = Items::of(&state, &row.run).await?;
    let delivery = match row.run.cause {
        Cause::Item => state.store.maps().delivery(row.run.fire_no, row.run.part).await?,
        _ => None,
    };
    let since = context.exact(&row.run.due_at);
    let places = explain::places_of(&state.store, &[&row.run], &context.visible()).await?;
    let waits = places
        .values()
        .flatten()
        .map(|place| explain::waits_for(context.language, place, &since).to_string())
        .collect();
    let page = Page {
        waits,
        items,
        delivery,
        parent: match row.run.cause {
            Cause::Child => Some(visible_run(&state, &context, row.run.fire_no).await?),
            _ => None,
        },
        children: children.into_iter().map(|run| RunRow::new(&context, run)).collect(),
        steps: timeline(&context, &row, &people, is_workflow),
        people,
        choice,
        log,
        traceparent: row.run.traceparent(&state.engine.cx.cluster),
        is_workflow,
        progress: view.map(|view| Progress::new(&context, &row.run, view, may_operate)),
        node_of: node_of(&state, &context, &row.run).await?,
        reruns: state.store.runs().reruns_of(row.run.id).await?,
        given: state.store.runs().params_of(&row.run).await?,
        job: job.filter(|job| context.may_see(&job.app_id)),
        may_operate,
        family: family.into_iter().map(|run| RunRow::new(&context, run)).collect(),
        row,
        context,
    };
    Ok(show(&page))
}

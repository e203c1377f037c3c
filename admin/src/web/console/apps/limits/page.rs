//! `GET /limits/{id}`: one limit, the runs that have its slots, and those that wait.

use actix_web::web::Path;
use askama::Template;
use carillon_engine::manage::{LimitLine, LimitUse};
use carillon_scheduler::Millis;
use carillon_store::RunView;
use foldhash::HashMap;

use crate::web::access::Caller;
use crate::web::page::{PageContext, PageResult, show};
use crate::web::state::Shared;

/// A run with a slot, or one that waits.
struct LineRow {
    run: RunView,
    /// When it got its slot, or was due.
    since: Millis,
    /// In seconds.
    priority: i32,
}

#[derive(Template)]
#[template(path = "apps/limits/page.html")]
struct Page {
    context: PageContext,
    limit: LimitUse,
    holders: Vec<LineRow>,
    waiting: Vec<LineRow>,
    may_set: bool,
}

/// Whether the viewer may set limits of this app; None: shared ones.
pub(super) fn may_set(context: &PageContext, app_id: Option<i64>) -> bool {
    app_id.map_or_else(|| context.may_administer_installation(), |id| context.may_administer(&id))
}

/// `GET /limits/{id}`
pub async fn page(state: Shared, by: Caller, context: PageContext, id: Path<i64>) -> PageResult {
    let limits = state.engine.run_limits();
    let limit = limits.get(*id, &by.0).await?;
    let LimitLine { holders, waiting } = limits.line(&limit.rule, &by.0).await?;
    let ids: Vec<i64> = holders.iter().map(|it| it.run_id).chain(waiting.iter().map(|it| it.run_id)).collect();
    let runs = state.store.runs().with_ids(&ids).await?;
    let mut runs: HashMap<i64, RunView> = runs.into_iter().map(|(_, run)| (run.id, run)).collect();
    let mut row = |run_id: i64, since, priority| Some(LineRow { run: runs.remove(&run_id)?, since, priority });
    let holders = holders.iter().filter_map(|it| row(it.run_id, it.taken_at, 0)).collect();
    let waiting = waiting.iter().filter_map(|it| row(it.run_id, it.due_at, it.priority)).collect();
    let may_set = may_set(&context, limit.rule.app_id);
    Ok(show(&Page { context, limit, holders, waiting, may_set }))
}

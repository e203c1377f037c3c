//! Executors by app, and the apps themselves.

use std::collections::BTreeMap;

use askama::Template;
use carillon_store::App;
use carillon_store::app::executors::Executor;

use crate::web::console::badge::{Badge, DRAINING, OFFLINE, ONLINE, UNREACHABLE};
use crate::web::executor_api::refusals::RefusedExecutor;
use crate::web::page::{PageContext, PageResult, show};
use crate::web::state::{Shared, State};

/// An address that has registered.
struct RegisteredExecutor {
    executor: Executor,
    app_id: Option<i64>,
    badge: Badge,
    is_live: bool,
    /// It registers, but this node's requests to it fail.
    is_unreachable: bool,
}

impl RegisteredExecutor {
    fn new(executor: Executor, state: &State, now: i64) -> Self {
        let is_live = executor.is_live(now);
        let is_unreachable = is_live && state.engine.is_unreachable(&executor.app, &executor.address, executor.seen_at);
        Self {
            badge: match (is_live, is_unreachable) {
                (true, true) => UNREACHABLE,
                (true, false) if executor.is_draining() => DRAINING,
                (true, false) => ONLINE,
                (false, _) => OFFLINE,
            },
            is_live,
            is_unreachable,
            app_id: None,
            executor,
        }
    }

    fn labels(&self) -> String {
        self.executor.labels().to_string()
    }

    /// Where its weight, its labels and its draining are set, once there is such an app, by those who may.
    fn settings(&self, context: &PageContext) -> Option<String> {
        let app_id = self.app_id.filter(|app_id| context.may_operate(app_id))?;
        let address = url::form_urlencoded::byte_serialize(self.executor.address.as_bytes());
        let address: String = address.collect();
        Some(format!("/apps/{app_id}/executor?address={address}"))
    }

    /// Only the SDK sends a boot id.
    fn kind(&self) -> &'static str {
        match self.executor.boot_id {
            Some(_) => "Carillon SDK",
            None => "xxl-job",
        }
    }

    /// It is there because its address was entered, and has sent no heartbeat since.
    fn is_silent(&self) -> bool {
        self.executor.manual_since == Some(self.executor.seen_at)
    }

    /// The word of `data-state` on its row, which is the key of its state too.
    fn state(&self) -> &'static str {
        self.badge.word
    }
}

struct AppExecutors {
    app: App,
    executors: Vec<RegisteredExecutor>,
    online: usize,
    /// Of those that are online, the ones that drain.
    draining: usize,
}

struct UnknownApp {
    name: String,
    executors: Vec<RegisteredExecutor>,
}

#[derive(Template)]
#[template(path = "apps/list.html")]
struct Page {
    context: PageContext,
    groups: Vec<AppExecutors>,
    unknown: Vec<UnknownApp>,
    /// Refused by this node.
    refused: Vec<RefusedExecutor>,
    /// There is a token of all apps.
    has_global: bool,
}

/// `GET /apps`
pub async fn list(state: Shared, context: PageContext) -> PageResult {
    let mut executors: BTreeMap<String, Vec<RegisteredExecutor>> = BTreeMap::new();
    for executor in state.store.apps().visible_executors(&context.visible()).await? {
        let of_app = executors.entry(executor.app.clone()).or_default();
        of_app.push(RegisteredExecutor::new(executor, &state, context.now));
    }
    let apps = state.store.apps().list(&context.visible()).await?.into_iter();
    let groups = apps
        .map(|app| {
            let mut executors = executors.remove(&app.name).unwrap_or_default();
            for registered in &mut executors {
                registered.app_id = Some(app.id);
            }
            let online = executors.iter().filter(|registered| registered.is_live && !registered.is_unreachable).count();
            let draining = executors.iter().filter(|registered| registered.badge == DRAINING).count();
            AppExecutors { app, executors, online, draining }
        })
        .collect();
    // Registrations that came while an app was renamed: the next ones are those of the app.
    executors.retain(|name, _| state.engine.apps().current_name(name) == *name);
    let unknown = executors.into_iter().map(|(name, executors)| UnknownApp { name, executors });
    let has_global = state.engine.executor_tokens().has_global();
    let refused = match context.may_see_installation() {
        true => state.refused_executors.recent(context.now),
        false => vec![],
    };
    let page = Page { groups, unknown: unknown.collect(), refused, has_global, context };
    Ok(show(&page))
}

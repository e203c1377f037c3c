//! Each changing route leaves exactly one entry in the audit, and so does each refusal.

use std::time::Duration;

use carillon_admin::web::{RouteEntry, route_table};
use carillon_scheduler::{AuditAction, Clock as _};
use carillon_store::app::executors::ExecutorSettings;
use carillon_store::audit::list::{AuditFilter, AuditRow};
use carillon_store::{Actor, DeclarationSetting};
use reqwest::Client;
use reqwest::redirect::Policy;

use super::callers::{self, Caller, session};
use super::request::{Which, is_executor_api, request};
use super::world::World;
use crate::services::{Kind, TestDatabase, on};

/// Paths whose changing methods change nothing, and why.
pub(super) const NO_CHANGE: [(&str, &str); 20] = [
    ("/api/v1/callbacks/{name}", "the URL is none of the server's"),
    ("/api/v1/preview", "looks ahead"),
    ("/setup", "there are accounts"),
    ("/login/code", "no sign-in has begun"),
    ("/account/second-factor", "the form is refused"),
    ("/account/second-factor/confirm", "no secret was shown"),
    ("/account/second-factor/remove", "there is none"),
    ("/users/{id}/second-factor/remove", "there is none"),
    ("/jobs/{id}/script", "the form is refused"),
    ("/reset", "the link is no link"),
    ("/runs/{id}/cancel", "the run is not scheduled"),
    ("/runs/{id}/move", "the run is not scheduled"),
    ("/runs/{id}/decide", "the run is of no workflow"),
    ("/runs/{id}/rerun", "the run is of no workflow"),
    ("/api/v1/runs/{id}", "the run is not scheduled"),
    ("/api/v1/runs/{id}/workflow", "the run is of no workflow"),
    ("/api/v1/runs/{id}/rerun", "the run is of no workflow"),
    ("/preferences", "for the person's own eyes"),
    ("/account/password", "the form is refused"),
    ("/users/{id}/tokens/{token}/revoke", "there is no such token"),
];

/// The places of `callers::all`.
const VIEWER: usize = 1;
pub(super) const ADMIN: usize = 5;

pub(super) struct Audited {
    pub world: World,
    pub client: Client,
    pub callers: Vec<Caller>,
}

impl Audited {
    pub async fn start(db: &TestDatabase) -> Self {
        let world = World::start(db).await;
        let callers = callers::all(&world).await;
        let client = Client::builder().redirect(Policy::none()).build().unwrap();
        let audited = Self { world, client, callers };
        // The first use of a token has an entry of its own.
        for caller in [VIEWER, ADMIN] {
            let Caller::Account { token, .. } = &audited.callers[caller] else { panic!("no account") };
            for url in &audited.world.urls {
                let call = audited.client.get(format!("{url}/api/v1/apps")).bearer_auth(token);
                assert_eq!(call.send().await.unwrap().status(), 200);
            }
        }
        audited
    }

    async fn entries(&self) -> Vec<AuditRow> {
        let filter = AuditFilter { limit: 1000, ..AuditFilter::default() };
        self.world.store.audit().list(&filter).await.unwrap().items
    }

    /// The status and the entries that a request has left. Every request is a minute after the one before: refusals are bounded.
    async fn ask(&self, route: &RouteEntry, caller: usize) -> (u16, Vec<AuditRow>) {
        self.world.clock.advance(Duration::from_secs(60));
        let call =
            request(&self.client, &self.world, &self.world.urls[0], &self.callers[caller], route, Which::Own).await;
        let before: Vec<i64> = self.entries().await.iter().map(|entry| entry.id).collect();
        let status = call.send().await.unwrap().status().as_u16();
        let mut after = self.entries().await;
        after.retain(|entry| !before.contains(&entry.id));
        (status, after)
    }

    /// Brings the objects into a state that the route changes.
    pub async fn prepare(&mut self, route: &RouteEntry) {
        self.world.renew().await;
        let (world, by) = (&self.world, Actor::engine());
        match route.path.rsplit('/').next().unwrap_or_default() {
            "disable" if route.access.ends_with("job") => {
                world.engine.jobs().resume(world.own.job, &by).await.unwrap();
            }
            "executor" | "executors" | "drain" => {
                let (now, none) = (world.clock.now(), ExecutorSettings::default());
                let own = &world.own;
                world.store.apps().set_executor_settings(&own.app, &own.executor, &none, now, &by).await.unwrap();
                world.store.apps().set_executor_draining(&own.app, &own.executor, false, now, &by).await.unwrap();
            }
            // The one that the route before has made.
            "revoke" if route.access == "own" => {
                let Caller::Account { id, .. } = &self.callers[ADMIN] else { panic!("no account") };
                let token = world.store.people().tokens_of(*id).await.unwrap().remove(0);
                self.world.own_token = token.id;
            }
            "resolve" => world.sql(&format!("UPDATE run SET state = 4 WHERE id = {}", world.own.run)).await,
            "end" => {
                session(world, world.guest).await;
                let Caller::Account { id, .. } = &self.callers[ADMIN] else { panic!("no account") };
                session(world, *id).await;
            }
            "declarations" => {
                let (app, now) = (world.own.app.id, world.clock.now());
                world.store.declarations().set(app, DeclarationSetting::Report, now, &by).await.unwrap();
            }
            _ if route.path.contains("/secrets/") && route.method != "PUT" => {
                for name in ["KEY", "bank"] {
                    world.engine.app_secrets().set(world.own.app.id, name, "a secret of a test", &by).await.unwrap();
                }
            }
            _ => {}
        }
    }
}

pub(super) fn changes(route: &RouteEntry) -> bool {
    route.method != "GET" && !is_executor_api(route)
}

// covers: S37, V10
#[test]
fn each_change_leaves_one_entry_with_its_actor() {
    on(Kind::Postgres, async |db: &TestDatabase| {
        let mut audited = Audited::start(db).await;
        let mut wrong = vec![];
        for route in route_table().into_iter().filter(changes) {
            audited.prepare(&route).await;
            let (status, entries) = audited.ask(&route, ADMIN).await;
            let found: Vec<_> = entries
                .iter()
                .map(|entry| {
                    (entry.actor.as_str(), entry.source.as_str(), entry.request_id.is_some(), entry.action.as_str())
                })
                .collect();
            let actor = if route.path == "/login" { "admin" } else { "all-admin" };
            let is_right = match NO_CHANGE.iter().any(|(path, _)| *path == route.path) {
                true => found.is_empty(),
                false => status < 400 && matches!(found[..], [(who, "127.0.0.1", true, _)] if who == actor),
            };
            if !is_right {
                wrong.push(format!("{} {}: {status}, {found:?}", route.method, route.path));
            }
        }
        assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    });
}

// covers: S37, V10
#[test]
fn each_refusal_leaves_one_entry_of_a_denial() {
    on(Kind::Postgres, async |db: &TestDatabase| {
        let audited = Audited::start(db).await;
        let mut wrong = vec![];
        let needs_role = |route: &RouteEntry| {
            route.access != "open"
                && route.access != "own"
                && !route.access.starts_with("view any")
                && !is_executor_api(route)
        };
        for route in route_table().into_iter().filter(|route| changes(route) && needs_role(route)) {
            let (status, entries) = audited.ask(&route, VIEWER).await;
            let found: Vec<_> = entries.iter().map(|entry| (entry.actor.as_str(), entry.action.as_str())).collect();
            let has_app =
                !["job", "run", "app", "backfill"].iter().any(|word| route.access.ends_with(&format!(" {word}")))
                    || route.access.ends_with("any app")
                    || entries.iter().all(|entry| entry.app_id == Some(audited.world.own.app.id));
            if status != 403 || found != [("viewer", "deny")] || !has_app {
                wrong.push(format!("{} {}: {status}, {found:?}", route.method, route.path));
            }
        }
        assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    });
}

// covers: S37
#[test]
fn an_object_of_another_app_is_denied_in_the_audit_and_missing_in_the_answer() {
    on(Kind::Postgres, async |db: &TestDatabase| {
        let audited = Audited::start(db).await;
        let Caller::Account { token, .. } = &audited.callers[VIEWER] else { panic!("no account") };
        let other = &audited.world.other;
        let url = format!("{}/api/v1/jobs/{}", audited.world.urls[0], other.job);
        assert_eq!(audited.client.get(url).bearer_auth(token).send().await.unwrap().status(), 404);
        let filter = AuditFilter { actions: vec![AuditAction::Deny], limit: 10, ..AuditFilter::default() };
        // It is written beside the answer, whose time must not show that there is such a job.
        let entry = loop {
            match audited.world.store.audit().list(&filter).await.unwrap().items.pop() {
                Some(entry) => break entry,
                None => tokio::task::yield_now().await,
            }
        };
        assert_eq!((entry.object.as_str(), entry.object_id, entry.app_id), ("job", other.job, Some(other.app.id)));
    });
}

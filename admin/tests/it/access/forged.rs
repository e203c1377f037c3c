//! Requests that another site makes a browser send: each route that changes something refuses them and changes nothing.

use carillon_admin::web::{RouteEntry, route_table};
use carillon_store::audit::list::AuditFilter;
use reqwest::header::{HeaderName, HeaderValue, ORIGIN};
use reqwest::redirect::Policy;
use reqwest::{Body, Client, Method, Request};

use super::callers::{Caller, account, session};
use super::request::{Which, is_api, is_executor_api, request};
use super::world::World;
use crate::services::{Kind, TestDatabase, on};
use carillon_store::{GrantScope, Grants, Role};

struct Forger {
    world: World,
    client: Client,
    admin: Caller,
}

impl Forger {
    async fn start(db: &TestDatabase) -> Self {
        let world = World::start(db).await;
        let grants = Grants::for_all(Role::Admin).with_scripts([GrantScope::AllApps]);
        let id = account(&world, "admin-of-all", &grants).await;
        let admin = Caller::Account { id, token: String::new() };
        Self { world, client: Client::builder().redirect(Policy::none()).build().unwrap(), admin }
    }

    /// A request that would be accepted.
    async fn good(&self, route: &RouteEntry) -> Request {
        let url = &self.world.urls[0];
        request(&self.client, &self.world, url, &self.admin, route, Which::Own).await.build().unwrap()
    }

    /// Entries of changes: each change leaves one.
    async fn changes(&self) -> usize {
        let filter = AuditFilter { limit: 1000, ..AuditFilter::default() };
        let entries = self.world.store.audit().list(&filter).await.unwrap().items;
        entries.iter().filter(|entry| !["deny", "sign_in", "refuse_sign_in"].contains(&entry.action.as_str())).count()
    }

    async fn refused(&self, request: Request, statuses: &[u16], what: &str) {
        let before = self.changes().await;
        let status = self.client.execute(request).await.unwrap().status().as_u16();
        assert!(statuses.contains(&status), "{what}: {status}");
        assert_eq!(self.changes().await, before, "{what}");
    }
}

fn is_console(route: &RouteEntry) -> bool {
    !is_api(&route.path) && !is_executor_api(route) && route.path != "/metrics"
}

/// The same request with another form token.
fn with_csrf(mut request: Request, csrf: &str) -> Request {
    let body = String::from_utf8(request.body().and_then(Body::as_bytes).unwrap_or_default().to_vec()).unwrap();
    let rest = body.split_once('&').map_or("", |(_, rest)| rest);
    *request.body_mut() = Some(format!("csrf={csrf}&{rest}").into());
    request
}

// covers: S7
#[test]
fn no_form_of_another_site_is_accepted_by_any_route() {
    on(Kind::Postgres, async |db| {
        let forger = Forger::start(db).await;
        let routes: Vec<_> = route_table().into_iter().filter(|it| it.method != "GET" && is_console(it)).collect();
        assert!(routes.len() > 40, "{routes:?}");
        let (_, foreign) = session(&forger.world, forger.world.guest).await;
        for route in routes {
            let place = format!("{} {}", route.method, route.path);
            for origin in [None, Some("http://evil.example"), Some("null")] {
                let mut request = forger.good(&route).await;
                request.headers_mut().remove(ORIGIN);
                if let Some(origin) = origin {
                    request.headers_mut().insert(ORIGIN, HeaderValue::from_static(origin));
                }
                forger.refused(request, &[403], &format!("{place} from {origin:?}")).await;
            }
            let mut cross_site = forger.good(&route).await;
            cross_site.headers_mut().remove(ORIGIN);
            let fetch_site = HeaderName::from_static("sec-fetch-site");
            cross_site.headers_mut().insert(fetch_site, HeaderValue::from_static("cross-site"));
            forger.refused(cross_site, &[403], &format!("{place}, cross-site")).await;
            if route.access == "open" {
                continue;
            }
            for csrf in ["", &foreign] {
                let request = with_csrf(forger.good(&route).await, csrf);
                forger.refused(request, &[403], &format!("{place} with the token {csrf:?}")).await;
            }
        }
    });
}

// covers: S7
#[test]
fn no_route_changes_anything_by_get() {
    on(Kind::Postgres, async |db| {
        let forger = Forger::start(db).await;
        for route in route_table().into_iter().filter(|it| it.method != "GET" && is_console(it)) {
            let mut request = forger.good(&route).await;
            *request.method_mut() = Method::GET;
            let body = request.body_mut().take();
            let query = String::from_utf8(body.as_ref().and_then(Body::as_bytes).unwrap_or_default().to_vec()).unwrap();
            request.url_mut().set_query(Some(&query));
            let place = format!("GET {} with the fields of the form", route.path);
            forger.refused(request, &[200, 303, 400, 404, 405, 410], &place).await;
        }
    });
}

// covers: S7
#[test]
fn a_session_opens_no_route_of_the_api() {
    on(Kind::Postgres, async |db| {
        let forger = Forger::start(db).await;
        let Caller::Account { id, .. } = forger.admin else { panic!("an account") };
        let (cookie, csrf) = session(&forger.world, id).await;
        let anonymous = Caller::Anonymous;
        let protected = |it: &RouteEntry| (is_api(&it.path) && it.access != "open") || it.path == "/metrics";
        for route in route_table().into_iter().filter(protected) {
            let url = &forger.world.urls[0];
            let call = request(&forger.client, &forger.world, url, &anonymous, &route, Which::Own).await;
            let call = call.header("Cookie", &cookie).header("Origin", url).header("X-CSRF-Token", &csrf);
            let place = format!("{} {} with a cookie", route.method, route.path);
            forger.refused(call.build().unwrap(), &[401], &place).await;
        }
    });
}

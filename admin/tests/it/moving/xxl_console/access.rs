//! The table `expected.tsv`: each route with the answers that each caller gets. `UPDATE_MATRIX=1` rewrites the table; read each changed
//! line.
//!
//! A cell is the code of the envelope, or the status where there is none; or the codes for an object of the own app, of another app, and
//! a missing one. Who sees only the own app gets the same answer about the other two, to the letter.

use std::fmt::Write as _;

use carillon_accounts::secret::random_secret;
use carillon_accounts::session::{self, SignedIn};
use carillon_admin::web::{RouteEntry, xxl_console_route_table};
use carillon_scheduler::{Clock as _, JobDraft, ScheduleDraft};
use carillon_store::audit::list::AuditFilter;
use carillon_store::people::sessions::SignInMethod;
use carillon_store::{Actor, App, Grants, Role};
use reqwest::Method;
use serde_json::{Map, Value};

use super::client::{Answer, C3, Script, account, job_fields, on_node};
use crate::flow::node::Node;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/moving/xxl_console/expected.tsv");
const MISSING: i64 = 999_999_999;

const CALLERS: [&str; 8] = [
    "anonymous",
    "viewer of own",
    "operator of own",
    "editor of own",
    "admin of own",
    "admin of all",
    "session of the console",
    "executor token",
];

enum Caller {
    Anonymous,
    /// A session of a script, and the token that opened it.
    Account {
        name: &'static str,
        token: String,
        cookie: String,
    },
    /// Of an administrator.
    Console {
        cookie: String,
    },
    Executor {
        token: String,
    },
}

async fn callers(node: &Node) -> Vec<Caller> {
    let of_own = |role: Role| Grants::for_app(node.app.id, role);
    let mut callers = vec![Caller::Anonymous];
    for (name, grants) in [
        ("viewer", of_own(Role::Viewer)),
        ("operator", of_own(Role::Operator)),
        ("editor", of_own(Role::Editor)),
        ("app-admin", of_own(Role::Admin)),
        ("all-admin", Grants::for_all(Role::Admin)),
    ] {
        let token = account(node, name, &grants, &grants).await;
        let cookie = Script::signed_in(node, C3, (name, &token)).await.cookie;
        callers.push(Caller::Account { name, token, cookie });
    }
    let by = Actor::unknown("127.0.0.1").with_account(1);
    let who = SignedIn::new(1, 0, SignInMethod::Password);
    let opened = session::open(&node.store, &by, who, None, "test", node.clock.now()).await.unwrap().unwrap();
    let cookie = format!("carillon_session={}; xxl_job_login_token={}", opened.id, opened.id);
    callers.push(Caller::Console { cookie });
    callers.push(Caller::Executor { token: node.config.access_token.clone() });
    callers
}

/// The numbers of what a request is about.
struct Object {
    app: i64,
    job: i64,
    run: i64,
}

async fn object(node: &Node, app: &App) -> Object {
    let mut draft = JobDraft::new(&app.name, "job", "handle");
    draft.schedule = ScheduleDraft::fixed_rate(60);
    let job = node.engine.jobs().create(draft, None, &Actor::engine()).await.unwrap();
    Object { app: app.id, job: job.id, run: node.fire(&job).await }
}

/// What the path is about; None: nothing of one app.
fn fields(path: &str, object: &Object) -> Option<Vec<(&'static str, String)>> {
    let id = |name: &'static str, id: i64| Some(vec![(name, id.to_string())]);
    match path {
        "/jobinfo/add" | "/jobinfo/save" | "/jobinfo/insert" | "/api/addJob" => {
            let others: Vec<(&str, String)> =
                job_fields("", &[]).into_iter().map(|(name, value)| (name, value.to_owned())).collect();
            let others = others.into_iter().filter(|(name, _)| *name != "jobGroup");
            Some(others.chain([("jobGroup", object.app.to_string())]).collect())
        }
        "/joblog/getJobsByGroup" | "/joblog/pageList" | "/jobinfo/pageList" => id("jobGroup", object.app),
        "/jobgroup/loadById" => id("id", object.app),
        "/joblog/logDetailCat" => id("logId", object.run),
        "/joblog/logKill" => id("id", object.run),
        "/jobinfo/nextTriggerTime" => None,
        path if path.starts_with("/jobinfo/") || path.starts_with("/api/") => id("id", object.job),
        _ => None,
    }
}

async fn ask(node: &Node, caller: &Caller, route: &RouteEntry, fields: &[(&'static str, String)]) -> Answer {
    let mut script = Script::new(node);
    let is_open_api = route.path.starts_with("/api/");
    let token = match caller {
        Caller::Account { token, .. } | Caller::Executor { token } => token.as_str(),
        _ => "",
    };
    if is_open_api {
        let members = fields.iter().map(|(name, value)| ((*name).to_owned(), Value::from(value.as_str())));
        return script.open(&route.path, token, &Value::Object(members.collect::<Map<_, _>>())).await;
    }
    script.cookie = match caller {
        // The session is over afterwards.
        Caller::Account { name, token, .. } if route.path.ends_with("/logout") => {
            Script::signed_in(node, C3, (name, token)).await.cookie
        }
        Caller::Account { cookie, .. } | Caller::Console { cookie } => cookie.clone(),
        _ => String::new(),
    };
    let path = route.path.replace("{call:.*}", "x");
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let headers = if token.is_empty() { vec![] } else { vec![("xxl-job-access-token", token)] };
    match route.method.as_str() {
        "GET" => {
            let query: String = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(&fields).finish();
            script.send(Method::GET, &format!("{path}?{query}"), &[], &headers).await
        }
        _ => script.send(Method::POST, &path, &fields, &headers).await,
    }
}

fn word(answer: &Answer) -> String {
    answer.body.get("code").map_or_else(|| answer.status.to_string(), Value::to_string)
}

/// Of a route that is about nothing of one app.
async fn other_fields(node: &Node, path: &str, admin: &Caller) -> Vec<(&'static str, String)> {
    let unique = || format!("x-{:016x}", rand::random::<u64>());
    let spare = async || node.engine.apps().create(&unique(), None, &Actor::engine()).await.unwrap().id.to_string();
    match path {
        "/jobgroup/save" | "/jobgroup/insert" => vec![("appname", unique())],
        "/jobgroup/update" | "/jobgroup/remove" | "/jobgroup/delete" => {
            vec![("id", spare().await), ("title", "new".into())]
        }
        "/xxl-job/login" | "/auth/doLogin" => {
            let Caller::Account { name, token, .. } = admin else { return vec![] };
            vec![("userName", (*name).to_owned()), ("password", token.clone())]
        }
        _ => vec![],
    }
}

async fn cell(node: &Node, other: &App, callers: &[Caller], caller: usize, route: &RouteEntry) -> String {
    let own = object(node, &node.app).await;
    let Some(of_own) = fields(&route.path, &own) else {
        let fields = other_fields(node, &route.path, &callers[5]).await;
        return word(&ask(node, &callers[caller], route, &fields).await);
    };
    let (of_other, missing) = (object(node, other).await, Object { app: MISSING, job: MISSING, run: MISSING });
    let own = ask(node, &callers[caller], route, &of_own).await;
    let foreign = ask(node, &callers[caller], route, &fields(&route.path, &of_other).unwrap()).await;
    let none = ask(node, &callers[caller], route, &fields(&route.path, &missing).unwrap()).await;
    if CALLERS[caller] != "admin of all" {
        let mut text = foreign.body.to_string();
        for id in [of_other.job, of_other.run, of_other.app] {
            text = text.replace(&format!(" {id}\""), &format!(" {MISSING}\""));
        }
        assert_eq!(text, none.body.to_string(), "{} by {}", route.path, CALLERS[caller]);
        let job = node.store.jobs().get(of_other.job).await.unwrap().unwrap();
        assert!(job.draft.enabled && node.runs(&job).await.len() == 1, "{} by {}", route.path, CALLERS[caller]);
    }
    format!("{}/{}/{}", word(&own), word(&foreign), word(&none))
}

// covers: S10, S11, S13
#[test]
fn every_call_answers_every_caller_as_the_table_says() {
    on_node(async |node| {
        let other = node.engine.apps().create("other", None, &Actor::engine()).await.unwrap();
        let callers = callers(node).await;
        let mut found = format!("method\tpath\tneeds\t{}\n", CALLERS.join("\t"));
        for route in xxl_console_route_table() {
            write!(found, "{}\t{}\t{}", route.method, route.path, route.access).unwrap();
            for caller in 0..CALLERS.len() {
                // Made-up credentials are looked up at a rate.
                node.clock.advance(std::time::Duration::from_millis(300));
                write!(found, "\t{}", cell(node, &other, &callers, caller, &route).await).unwrap();
            }
            found.push('\n');
        }
        if std::env::var_os("UPDATE_MATRIX").is_some() {
            std::fs::write(FILE, &found).unwrap();
        }
        assert_eq!(found, std::fs::read_to_string(FILE).unwrap_or_default());
        // A made-up session is none.
        let unknown = Script { cookie: format!("{}=0.{}", C3.1, random_secret()), ..Script::new(node) };
        assert_eq!(unknown.post("/chartInfo", &[]).await.failure(), "not login for path:/chartInfo");
    });
}

// covers: S7
#[test]
fn no_call_of_another_site_is_answered_by_any_route() {
    on_node(async |node| {
        let admin = Grants::for_all(Role::Admin);
        let token = account(node, "ada", &admin, &admin).await;
        let script = Script::signed_in(node, C3, ("ada", &token)).await;
        let job = object(node, &node.app).await;
        for route in xxl_console_route_table() {
            let place = format!("{} {}", route.method, route.path);
            let path = route.path.replace("{call:.*}", "x");
            let fields = fields(&route.path, &job).unwrap_or_default();
            let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let method = Method::from_bytes(route.method.as_bytes()).unwrap();
            for header in [("origin", "http://evil.example"), ("origin", "null"), ("sec-fetch-site", "cross-site")] {
                let answer = script.send(method.clone(), &path, &fields, &[header]).await;
                let text = answer.failure().trim_start_matches("openapi invoke error: ").to_owned();
                assert_eq!(text, "this request was sent by a page of another site", "{place}");
            }
        }
        let left = node.store.jobs().get(job.job).await.unwrap().unwrap();
        assert!(left.draft.enabled && left.revision == 1);
    });
}

// covers: S37
#[test]
fn the_audit_names_the_person_of_each_change() {
    on_node(async |node| {
        let admin = Grants::for_all(Role::Admin);
        let token = account(node, "ada", &admin, &admin).await;
        let script = Script::signed_in(node, C3, ("ada", &token)).await;
        let job = object(node, &node.app).await.job.to_string();
        for path in ["/jobinfo/stop", "/jobinfo/start", "/jobinfo/trigger", "/jobinfo/update", "/jobinfo/remove"] {
            let answer = script.post(path, &[("id", &job), ("jobDesc", "New")]).await;
            assert_eq!(answer.body["code"], 200, "{path}: {}", answer.body);
        }
        let entries = node.store.audit().list(&AuditFilter { limit: 100, ..AuditFilter::default() }).await.unwrap();
        let of_ada: Vec<&str> =
            entries.items.iter().filter(|entry| entry.actor == "ada").map(|entry| entry.action.as_str()).collect();
        for action in ["delete", "update", "run", "enable", "disable", "sign_in"] {
            assert!(of_ada.contains(&action), "{action}: {of_ada:?}");
        }
    });
}

//! The request of a route, made from its method and path: a body that the route would take, about the object.

use carillon_admin::web::RouteEntry;
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};

use super::callers::{Caller, session};
use super::world::{MISSING, Objects, World};

/// The object of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    Own,
    Other,
    Missing,
}

/// The names and numbers that a request uses.
pub struct Names {
    pub app: String,
    pub app_id: i64,
    pub job: i64,
    pub key: String,
    pub run: i64,
    pub backfill: i64,
    pub rule: i64,
    pub alert: i64,
    pub channel: i64,
    pub executor: String,
    pub token: i64,
    pub pause: i64,
    pub window: i64,
    pub limit: i64,
}

impl Names {
    pub fn of(world: &World, which: Which) -> Self {
        let of = |it: &Objects| Self {
            app: it.app.name.clone(),
            app_id: it.app.id,
            job: it.job,
            key: it.key.clone(),
            run: it.run,
            backfill: it.backfill,
            rule: it.rule,
            alert: it.alert,
            channel: world.channel,
            executor: it.executor.clone(),
            token: it.token,
            pause: it.pause,
            window: it.window,
            limit: it.limit,
        };
        match which {
            Which::Own => of(&world.own),
            Which::Other => of(&world.other),
            Which::Missing => Self {
                app: "app-missing".to_owned(),
                app_id: MISSING,
                job: MISSING,
                key: "missing".to_owned(),
                run: MISSING,
                backfill: MISSING,
                rule: MISSING,
                alert: MISSING,
                channel: world.channel,
                executor: "http://missing.example:9999".to_owned(),
                token: MISSING,
                pause: MISSING,
                window: MISSING,
                limit: MISSING,
            },
        }
    }
}

pub fn is_api(path: &str) -> bool {
    path.starts_with("/api/v1/")
}

pub fn is_executor_api(route: &RouteEntry) -> bool {
    route.access == "executor token"
}

/// Paths whose bodies name the app, or an object by its id.
const NAMED_IN_BODY: [&str; 16] = [
    "/api/v1/jobs",
    "/api/v1/jobs:batch",
    "/api/v1/jobs/bulk",
    "/api/v1/runs/bulk",
    "/api/v1/alerts/bulk",
    "/api/v1/pauses",
    "/api/v1/maintenance-windows",
    "/api/v1/alert-rules",
    "/api/v1/limits",
    "/jobs",
    "/jobs/bulk",
    "/runs/bulk",
    "/pauses",
    "/pauses/windows",
    "/alerts/rules",
    "/limits",
];

/// Whether the three objects differ for this route: in its path, or in its body.
pub fn has_object(route: &RouteEntry) -> bool {
    let names_object = NAMED_IN_BODY.contains(&route.path.as_str());
    route.path.contains("{id}") && !route.access.ends_with("installation") && route.access != "own"
        || names_object && route.method == "POST"
}

/// The path and query with the object's number.
fn path(route: &RouteEntry, names: &Names, world: &World) -> String {
    if route.path.starts_with("/users/{id}") {
        let path = route.path.replace("{id}", &world.guest.to_string());
        return path.replace("{token}", &names.token.to_string());
    }
    if route.path.contains("channels/{id}") {
        let is_deletion = route.method == "DELETE" || route.path.ends_with("/delete");
        let id = if is_deletion { world.spare_channel } else { names.channel };
        return route.path.replace("{id}", &id.to_string());
    }
    if let Some(path) = special_path(route, names, world) {
        return path;
    }
    let id = match route.access.rsplit(' ').next().unwrap_or_default() {
        "app" => names.app_id,
        _ if route.path.contains("/apps/{id}") => names.app_id,
        "run" => names.run,
        "backfill" => names.backfill,
        "rule" => names.rule,
        "alert" => names.alert,
        _ => names.job,
    };
    let path = route.path.replace("{id}", &id.to_string()).replace("{name}", "bank").replace("{key}", &names.key);
    let path = path.replace("{token}", &names.token.to_string()).replace("{revision}", "1").replace("{version}", "1");
    let path = path.replace("{name:.*}", "console.css").replace("/audit/export", "/audit/export?actor=none");
    match path.rsplit('/').next().unwrap_or_default() {
        "explain" => format!("{path}?at=2025-10-09T08:00:00Z"),
        "executor" => format!("{path}?address={}", names.executor),
        "executors" if route.method == "DELETE" => format!("{path}?address={}", names.executor),
        _ => path,
    }
}

/// Of what the access does not name, or what only a spare object is for.
fn special_path(route: &RouteEntry, names: &Names, world: &World) -> Option<String> {
    let path = route.path.as_str();
    let with = |id: i64| Some(path.replace("{id}", &id.to_string()));
    if path.contains("/pauses/windows/{id}") || path.contains("/maintenance-windows/{id}") {
        return with(names.window);
    }
    match path.trim_start_matches("/api/v1") {
        "/pauses/{id}" | "/pauses/{id}/end" => with(names.pause),
        "/limits/{id}" | "/limits/{id}/edit" | "/limits/{id}/delete" => with(names.limit),
        "/account/tokens/{id}/revoke" => with(world.own_token),
        "/apps/{id}" if route.method == "DELETE" => with(world.spare_app.id),
        "/apps/{id}/delete" | "/apps/{id}/former-names/remove" => with(world.spare_app.id),
        "/apps/{id}/former-names" if route.method == "DELETE" => {
            with(world.spare_app.id).map(|path| format!("{path}?name={}", world.spare_app.former_name))
        }
        _ => None,
    }
}

/// One that no executor has.
fn address() -> String {
    let [one, two, three]: [u8; 3] = rand::random();
    format!("http://10.{one}.{two}.{three}:9999")
}

fn json_body(route: &RouteEntry, names: &Names) -> Value {
    let job = json!({"app": names.app, "name": "new", "handler": "h"});
    let path = route.path.trim_start_matches("/api/v1");
    let unique = format!("x-{:016x}", rand::random::<u64>());
    match (route.method.as_str(), path) {
        ("POST", "/jobs") | ("PUT", "/jobs/{id}") => job,
        ("PUT", "/apps/{id}/jobs/{key}") => json!({"name": "new", "handler": "h"}),
        (_, "/jobs:batch") => json!([job]),
        (_, "/jobs/bulk") => json!({"action": "run", "ids": [names.job]}),
        (_, "/alerts/bulk") => json!({"action": "acknowledge", "ids": [names.alert]}),
        (_, "/runs/bulk") => json!({"action": "kill", "ids": [names.run]}),
        (_, "/jobs/{id}/run-many") => json!({"runs": [{"delay_seconds": 3600}]}),
        ("PATCH", "/runs/{id}") => json!({"at": "2026-01-01T00:00:00Z"}),
        (_, "/runs/{id}/workflow") => json!({"action": "hold"}),
        (_, "/runs/{id}/rerun") => json!({"from": "failed"}),
        (_, "/preview") => json!({"schedule": {"kind": "fixed_rate", "seconds": 60}}),
        (_, "/alert-rules" | "/alert-rules/{id}") => {
            json!({"name": unique, "app": names.app, "kinds": ["failed"], "channels": [names.channel]})
        }
        (_, "/alert-channels" | "/alert-channels/{id}") => json!({"name": unique, "kind": "file", "all_apps": true}),
        ("POST", "/apps") => json!({"name": unique}),
        ("PUT", "/apps/{id}/secrets/{name}") => json!({"value": unique}),
        ("POST", "/apps/{id}/tokens") => json!({"name": "new"}),
        ("PUT", "/apps/{id}/declarations") => json!({"setting": "apply"}),
        ("PUT", "/apps/{id}/starters") => json!({"apps": []}),
        ("PUT", "/apps/{id}/tokens") => json!({"own_tokens_only": true}),
        ("PUT", "/apps/{id}") => json!({"title": unique}),
        ("POST", "/apps/{id}/executors") => json!({"address": address()}),
        (_, "/apps/{id}/executors/drain") => json!({"address": names.executor, "draining": true}),
        (_, "/apps/{id}/executors") => json!({"address": names.executor, "weight": 3}),
        (_, "/jobs/{id}/backfill") => json!({"from": "2025-10-09T08:00:00Z", "to": "2025-10-09T08:05:00Z"}),
        ("POST", "/pauses") => json!({"app": names.app, "note": "deployment", "until": "2026-01-01T00:00:00Z"}),
        ("POST", "/maintenance-windows") => json!({
            "app": names.app, "note": "patches", "expression": "0 0 2 ? * SUN", "minutes": 60
        }),
        ("POST", "/limits") => json!({"name": unique, "app": names.app, "max": 2}),
        ("PUT", "/limits/{id}") => json!({"max": 7}),
        ("POST", "/calendars") => json!({"name": unique, "days": ["2026-12-25"]}),
        ("PUT", "/calendars/{name}") => json!({"days": ["2026-12-25"]}),
        (_, path) if path.ends_with("retention") => json!({"days": 30}),
        (_, path) if path.ends_with("resolve") => json!({"outcome": "failed", "note": "seen"}),
        _ => json!({}),
    }
}

fn fields(route: &RouteEntry, names: &Names, world: &World) -> Vec<(&'static str, String)> {
    let job = || {
        [("app", names.app.clone()), ("name", "new".into()), ("handler", "h".into()), ("kind", "none".into())].to_vec()
    };
    let unique = || format!("x-{:016x}", rand::random::<u64>());
    match route.path.as_str() {
        "/jobs" => job(),
        "/jobs/{id}/history/{revision}/restore" => vec![("revision", "1".into())],
        "/jobs/{id}/edit" => [job(), vec![("revision", "1".into())]].concat(),
        "/jobs/{id}/run" => vec![("key", unique())],
        "/jobs/bulk" => vec![("action", "run".into()), ("id", names.job.to_string()), ("step", "do".into())],
        "/runs/bulk" => vec![("action", "kill".into()), ("id", names.run.to_string()), ("step", "do".into())],
        "/alerts/bulk" => vec![("action", "acknowledge".into()), ("id", names.alert.to_string())],
        "/jobs/{id}/backfill" => vec![
            ("from", "2025-10-09T08:00".into()),
            ("to", "2025-10-09T08:05".into()),
            ("step", "start".into()),
            ("shown", "1759996800000 1759997100000".into()),
        ],
        "/calendars" => vec![("name", unique()), ("days", "2026-12-25".into())],
        "/calendars/{name}/edit" => vec![("days", "2026-12-25".into())],
        path if path.contains("retention") => vec![("days", "30".into())],
        "/runs/{id}/move" => vec![("at", "2026-01-01T00:00".into())],
        "/runs/{id}/resolve" => vec![("outcome", "failed".into()), ("note", "seen".into())],
        "/apps" => vec![("name", unique())],
        "/alerts/rules" | "/alerts/rules/{id}" => vec![
            ("name", unique()),
            ("app", names.app.clone()),
            ("kinds", "failed".into()),
            ("channels", names.channel.to_string()),
        ],
        "/alerts/channels" | "/alerts/channels/{id}" => {
            vec![("name", unique()), ("kind", "file".into()), ("all_apps", "yes".into())]
        }
        "/apps/{id}/executor" => vec![("address", names.executor.clone()), ("weight", "3".into())],
        "/apps/{id}" => vec![("name", names.app.clone()), ("title", unique())],
        "/apps/{id}/former-names/remove" => vec![("name", world.spare_app.former_name.clone())],
        "/apps/{id}/executor/drain" => vec![("address", names.executor.clone()), ("draining", "yes".into())],
        "/apps/{id}/executor/remove" => vec![("address", names.executor.clone())],
        "/apps/{id}/executors" => vec![("address", address())],
        "/apps/{id}/declarations" => vec![("setting", "apply".into())],
        "/apps/{id}/secrets" => vec![("name", "KEY".into()), ("value", unique())],
        "/apps/{id}/secrets/remove" => vec![("name", "KEY".into())],
        "/apps/{id}/tokens" => vec![("name", "new".into())],
        "/apps/{id}/tokens/rule" => vec![("own_tokens_only", "yes".into())],
        "/account/password" => vec![("current", "wrong".into()), ("new", "short".into()), ("repeated", "short".into())],
        "/account/tokens" => vec![
            ("name", "deploy".into()),
            ("role", "viewer".into()),
            ("apps", "all".into()),
            ("own_password", world.password.clone()),
        ],
        "/users" => vec![("name", unique())],
        "/users/{id}/grants" => vec![("grant_all", "viewer".into())],
        "/limits" => vec![("name", unique()), ("app", names.app.clone()), ("max", "2".into())],
        "/limits/{id}/edit" => vec![("max", "7".into())],
        "/pauses" => vec![("app", names.app_id.to_string()), ("note", "deployment".into())],
        "/pauses/windows" => vec![
            ("app", names.app_id.to_string()),
            ("note", "patches".into()),
            ("weekdays", "SUN".into()),
            ("start", "02:00".into()),
            ("timezone", "UTC".into()),
            ("minutes", "60".into()),
        ],
        "/login" => vec![("name", "admin".into()), ("password", world.password.clone())],
        _ => vec![],
    }
}

pub async fn request(
    client: &Client,
    world: &World,
    url: &str,
    caller: &Caller,
    route: &RouteEntry,
    which: Which,
) -> RequestBuilder {
    let names = Names::of(world, which);
    let method = Method::from_bytes(route.method.as_bytes()).unwrap();
    let call = client.request(method, format!("{url}{}", path(route, &names, world)));
    let call = match caller {
        Caller::Executor { token } => call.header("XXL-JOB-ACCESS-TOKEN", token),
        _ => call,
    };
    if is_executor_api(route) {
        let body = match route.path.rsplit('/').next() {
            // Nothing to report: the services that store results do not run here.
            Some("callback") => json!([]),
            Some("map") => json!({"logId": 1, "page": 0, "items": []}),
            Some("results") => json!({"logId": 1, "results": []}),
            Some("items") => json!({"logId": 1, "after": -1}),
            Some("declare") => json!({"build": "own 1.0.0", "jobs": []}),
            Some("loops") => json!({"loops": []}),
            _ => json!({"registryGroup": "EXECUTOR", "registryKey": "app-own", "registryValue": "http://10.9.9.9:9/"}),
        };
        let call = match route.path.rsplit('/').next() {
            Some("declare" | "loops") => call.header("XXL-JOB-APPNAME", "app-own").header("Carillon-Boot-Id", "boot"),
            _ => call,
        };
        return call.json(&body);
    }
    let is_token_route = is_api(&route.path) || route.path == "/metrics";
    if is_token_route {
        let call = match caller {
            Caller::Account { token, .. } | Caller::Token { token } | Caller::Executor { token } => {
                call.bearer_auth(token)
            }
            Caller::Anonymous => call,
        };
        return if route.method == "GET" { call } else { call.json(&json_body(route, &names)) };
    }
    let (cookie, csrf) = match caller {
        Caller::Account { id, .. } => session(world, *id).await,
        _ => (String::new(), String::new()),
    };
    let call = match caller {
        Caller::Token { token } => call.bearer_auth(token),
        _ => call.header("Cookie", cookie),
    };
    if route.method == "GET" {
        return call;
    }
    let fields = [vec![("csrf", csrf)], fields(route, &names, world)].concat();
    let body: String = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    call.header("Origin", url).header("Content-Type", "application/x-www-form-urlencoded").body(body)
}

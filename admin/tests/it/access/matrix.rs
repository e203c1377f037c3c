//! The table `expected.tsv`: each route with the answers that each caller gets. `UPDATE_MATRIX=1` rewrites the table; read each
//! changed line.
//!
//! A cell is a status, or the statuses for an object of the own app, of another app, and a missing one. `login` is the way to the
//! sign-in page. Of the executors' paths it is what the protocol says: `taken` or `refused`. Who sees only the own app gets the same
//! answer about the other two, to the letter, and changes nothing of them.
//! Each answer carries the security headers.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use carillon_admin::web::{RouteEntry, route_table};
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use serde_json::Value;

use super::callers::{self, CALLERS, Caller};
use super::request::{Names, Which, has_object, is_executor_api, request};
use super::world::World;
use crate::services::{Kind, TestDatabase, on};

/// The accounts of the callers that see only the own app; `owner` is that of the personal token.
const OF_OWN: [&str; 5] = ["viewer", "operator", "editor", "app-admin", "owner"];

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/access/expected.tsv");

/// What was answered: the cell's word, and the text without numbers that differ between objects.
struct Answered {
    word: String,
    text: String,
}

struct Matrix {
    world: World,
    client: Client,
    callers: Vec<Caller>,
    turn: usize,
}

impl Matrix {
    async fn ask(&mut self, caller: usize, route: &RouteEntry, which: Which) -> Answered {
        // Each node answers every other request: what one has written, the other knows.
        self.turn += 1;
        let url = self.world.urls[self.turn % 2].clone();
        let call = request(&self.client, &self.world, &url, &self.callers[caller], route, which).await;
        let names = Names::of(&self.world, which);
        let response = call.send().await.unwrap();
        assert_headers(&response, &format!("{} {} by {}", route.method, route.path, CALLERS[caller]));
        let answered = answered(route, &names, response).await;
        let is_change = route.method != "GET" && !["4", "5", "l"].iter().any(|it| answered.word.starts_with(it));
        if is_change && !is_executor_api(route) {
            self.world.renew().await;
        }
        answered
    }

    async fn cell(&mut self, caller: usize, route: &RouteEntry) -> String {
        // Made-up sessions and tokens are looked up at a rate.
        self.world.clock.advance(std::time::Duration::from_millis(200));
        if !has_object(route) {
            return self.ask(caller, route, Which::Own).await.word;
        }
        let own = self.ask(caller, route, Which::Own).await;
        let before = self.world.changes_by(&OF_OWN).await;
        let other = self.ask(caller, route, Which::Other).await;
        let missing = self.ask(caller, route, Which::Missing).await;
        let place = format!("{} {} by {}", route.method, route.path, CALLERS[caller]);
        if CALLERS[caller] != "admin of all" {
            assert_eq!(other.word, missing.word, "{place}: other and missing differ");
            assert_eq!(other.text, missing.text, "{place}: other and missing differ");
            assert_eq!(self.world.changes_by(&OF_OWN).await, before, "{place}: something was changed");
        }
        format!("{}/{}/{}", own.word, other.word, missing.word)
    }
}

/// Those that every answer carries.
fn assert_headers(answer: &Response, place: &str) {
    let header = |name: &str| answer.headers().get(name).map_or("", |value| value.to_str().unwrap());
    let policy = header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{place}: {policy}");
    assert!(!policy.contains("unsafe"), "{place}");
    assert_eq!(header("x-content-type-options"), "nosniff", "{place}");
    assert_eq!(header("cross-origin-opener-policy"), "same-origin", "{place}");
    assert_eq!(header("referrer-policy"), "same-origin", "{place}");
    assert_eq!(header("x-frame-options"), "DENY", "{place}");
    assert!(!header("cache-control").is_empty(), "{place}");
}

async fn answered(route: &RouteEntry, names: &Names, response: Response) -> Answered {
    let status = response.status().as_u16();
    let location = response.headers().get("location").map_or("", |to| to.to_str().unwrap()).to_owned();
    let cookies = response.headers().get_all("set-cookie").iter().map(|cookie| cookie.to_str().unwrap().to_owned());
    let flash: String = cookies.filter(|cookie| cookie.starts_with("carillon_flash")).collect();
    let text = response.text().await.unwrap();
    let word = match status {
        _ if is_executor_api(route) => {
            let answer: Value = serde_json::from_str(&text).unwrap();
            // The sender may ask; there is no such run.
            let is_about_run = || answer["msg"].as_str().is_some_and(|why| why.starts_with("logId:"));
            if answer["code"] == 200 || is_about_run() { "taken".to_owned() } else { "refused".to_owned() }
        }
        303 if location.starts_with("/login") && route.path != "/logout" => "login".to_owned(),
        _ => status.to_string(),
    };
    // Not signed in: the page leads back to what was asked for.
    if ["login", "401"].contains(&word.as_str()) {
        return Answered { word, text: String::new() };
    }
    // The request's id, the form token and the numbers of the object are different each time. Small numbers occur in the digests
    // of assets too.
    let numbers = [
        names.app_id,
        names.job,
        names.run,
        names.backfill,
        names.rule,
        names.alert,
        names.token,
        names.pause,
        names.window,
        names.limit,
    ];
    let numbers = numbers.map(|id| id.to_string());
    let text = format!("{location}\n{flash}\n{text}").replace(&names.executor, "EXECUTOR").replace(&names.app, "APP");
    let text = without_random_names(&without_versions(&without_icons(&text)));
    let text = text.split_inclusive(|c: char| !c.is_ascii_digit()).map(|part| {
        let digits = part.trim_end_matches(|c: char| !c.is_ascii_digit());
        if numbers.iter().any(|number| number == digits) { part.replacen(digits, "ID", 1) } else { part.to_owned() }
    });
    let text: String = text.collect();
    // Pauses in force are known to the node that has made them first.
    let others = ["csrf", "Request <code>", "/assets/", "error-code", "data-testid=\"paused\""];
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !others.iter().any(|word| line.contains(word)));
    Answered { word, text: lines.collect::<Vec<_>>().join("\n") }
}

/// The paths of icons have numbers too.
fn without_icons(page: &str) -> String {
    let mut pieces = page.split("<svg");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| text + piece.split_once("</svg>").map_or(piece, |(_, rest)| rest))
}

/// The names that `request` makes up.
fn without_random_names(text: &str) -> String {
    let mut pieces = text.split("x-");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| {
        let is_random = piece.len() >= 16 && piece.as_bytes()[..16].iter().all(u8::is_ascii_hexdigit);
        text + "x-" + if is_random { &piece[16..] } else { piece }
    })
}

/// Nor do the versions of assets say anything of an object.
fn without_versions(page: &str) -> String {
    let mut pieces = page.split("?v=");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| text + piece.trim_start_matches(|c: char| c.is_ascii_hexdigit()))
}

// covers: S10, S11, S13, S29
#[test]
fn every_route_answers_every_caller_as_the_table_says() {
    on(Kind::Postgres, async |db: &TestDatabase| {
        let world = World::start(db).await;
        let client = Client::builder().redirect(Policy::none()).build().unwrap();
        let callers = callers::all(&world).await;
        let mut matrix = Matrix { world, client, callers, turn: 0 };
        let mut found = format!("method\tpath\tneeds\t{}\n", CALLERS.join("\t"));
        for route in route_table() {
            write!(found, "{}\t{}\t{}", route.method, route.path, route.access).unwrap();
            for caller in 0..CALLERS.len() {
                let cell = matrix.cell(caller, &route).await;
                write!(found, "\t{cell}").unwrap();
            }
            found.push('\n');
        }
        if std::env::var_os("UPDATE_MATRIX").is_some() {
            std::fs::write(FILE, &found).unwrap();
        }
        compare(&found, &std::fs::read_to_string(FILE).unwrap_or_default());
    });
}

fn compare(found: &str, expected: &str) {
    let by_route = |text: &str| -> BTreeMap<String, String> {
        let key = |line: &str| line.splitn(3, '\t').take(2).collect::<Vec<_>>().join(" ");
        text.lines().map(|line| (key(line), line.to_owned())).collect()
    };
    let (found, expected) = (by_route(found), by_route(expected));
    let mut wrong = vec![];
    for (route, line) in &found {
        match expected.get(route) {
            None => wrong.push(format!("{route} has no line in expected.tsv:\n  {line}")),
            Some(other) if other != line => wrong.push(format!("expected {other}\n   found {line}")),
            Some(_) => {}
        }
    }
    wrong.extend(expected.keys().filter(|route| !found.contains_key(*route)).map(|it| format!("{it} does not exist")));
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

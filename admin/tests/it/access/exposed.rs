//! What answers reveal, on every route: failures, secrets. The headers that they carry are looked at in `matrix`.

use carillon_admin::web::{RouteEntry, route_table};
use carillon_store::{Grants, Role};
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use sea_orm::{ConnectionTrait as _, DatabaseConnection, Statement};
use serde_json::json;

use super::callers::{self, Caller, account};
use super::request::{Which, is_api, is_executor_api, request};
use super::world::World;
use crate::program::settings;
use crate::services::{Kind, TestDatabase, on};

/// An administrator, who reaches each handler.
async fn admin(world: &World) -> Caller {
    let grants = Grants::for_all(Role::Admin);
    let id = account(world, "admin-of-all", &grants).await;
    let token = callers::token(world, id, &grants, &grants).await;
    Caller::Account { id, token }
}

fn client() -> Client {
    Client::builder().redirect(Policy::none()).build().unwrap()
}

async fn ask(world: &World, client: &Client, caller: &Caller, route: &RouteEntry) -> Response {
    let call = request(client, world, &world.urls[0], caller, route, Which::Own).await;
    let call = if is_executor_api(route) { call.header("XXL-JOB-ACCESS-TOKEN", &world.access_token) } else { call };
    call.send().await.unwrap()
}

/// Tables without which no request reaches a handler.
const KEPT: &[&str] = &["account", "session", "api_token", "audit", "id_block", "login_throttle", "setting"];

async fn tables(database: &DatabaseConnection) -> Vec<String> {
    let text = "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()";
    let rows = database.query_all_raw(Statement::from_string(database.get_database_backend(), text)).await.unwrap();
    rows.iter().map(|row| row.try_get_by_index::<String>(0).unwrap()).collect()
}

// covers: S36
#[test]
fn a_failure_of_any_route_tells_nothing_of_the_inside() {
    on(Kind::Postgres, async |db: &TestDatabase| {
        let world = World::start(db).await;
        let (admin, client) = (admin(&world).await, client());
        let database = sea_orm::Database::connect(db.direct_url()).await.unwrap();
        for table in tables(&database).await.iter().filter(|table| !KEPT.contains(&table.as_str())) {
            world.sql(&format!("ALTER TABLE \"{table}\" RENAME TO \"{table}_lost\"")).await;
        }
        let mut failed = 0;
        for route in route_table() {
            if route.path.contains("/api/map") && is_executor_api(&route) {
                // As with results: what cannot be stored is not answered, and the executor repeats it.
                let call = request(&client, &world, &world.urls[0], &admin, &route, Which::Own).await;
                let call = call.header("XXL-JOB-ACCESS-TOKEN", &world.access_token);
                assert!(call.send().await.is_err(), "{} is answered", route.path);
                continue;
            }
            let answer = ask(&world, &client, &admin, &route).await;
            let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
            let text = answer.text().await.unwrap();
            let place = format!("{} {}: {status} {text}", route.method, route.path);
            if status < 500 && !is_executor_api(&route) {
                continue;
            }
            failed += 1;
            let inside = [
                "_lost", "relation", "SELECT", "INSERT", "UPDATE ", "DELETE ", "sqlx", "sea_orm", "ostgres", ".rs:",
                "panicked",
            ];
            let found: Vec<_> = inside.iter().filter(|word| text.contains(**word)).collect();
            assert!(found.is_empty(), "{found:?} in {place}");
            if is_api(&route.path) {
                assert!(headers.contains_key("x-request-id") && text.contains("\"code\""), "{place}");
            }
        }
        assert!(failed > 60, "{failed} routes failed");
    });
}

/// Whether a text names a flag or a variable of the settings.
fn names_setting(text: &str) -> bool {
    let is_flag = |at: usize| {
        let starts = text[..at].ends_with([' ', '(', '`', '>', '"', '\'']);
        starts && text[at + 2..].starts_with(|c: char| c.is_ascii_lowercase())
    };
    text.contains("CARILLON_") || text.match_indices("--").any(|(at, _)| is_flag(at))
}

// covers: V12.9
#[test]
fn a_refusal_without_credentials_names_no_setting() {
    assert!(names_setting("write --shards 4") && names_setting("(CARILLON_SHARDS)"));
    assert!(!names_setting("<!-- one--two -->"));
    on(Kind::Postgres, async |db: &TestDatabase| {
        let (world, client) = (World::start(db).await, client());
        let mut refused = 0;
        for route in route_table() {
            // Made-up sessions and tokens are looked up at a rate.
            world.clock.advance(std::time::Duration::from_millis(200));
            let call = request(&client, &world, &world.urls[0], &Caller::Anonymous, &route, Which::Own).await;
            let answer = call.send().await.unwrap();
            let is_refusal = answer.status().as_u16() >= 400 || is_executor_api(&route);
            let place = format!("{} {}", route.method, route.path);
            let text = answer.text().await.unwrap();
            assert!(!is_refusal || !names_setting(&text), "{place}: {text}");
            refused += usize::from(is_refusal);
        }
        assert!(refused > 60, "{refused} routes refused");
    });
}

/// All rows of all tables, as text.
async fn dump(database: &DatabaseConnection) -> String {
    let mut all = String::new();
    for table in tables(database).await {
        let text = format!("SELECT row_to_json(t)::text FROM \"{table}\" t");
        let rows = database.query_all_raw(Statement::from_string(database.get_database_backend(), text)).await.unwrap();
        for row in rows {
            all.push_str(&row.try_get_by_index::<String>(0).unwrap());
        }
    }
    all
}

// covers: S34
#[test]
fn no_secret_is_in_the_database_or_on_any_page() {
    on(Kind::Postgres, async |db: &TestDatabase| {
        let world = World::start(db).await;
        let (admin, client) = (admin(&world).await, client());
        let Caller::Account { token, .. } = &admin else { panic!("an account") };
        let hook = format!("https://hooks.example/{}", carillon_accounts::secret::random_secret());
        let [key, sign, app_secret] = [(); 3].map(|()| carillon_accounts::secret::random_secret());
        let url = format!("{}/api/v1/alert-channels", world.urls[0]);
        for draft in [
            json!({"name": "chat", "kind": "slack", "secrets": {"url": hook}}),
            json!({"name": "duty", "kind": "pagerduty", "secrets": {"routing_key": key}}),
            json!({"name": "hook", "kind": "webhook", "settings": {"url": "https://hooks.example/"}, "secrets": {"secret": sign}}),
        ] {
            let made = client.post(&url).bearer_auth(token).json(&draft).send().await.unwrap();
            assert!(made.status().is_success(), "{}", made.text().await.unwrap());
        }
        let url = format!("{}/api/v1/apps/{}/secrets/KEY", world.urls[0], world.own.app.id);
        let made = client.put(&url).bearer_auth(token).json(&json!({"value": app_secret})).send().await.unwrap();
        assert!(made.status().is_success(), "{}", made.text().await.unwrap());
        let executor_token = world.executor_token(&world.own.app).await;
        let own_token = token.split_once('_').map_or(token.as_str(), |(_, secret)| secret);
        let secrets = [
            ("the access token", world.access_token.as_str()),
            ("the token of an app", &executor_token),
            ("the password of the first account", &world.password),
            ("a personal token", own_token),
            ("the address of a chat", &hook),
            ("a routing key", &key),
            ("the key of a webhook", &sign),
            ("a secret of an app", &app_secret),
        ];
        let mut places = vec![];
        for route in route_table().into_iter().filter(|route| route.method == "GET") {
            for caller in [&admin, &Caller::Anonymous] {
                let answer = ask(&world, &client, caller, &route).await;
                let headers = format!("{:?}", answer.headers());
                places.push((route.path.clone(), headers + &answer.text().await.unwrap()));
            }
        }
        let database = sea_orm::Database::connect(db.direct_url()).await.unwrap();
        places.push(("the database".to_owned(), dump(&database).await));
        for (place, text) in &places {
            for (name, secret) in secrets {
                assert!(!text.contains(secret), "{name} is in {place}");
            }
        }
        assert!(places.len() > 100 && places.iter().any(|(_, text)| text.contains("pagerduty")));
    });
}

// covers: S34
#[tokio::test]
async fn no_secret_is_in_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let mut setup = settings(folder.path()).env("RUST_LOG", "debug");
    let node = setup.start().await;
    let (http, wrong) = (Client::new(), carillon_accounts::secret::random_secret());
    let registration =
        json!({"registryGroup": "EXECUTOR", "registryKey": "orders", "registryValue": "http://127.0.0.1:1/"});
    for token in [&setup.access_token, &wrong] {
        let call = http.post(format!("{}/api/registry", node.url())).header("XXL-JOB-ACCESS-TOKEN", token);
        call.json(&registration).send().await.unwrap();
    }
    for token in [&setup.api_token, &wrong] {
        http.get(format!("{}/api/v1/jobs", node.url())).bearer_auth(token).send().await.unwrap();
    }
    let form = format!("name=admin&password={wrong}");
    let call = http.post(format!("{}/login", node.url())).header("Origin", node.url());
    call.header("Content-Type", "application/x-www-form-urlencoded").body(form).send().await.unwrap();
    let output = node.output();
    assert!(output.contains("an executor was refused"), "{output}");
    for secret in [&setup.access_token, &setup.api_token, &wrong] {
        assert!(!output.contains(secret.as_str()), "{output}");
    }
}

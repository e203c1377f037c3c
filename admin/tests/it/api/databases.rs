//! What may differ between databases when it goes through the API.

use std::sync::Arc;
use std::time::{Duration, Instant};

use carillon_accounts::secret::random_secret;
use carillon_admin::config::Database;
use carillon_testkit::ReservedPort;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use super::client::{Api, job};
use crate::services::{Kind, TestDatabase, on};

databases! {
    // covers: 001-27
    async fn one_key_makes_one_run_however_many_ask_at_once(db: &TestDatabase) {
        let api = Api::start(db).await;
        let made = api.job(json!({})).await;
        let path = format!("/jobs/{}/run", made["id"]);
        let asks = (0..8).map(|_| api.post_with_key(&path, "once", json!({})));
        let answers = futures_util::future::join_all(asks).await;
        let ids: Vec<Value> = answers.into_iter().map(|answer| answer.ok()["id"].clone()).collect();
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
        assert_eq!(api.get("/runs").await.column("id").len(), 1);
    }

    async fn a_thousand_jobs_are_made_in_one_request(db: &TestDatabase) {
        let api = Api::start(db).await;
        api.job(json!({})).await;
        let schedule = json!({"kind": "cron", "expression": "0 0/5 8-18 ? * MON-FRI", "timezone": "Europe/Berlin"});
        let jobs: Vec<Value> = (0..1000).map(|n| job(json!({"name": format!("job {n}"), "schedule": schedule}))).collect();
        let start = Instant::now();
        let made = api.post("/jobs:batch", json!(jobs)).await;
        let took = start.elapsed();
        assert_eq!(made.column("id").len(), 1000);
        // Less than a second in a release build; this one is not, and shares the machine with other tests.
        assert!(took < Duration::from_secs(10), "{took:?}");
        println!("1000 jobs in {took:?}");
        assert_eq!(api.get("/jobs?limit=1000").await.column("next_fire_at").len(), 1000);
    }
}

/// A wire to the database that can be cut.
struct Wire {
    port: ReservedPort,
    carrier: JoinHandle<()>,
}

impl Wire {
    async fn to(target: String) -> Self {
        let port = ReservedPort::new();
        let listener = port.listen();
        let carrier = tokio::spawn(async move {
            let target = Arc::new(target);
            // The connections live as long as this task: it ends, and they are cut.
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((mut near, _)) = listener.accept().await {
                let target = target.clone();
                connections.spawn(async move {
                    if let Ok(mut far) = TcpStream::connect(&*target).await {
                        // How a connection ends is of no interest here.
                        tokio::io::copy_bidirectional(&mut near, &mut far).await.unwrap_or_default();
                    }
                });
            }
        });
        Self { port, carrier }
    }
}

async fn answers_while_the_database_is_away(db: &TestDatabase) {
    let mut url: url::Url = db.url().unwrap().parse().unwrap();
    let wire = Wire::to(format!("127.0.0.1:{}", url.port().unwrap())).await;
    url.set_port(Some(wire.port.address().port())).unwrap();
    let mut config = db.config();
    config.database = Database::parse(url.as_str()).unwrap();
    let token = random_secret();
    config.api_token = Some(token.clone());
    let api = Api::with(db, config, token).await;
    let made = api.job(json!({})).await;
    wire.carrier.abort();
    let path = format!("/jobs/{}", made["id"]);
    let (read, list, write, run) = futures_util::join!(
        api.get(&path),
        api.get("/runs"),
        api.put(&path, job(json!({}))),
        api.post_text("/jobs/1/run", "")
    );
    for answer in [read, list, write, run] {
        assert_eq!(answer.error(), "503 unavailable the database cannot be reached or is too busy; try again");
        assert_eq!(answer.headers["retry-after"], "1");
    }
}

#[test]
fn a_database_that_is_away_is_said_to_be_away_postgres() {
    on(Kind::Postgres, answers_while_the_database_is_away);
}

#[test]
fn a_database_that_is_away_is_said_to_be_away_mariadb() {
    on(Kind::Mariadb, answers_while_the_database_is_away);
}

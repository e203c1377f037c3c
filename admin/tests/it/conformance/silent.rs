//! A database that stops answering: every statement ends within its limit, and new connections take over.

use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::Zone;
use carillon_store::db::ids;
use carillon_store::{Database, Error, Store};
use futures_util::future::join_all;

use crate::services::{Kind, TestDatabase, on};
use crate::wire::{self, Wire};

/// The limit of a statement here.
const LIMIT: Duration = Duration::from_secs(4);
/// Far above the limits, also on a busy machine, and far below what TCP needs to give up (15 minutes).
const GIVEN_UP: Duration = Duration::from_secs(60);

async fn behind_a_wire(db: &TestDatabase) -> (Wire, Arc<Store>) {
    let url = db.url().unwrap();
    let wire = Wire::to(wire::address_of(url)).await;
    let database = Database::Server { url: wire.url(url) };
    let store = Store::open_for(&database, LIMIT, Zone::UTC).await.unwrap();
    store.migrate().await.unwrap();
    store.leases().ensure_shards(Some(4)).await.unwrap();
    (wire, store)
}

/// Statements and transactions in every pool; of the engine's reads more at once than there are connections.
async fn all_of(store: &Store) -> Vec<Result<(), Error>> {
    let all = async {
        let mut answers: Vec<_> = join_all((0..10).map(|_| store.runs().due_jobs(0, 0, 1)))
            .await
            .into_iter()
            .map(|done| done.map(|_| ()))
            .collect();
        let (renewed, taken, deregistered, apps, pinged) = tokio::join!(
            store.leases().renew(0, 0, 0, 1),
            store.take_ids(&ids::RUN, 1_001),
            store.apps().deregister_executor("no", "such"),
            store.apps().list(&carillon_store::VisibleApps::All),
            store.ping(),
        );
        answers.extend([renewed.map(|_| ()), taken.map(|_| ()), deregistered.map(|_| ()), apps.map(|_| ()), pinged]);
        answers
    };
    tokio::time::timeout(GIVEN_UP, all).await.expect("a statement has neither an answer nor an error")
}

// covers: F2
async fn silent_connections_are_given_up_and_new_ones_work(db: &TestDatabase) {
    let (wire, store) = behind_a_wire(db).await;
    let before = all_of(&store).await;
    assert!(before.iter().all(Result::is_ok), "{before:?}");
    wire.silence_existing();
    for error in all_of(&store).await.into_iter().filter_map(Result::err) {
        assert!(error.is_transient(), "{error}");
    }
    let after = all_of(&store).await;
    assert!(after.iter().all(Result::is_ok), "{after:?}");
}

#[test]
fn silent_connections_are_given_up_on_postgres() {
    on(Kind::Postgres, silent_connections_are_given_up_and_new_ones_work);
}

#[test]
fn silent_connections_are_given_up_on_mariadb() {
    on(Kind::Mariadb, silent_connections_are_given_up_and_new_ones_work);
}

async fn why_not(url: &str) -> String {
    let database = Database::Server { url: url.into() };
    match tokio::time::timeout(GIVEN_UP, Store::open(&database)).await {
        Ok(Ok(_)) => panic!("{url} can be opened"),
        Ok(Err(error)) => error.to_string(),
        Err(_) => panic!("no answer and no error"),
    }
}

// covers: A5
async fn what_is_wrong_with_a_database_is_named(db: &TestDatabase) {
    let url: url::Url = db.url().unwrap().parse().unwrap();
    let host = wire::address_of(url.as_str());
    let port = host.port();

    let mut refused = url.clone();
    refused.set_port(Some(1)).unwrap();
    refused.set_password(Some("canary")).unwrap();
    let said = why_not(refused.as_str()).await;
    assert!(said.contains("connection refused by") && said.contains(":1"), "{said}");
    assert!(!said.contains("canary"), "{said}");

    let mut unknown = url.clone();
    unknown.set_path("/nowhere");
    let said = why_not(unknown.as_str()).await;
    assert!(said.contains("has no database `nowhere`") && said.contains(&port.to_string()), "{said}");

    let mut stranger = url.clone();
    stranger.set_username("stranger").unwrap();
    stranger.set_password(Some("canary")).unwrap();
    let said = why_not(stranger.as_str()).await;
    assert!(said.contains("refuses the user `stranger`"), "{said}");
    assert!(!said.contains("canary"), "{said}");

    let wire = Wire::to(host).await;
    wire.silence_all();
    let said = why_not(&wire.url(url.as_str())).await;
    assert!(said.contains("has not answered within 5s"), "{said}");
}

#[test]
fn what_is_wrong_with_a_database_is_named_on_postgres() {
    on(Kind::Postgres, what_is_wrong_with_a_database_is_named);
}

#[test]
fn what_is_wrong_with_a_database_is_named_on_mariadb() {
    on(Kind::Mariadb, what_is_wrong_with_a_database_is_named);
}

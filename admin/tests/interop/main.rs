//! Published executors against a node: which of them does what. `make interop` builds them, runs this program, and compares what it sees
//! with the table in `admin/docs/executors.md`; with `UPDATE_TABLE=1` it writes the table.
//!
//! Each executor has a node of its own. A behaviour is a word or two of what was seen, so that a difference says what has changed.

mod behaviours;
mod clients;
mod fixture;
mod table;

use std::process::ExitCode;

use behaviours::BEHAVIOURS;
use fixture::Fixture;
use tokio::task::{JoinSet, LocalSet};

/// Nodes with executors at once.
const AT_ONCE: usize = 3;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    LocalSet::new().run_until(see_all()).await
}

async fn see_all() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|part| name.contains(part.as_str()));
    let mut left = clients::all().into_iter().filter(|client| is_wanted(client.name)).collect::<Vec<_>>().into_iter();
    let (mut running, mut rows) = (JoinSet::new(), vec![]);
    loop {
        while running.len() < AT_ONCE
            && let Some(client) = left.next()
        {
            running.spawn_local(see(client));
        }
        match running.join_next().await {
            Some(row) => rows.push(row.expect("a behaviour panicked")),
            None => break,
        }
    }
    rows.sort_by_key(|(order, ..)| *order);
    let rows: Vec<(&str, Vec<String>)> = rows.into_iter().map(|(_, name, seen)| (name, seen)).collect();
    table::compare(&rows)
}

/// What an executor does, behaviour by behaviour.
async fn see(client: clients::Client) -> (usize, &'static str, Vec<String>) {
    let (order, name) = (client.order, client.name);
    let mut fixture = Fixture::start(&client).await;
    let mut seen = vec![];
    for (title, behaviour) in BEHAVIOURS {
        let found = behaviour(&mut fixture).await;
        println!("{name}: {title}: {found}");
        seen.push(found);
    }
    (order, name, seen)
}

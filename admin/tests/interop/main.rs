//! Published executors against a node: which of them does what. `make interop` builds them, runs this program, and compares what it sees
//! with the table in `admin/docs/executors.md`; with `UPDATE_TABLE=1` it writes the table. With `--gate` it looks at three executors, and at
//! all but one behaviour, within a minute.
//!
//! Each executor has a node of its own. A behaviour is a word or two of what was seen, so that a difference says what has changed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod behaviours;
mod clients;
mod fixture;
mod table;

use std::process::ExitCode;
use std::time::Instant;

use behaviours::{BEHAVIOURS, LONG};
use fixture::Fixture;
use table::Row;
use tokio::task::{JoinSet, LocalSet};

/// Nodes with executors at once.
const AT_ONCE: usize = 3;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    LocalSet::new().run_until(see_all()).await
}

async fn see_all() -> ExitCode {
    let (options, parts): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|it| it.starts_with('-'));
    let is_gate = options.iter().any(|option| option == "--gate");
    let clients = if is_gate { clients::of_gate() } else { clients::named(&parts) };
    let begun = Instant::now();
    let (mut left, mut running, mut rows) = (clients.into_iter(), JoinSet::new(), vec![]);
    loop {
        while running.len() < AT_ONCE
            && let Some(client) = left.next()
        {
            running.spawn_local(see(client, is_gate));
        }
        match running.join_next().await {
            Some(row) => rows.push(row.expect("a behaviour panicked")),
            None => break,
        }
    }
    println!("seen in {} s", begun.elapsed().as_secs());
    rows.sort_by_key(|row| row.order);
    table::compare(&rows)
}

/// What an executor does, behaviour by behaviour.
async fn see(client: clients::Client, is_gate: bool) -> Row {
    let mut row = Row { order: client.order, name: client.name, seen: vec![] };
    let mut fixture = Fixture::start(&client).await;
    for (title, behaviour) in BEHAVIOURS.into_iter().filter(|(title, _)| !is_gate || *title != LONG) {
        let found = behaviour(&mut fixture).await;
        println!("{}: {title}: {found}", row.name);
        // All that follows would only wait for it.
        let is_missing = title == BEHAVIOURS[0].0 && found == "no";
        row.seen.push((title, found));
        if is_missing {
            break;
        }
    }
    row
}

//! Do more nodes send more? The highest rate of clusters of several sizes, each node with a part of a core, so that a machine
//! with few cores can show it. Database, Redis and executors have what is left: if they are the limit, give a node less.

use std::process::ExitCode;
use std::time::Duration;

use carillon_testkit::wait_for;

use crate::cpu_limit::CpuLimit;
use crate::highest::{holds, print_head, search};
use crate::node::DatabaseChoice;
use crate::options::Options;
use crate::trial::Trial;

/// The row's goal: four nodes send at least this many times what one node sends.
const WANTED: f64 = 3.0;

pub async fn compare(sizes: &[u8], options: &Options) -> ExitCode {
    if matches!(options.db, DatabaseChoice::Sqlite) {
        eprintln!("several nodes need a server: use --db postgres or --db mariadb");
        return ExitCode::from(2);
    }
    // As many for one node as for four: an address takes a limited number of requests at once.
    let most = sizes.iter().copied().max().unwrap_or(1).into();
    let options = &Options { executors: options.executors.max(most), ..options.clone() };
    let mut highest: Vec<usize> = vec![];
    for size in sizes {
        let size = usize::from(*size);
        let limits: Result<Vec<CpuLimit>, String> =
            (0..size).map(|number| CpuLimit::new(number, options.cores)).collect();
        let limits = match limits {
            Ok(limits) => limits,
            Err(why) => {
                eprintln!("the nodes cannot be limited to {} of a core: {why}", options.cores);
                return ExitCode::from(2);
            }
        };
        println!("{size} nodes with {} of a core each", options.cores);
        print_head();
        let first = highest.last().copied().unwrap_or(options.jobs);
        let found = search(first, options.most, async |rate| {
            let trial = Trial::start_nodes(options, size, |number, node| limits[number].add(node.pid())).await;
            wait_for("each node has its share of the shards", async || has_shares(&trial, options).await).await;
            let is_held = holds(&trial, options, rate).await;
            trial.end().await;
            is_held
        });
        highest.push(found.await);
        // A group can be removed when its processes have gone.
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    println!("nodes  highest rate  times that of the first");
    for (size, rate) in sizes.iter().zip(&highest) {
        println!("{size:5}  {rate:12}  {:.2}", *rate as f64 / highest[0].max(1) as f64);
    }
    println!("wanted: 4 nodes at least {WANTED} times 1 node");
    ExitCode::SUCCESS
}

async fn has_shares(trial: &Trial, options: &Options) -> bool {
    for node in &trial.nodes {
        if node.api().metric("carillon_shards_held").await != (options.shards as usize / trial.nodes.len()) as f64 {
            return false;
        }
    }
    true
}

//! `carillon shards`: the node of each shard; another number of shards, while nodes run; and `carillon resync`.

use crate::config::LogFormat;
use carillon_scheduler::{Clock as _, Millis, SystemClock};
use carillon_store::Actor;
use carillon_store::lease::leases::Lease;
use carillon_store::lease::reshard::MAX_SHARDS;
use clap::{Args, Subcommand};

use super::arguments::InvalidInput;
use super::settings::DatabaseSettings;
use super::{database, logging};

/// The settings of the database may stand before and behind the command: see `command_line::command`.
#[derive(Args)]
pub struct ShardsArgs {
    #[command(flatten)]
    database: DatabaseSettings,
    #[command(subcommand)]
    change: Option<Change>,
}

#[derive(Subcommand)]
enum Change {
    /// Divide the jobs into another number of shards, while nodes run
    ///
    /// Running nodes notice it within a second and divide the shards again; no instant is lost or doubled. A node that is
    /// started with --shards must be given the new number, or better none.
    Set {
        /// 1 to 1024
        count: String,
    },
}

pub async fn run(args: ShardsArgs) -> anyhow::Result<()> {
    logging::start(LogFormat::Text, "warn");
    match args.change {
        None => show(&args.database).await,
        Some(Change::Set { count }) => set(&args.database, &count).await,
    }
}

async fn set(settings: &DatabaseSettings, count: &str) -> anyhow::Result<()> {
    let right = || InvalidInput(format!("`{count}` shards: write a number from 1 to {MAX_SHARDS}"));
    let count = count.parse().map_err(|_| right())?;
    let store = database::open(settings).await?;
    let actor = Actor::cli();
    let done = store.leases().set_shards(count, SystemClock::new().now(), &actor).await?;
    if done.before == done.after {
        println!("there are {} shards already", done.after);
    } else {
        println!(
            "{} shards instead of {}: {} jobs and {} open runs have moved",
            done.after, done.before, done.jobs, done.runs
        );
    }
    Ok(())
}

/// `carillon resync`
pub async fn resync(settings: DatabaseSettings) -> anyhow::Result<()> {
    logging::start(LogFormat::Text, "warn");
    let store = database::open(&settings).await?;
    let actor = Actor::cli();
    let shards = store.leases().resync(SystemClock::new().now(), &actor).await?;
    println!("{shards} shards have epochs above all that any node remembers; nodes go on within a second");
    Ok(())
}

async fn show(settings: &DatabaseSettings) -> anyhow::Result<()> {
    let store = database::open(settings).await?;
    store.leases().shard_count().await?;
    let now = database::now(&store).await?;
    let nodes = store.leases().live_nodes(now - 60_000).await?;
    println!("shard  epoch  expires  holder");
    for lease in store.leases().list().await? {
        let address = nodes.iter().find(|node| node.id == lease.owner);
        println!("{}", line(&lease, address.map(|node| &*node.address), now));
    }
    Ok(())
}

fn line(lease: &Lease, address: Option<&str>, now: Millis) -> String {
    let left = lease.expires_at - now;
    let (expires, holder) = match left {
        1.. => {
            (format!("{}.{} s", left / 1000, left % 1000 / 100), format!("{} {}", lease.owner, address.unwrap_or("")))
        }
        _ => ("-".to_owned(), "nobody".to_owned()),
    };
    let line = format!("{:>5}  {:>5}  {expires:>7}  {holder}", lease.shard, lease.epoch);
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_is_one_line() {
        let lease = |expires_at| Lease { shard: 3, epoch: 17, owner: "abc".into(), expires_at };
        let address = Some("http://10.0.0.1:8080/");
        assert_eq!(line(&lease(9_250), address, 1_000), "    3     17    8.2 s  abc http://10.0.0.1:8080/");
        assert_eq!(line(&lease(9_250), None, 1_000), "    3     17    8.2 s  abc");
        assert_eq!(line(&lease(0), None, 1_000), "    3     17        -  nobody");
    }
}

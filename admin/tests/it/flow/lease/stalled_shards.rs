//! Another session of the database holds locks on the rows of one shard: an alarm says so until the shard is worked again.

use std::sync::Arc;
use std::time::Duration;

use carillon_engine::runtime::Service as _;
use carillon_scheduler::{AlarmKind, ManualClock};
use carillon_store::alarm::alarms::{AlarmFilter, AlarmRow};
use sea_orm::{ConnectionTrait as _, TransactionTrait as _};

use crate::flow::node::{Node, START};
use crate::services::{Kind, on};

async fn stuck_alarms(node: &Node) -> Vec<AlarmRow> {
    let filter = AlarmFilter { kinds: vec![AlarmKind::Stuck], limit: 10, ..AlarmFilter::default() };
    node.store.alarms().list(&filter).await.unwrap().items
}

async fn scan(node: &Node, shard: i32) {
    node.services.scanners.all()[shard as usize].step().await;
}

/// Seconds in which the shards are looked after, and these are scanned.
async fn seconds(node: &Node, count: usize, shards: &[i32]) {
    for _ in 0..count {
        node.clock.advance(Duration::from_secs(1));
        node.renew_leases().await;
        for shard in shards {
            scan(node, *shard).await;
        }
    }
}

// covers: 003-2
#[test]
fn a_shard_whose_rows_are_locked_raises_an_alarm_and_the_others_go_on() {
    on(Kind::Postgres, async |db| {
        let mut config = db.config();
        config.shards = Some(2);
        // Ahead of the server's own clock, by which leases end.
        let node = Node::on(config, Arc::new(ManualClock::new(START + 2_400_000_000_000))).await;
        let stuck = node.every(1, |_| ()).await;
        let free = loop {
            let job = node.every(1, |_| ()).await;
            if job.shard != stuck.shard {
                break job;
            }
        };
        node.renew_leases().await;
        seconds(&node, 2, &[stuck.shard, free.shard]).await;
        assert!(stuck_alarms(&node).await.is_empty());

        let raw = sea_orm::Database::connect(db.direct_url()).await.unwrap();
        let session = raw.begin().await.unwrap();
        let lock = format!("UPDATE job_clock SET revision = revision WHERE shard = {}", stuck.shard);
        session.execute_unprepared(&lock).await.unwrap();
        seconds(&node, 10, &[free.shard]).await;
        scan(&node, stuck.shard).await;
        seconds(&node, 15, &[free.shard]).await;
        assert!(stuck_alarms(&node).await.is_empty(), "not before 30 s");
        let before = node.runs(&free).await.len();
        seconds(&node, 10, &[free.shard]).await;
        let alarms = stuck_alarms(&node).await;
        assert_eq!(alarms.len(), 1, "{alarms:?}");
        let said = format!("shard {} is not worked: no scan of it has succeeded for 30 s", stuck.shard);
        assert!(alarms[0].is_open && alarms[0].alarm.text == said, "{alarms:?}");
        assert!(node.runs(&free).await.len() >= before + 6, "the other shard goes on");
        let metrics = node.metrics();
        let lag = metrics.lines().find_map(|line| line.strip_prefix("carillon_scan_lag_seconds ")).unwrap();
        assert!((30.0..60.0).contains(&lag.parse::<f64>().unwrap()), "{lag}");

        // An alarm of a shard is no alarm of a run: the search for those that are over leaves it.
        node.services.alarm_escalator.step().await;
        session.rollback().await.unwrap();
        assert!(stuck_alarms(&node).await[0].is_open);
        seconds(&node, 1, &[stuck.shard]).await;
        seconds(&node, 1, &[]).await;
        let alarms = stuck_alarms(&node).await;
        assert!(alarms.len() == 1 && !alarms[0].is_open && alarms[0].closed_at.is_some(), "{alarms:?}");
    });
}

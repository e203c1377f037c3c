//! The intervals of the registry and of the membership of nodes, as the document has them.

use std::time::Duration;

use carillon_engine::runtime::Service as _;

use crate::flow::node::on_node;

const DOCUMENT: &str = include_str!("../../../../docs/cluster.md");
const SDK: &str = include_str!("../../../../../executor-sdk/src/admin/heartbeat.rs");

/// A loop of the table: how often, and for how long it counts.
fn documented(name: &str) -> (Duration, Option<Duration>) {
    let row = DOCUMENT.lines().find_map(|line| line.strip_prefix(&format!("| {name} | "))).expect(name);
    let (every, counts) = row.split_once(" |").unwrap();
    let seconds =
        |text: &str| text.trim().split_once(" s").map(|(number, _)| Duration::from_secs(number.parse().unwrap()));
    (seconds(every).unwrap(), seconds(counts))
}

// covers: 002-24
#[test]
fn the_documented_intervals_are_those_of_the_program() {
    on_node(async |node| {
        let (services, settings) = (&node.services, &node.engine.cx.settings);
        // The second round: the first one of a new holder may look again at once.
        for _ in 0..2 {
            node.clock.advance(Duration::from_secs(1));
            node.renew_leases().await;
            services.clock_guard.step().await;
        }
        let ttl = Some(settings.lease_ttl);
        let membership = documented("a node reports itself and reads the leases");
        assert_eq!((services.coordinator.step().await.next, ttl), membership);
        assert_eq!((settings.renew_every, ttl), documented("a node renews the lease of a shard"));
        let clock = documented("a node compares its clock with the database's").0;
        assert_eq!(services.clock_guard.step().await.next, clock);
        let executors = documented("a node reads the registered executors").0;
        assert_eq!(services.refresher.step().await.next, executors);
        let runs = documented("a node looks after the runs at executors").0;
        assert_eq!(services.monitor.step().await.next, runs);

        let (beat, lease) = documented("an executor of Carillon's SDK sends a heartbeat");
        assert_eq!(Some(settings.own_lease), lease);
        let constant = format!("const INTERVAL: Duration = Duration::from_secs({});", beat.as_secs());
        assert!(SDK.contains(&constant), "the SDK's heartbeat");
        let (beat, lease) = documented("any other executor sends a heartbeat");
        assert_eq!(Some(settings.stock_lease), lease);
        assert!(beat * 3 <= settings.stock_lease, "two heartbeats may be lost");
    });
}

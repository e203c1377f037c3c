//! Values at the limits: 10,000 jobs due at one instant, 10 MB of parameters, an address that accepts no connection.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use carillon_scheduler::{Clock as _, RunState, ScheduleDraft};
use carillon_testkit::RecordingExecutor;
use socket2::{Domain, Socket, Type};

use super::node::{Node, with_registered_executor};

// covers: H20
#[test]
fn a_herd_at_one_instant_is_recorded_and_sent_whole() {
    with_registered_executor(async |node, executor| {
        const COUNT: usize = 10_000;
        const DAY: i64 = 86_400_000;
        let midnight = node.clock.now() / DAY * DAY + DAY;
        node.clock.set(midnight - 2_000);
        node.register(executor).await;
        let daily =
            |draft: &mut carillon_scheduler::JobDraft| draft.schedule = ScheduleDraft::cron("0 0 0 * * ?", "UTC");
        let jobs = node.create_jobs(COUNT, daily).await;
        node.renew_leases().await;
        while node.scan().await.did.claimed > 0 {}
        assert_eq!(open(node).await, [(RunState::Claimed, COUNT as i64)], "ahead of time");
        node.clock.set(midnight);
        // An address takes 32 at once and a thousand more in its queue; the rest waits in the ring.
        for _ in 0..200 {
            node.round().await;
            if executor.runs().len() >= COUNT {
                break;
            }
            node.clock.advance(Duration::from_millis(300));
        }
        let mut received: Vec<i64> = executor.runs().iter().map(|run| run.run_id()).collect();
        received.sort_unstable();
        received.dedup();
        assert_eq!((received.len(), executor.runs().len()), (COUNT, COUNT));
        assert_eq!(open(node).await, [(RunState::Running, COUNT as i64)]);
        let instants = node.runs(&jobs[COUNT - 1]).await.iter().map(|run| run.scheduled_at).collect::<Vec<_>>();
        assert_eq!(instants, [midnight]);
    });
}

// covers: 001-22
#[test]
fn five_thousand_fires_of_one_second_leave_with_one_tick() {
    const COUNT: usize = 5_000;
    with_registered_executor(async |node, _executor| {
        // An address takes a thousand at a time.
        let mut more = vec![];
        for _ in 0..5 {
            let executor = RecordingExecutor::start().await;
            node.register(&executor).await;
            more.push(executor);
        }
        let due = node.clock.now() + 2_000;
        let once = |draft: &mut carillon_scheduler::JobDraft| {
            draft.schedule = ScheduleDraft::once(due);
        };
        node.create_jobs(COUNT, once).await;
        node.renew_leases().await;
        assert_eq!(node.scan().await.did.claimed, COUNT);
        assert_eq!(open(node).await, [(RunState::Claimed, COUNT as i64)]);
        node.clock.set(due - 200);
        assert_eq!(node.dispatch().await.did.sent, COUNT);
        assert_eq!(open(node).await, [(RunState::Sending, COUNT as i64)]);
        let metrics = node.metrics();
        assert!(metrics.contains("carillon_ring_entries 0"), "{metrics}");
        assert!(metrics.contains("carillon_saturated_total 0"), "{metrics}");
    });
}

/// Runs that have not ended, by state.
async fn open(node: &Node) -> Vec<(RunState, i64)> {
    let all = node.store.runs().open_runs(64).await.unwrap();
    all.into_iter().filter(|(_, count)| *count > 0).collect()
}

// covers: H22, I11
#[test]
fn ten_megabytes_of_parameters_fail_their_own_run_and_no_other() {
    with_registered_executor(async |node, executor| {
        let (monster, other) = (node.every(5, |_| ()).await, node.every(5, |_| ()).await);
        // The API refuses more than 64 KiB; this is written behind its back.
        node.sql(&format!("UPDATE job_params SET params = hex(zeroblob(5000000)) WHERE job_id = {}", monster.id)).await;
        node.advance(5_000).await;
        assert_eq!(node.states(&other).await[0], RunState::Running);
        assert!(executor.runs().iter().any(|run| run.json()["jobId"] == other.id));
        assert_eq!(node.states(&monster).await[0], RunState::Failed);
    });
}

/// An address that answers no connection at all: the queue of its socket is full, and the kernel drops what comes.
struct BlackHole {
    address: SocketAddr,
    _socket: Socket,
    _full: Vec<TcpStream>,
}

impl BlackHole {
    fn open() -> Self {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
        socket.listen(0).unwrap();
        let address = socket.local_addr().unwrap().as_socket().unwrap();
        let limit = Duration::from_millis(300);
        let full = std::iter::from_fn(|| TcpStream::connect_timeout(&address, limit).ok());
        Self { address, _full: full.take(8).collect(), _socket: socket }
    }
}

// covers: H25
#[test]
fn a_black_hole_costs_a_hop_and_the_same_run_goes_to_the_next() {
    with_registered_executor(async |node, executor| {
        let hole = BlackHole::open();
        node.register_address(&format!("http://{}", hole.address), None).await;
        let job = node.job(|_| ()).await;
        for _ in 0..4 {
            node.fire(&job).await;
        }
        node.round().await;
        let runs = node.runs(&job).await;
        assert_eq!(runs.len(), 4, "no retries");
        for run in &runs {
            assert_eq!((run.state, run.attempt), (RunState::Running, 1));
            assert_eq!(run.address.as_deref(), Some(executor.address.as_str()));
        }
        assert_eq!(executor.runs().len(), 4);
    });
}

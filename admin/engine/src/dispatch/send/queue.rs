//! The runs that leave alone at one instant for one executor. As many tasks as the executor has slots take them in their order:
//! a task for each run would be woken once more to get its slot. Runs of HTTP jobs have a task each: an answer may take long, and what waits for
//! a slot behind it goes back in time.

use std::collections::VecDeque;
use std::sync::Arc;

use foldhash::{HashMap, HashMapExt as _};
use parking_lot::Mutex;

use crate::dispatch::departures::gives_way;
use crate::dispatch::send_task::{SendTask, Sender};
use crate::executor::address::gate::{AddressGate, STALLED_AFTER};

struct SendQueue {
    sender: Arc<Sender>,
    gate: Arc<AddressGate>,
    tasks: Mutex<VecDeque<SendTask>>,
}

/// Sends these runs, each by a request of its own.
pub fn send_single(sender: &Arc<Sender>, tasks: Vec<SendTask>) {
    let mut by_executor: HashMap<*const AddressGate, (Arc<AddressGate>, VecDeque<SendTask>)> = HashMap::new();
    for task in tasks {
        if task.is_http() {
            sender.tasks.spawn(task.run());
            continue;
        }
        let gate = task.gate(0);
        let queue = by_executor.entry(Arc::as_ptr(&gate)).or_insert_with(|| (gate, VecDeque::new()));
        queue.1.push_back(task);
    }
    for (gate, tasks) in by_executor.into_values() {
        SendQueue { sender: sender.clone(), gate, tasks: Mutex::new(tasks) }.start();
    }
}

impl SendQueue {
    fn start(self) {
        let (sender, count) = (self.sender.clone(), self.tasks.lock().len());
        let workers = count.min(sender.cx.settings.in_flight);
        let queue = Arc::new(self);
        for _ in 0..workers {
            sender.tasks.spawn(queue.clone().work());
        }
        if count > workers {
            sender.tasks.spawn(queue.watch());
        }
    }

    fn next(&self) -> Option<SendTask> {
        self.tasks.lock().pop_front()
    }

    async fn work(self: Arc<Self>) {
        while let Some(task) = self.next() {
            if gives_way(task.marked.routed.run.cause) {
                self.sender.departures.give_way(&*self.sender.cx.clock).await;
            }
            task.run_first(&self.gate).await;
        }
    }

    /// Where nothing moves, each run that is left sees by itself whether it may go elsewhere.
    async fn watch(self: Arc<Self>) {
        loop {
            tokio::time::sleep(STALLED_AFTER).await;
            // A worker that panicked takes no further run.
            let has_workers = Arc::strong_count(&self) > 1;
            if has_workers && !self.gate.is_stalled(self.sender.cx.clock.monotonic()) {
                continue;
            }
            for task in std::mem::take(&mut *self.tasks.lock()) {
                self.sender.tasks.spawn(task.run());
            }
            return;
        }
    }
}

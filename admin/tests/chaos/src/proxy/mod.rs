//! A TCP proxy on each wire. What it does to the bytes is changed while they flow.

mod pump;
mod trap;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use carillon_testkit::free_port;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub use trap::{Trap, Trick, http};

/// How a wire behaves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mode {
    /// Before each piece is passed on, either way.
    pub delay: Duration,
    /// Before each piece of the client is passed on: of a database, each statement.
    pub statement_delay: Duration,
    /// No listener: new connections are refused, existing ones end.
    pub down: bool,
    /// Connections stay open and nothing passes: half open, as after a cable was pulled.
    pub silent: bool,
    /// Bytes from the client after which a connection ends.
    pub cut_after: Option<u64>,
}

#[derive(Debug)]
struct State {
    mode: Mode,
    target: SocketAddr,
    traps: Vec<Trap>,
    /// All connections of now; cancelled to cut them.
    alive: CancellationToken,
    /// All connections of now; cancelled to silence them for good.
    speaks: CancellationToken,
}

/// One wire: who connects to `address` talks to the target.
#[derive(Clone, Debug)]
pub struct Wire {
    pub address: SocketAddr,
    state: Arc<Mutex<State>>,
    sprung: Arc<AtomicU64>,
    held: Arc<AtomicU64>,
    delivered_late: Arc<AtomicU64>,
    listens: Arc<watch::Sender<bool>>,
}

impl Wire {
    pub async fn open(target: SocketAddr) -> anyhow::Result<Self> {
        let wire = Self {
            // Not a port that the kernel gives to other processes while the wire does not listen.
            address: ([127, 0, 0, 1], free_port()).into(),
            state: Arc::new(Mutex::new(State {
                mode: Mode::default(),
                target,
                traps: vec![],
                alive: CancellationToken::new(),
                speaks: CancellationToken::new(),
            })),
            sprung: Arc::default(),
            held: Arc::default(),
            delivered_late: Arc::default(),
            listens: Arc::new(watch::channel(true).0),
        };
        let (tell, told) = tokio::sync::oneshot::channel();
        tokio::spawn(pump::accept(wire.clone(), tell));
        told.await?;
        Ok(wire)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn mode(&self) -> Mode {
        self.state().mode
    }

    pub fn set(&self, mode: Mode) {
        self.state().mode = mode;
        self.listens.send_replace(!mode.down);
        if mode.down {
            self.cut();
        }
    }

    /// As it was made, without traps.
    pub fn recover(&self) {
        let mut state = self.state();
        state.mode = Mode::default();
        state.traps.clear();
        self.listens.send_replace(true);
    }

    /// Takes the traps back that wait for this. Another fault may have set others.
    pub fn clear_traps(&self, needle: &str) {
        self.state().traps.retain(|trap| !trap.waits_for(needle));
    }

    /// As when the process behind it is gone.
    pub fn refuse(&self) {
        let down = Mode { down: true, ..self.mode() };
        self.set(down);
    }

    /// The process is there again; what a fault has set besides stays.
    pub fn listen(&self) {
        let up = Mode { down: false, ..self.mode() };
        self.set(up);
    }

    /// Ends all connections of now.
    pub fn cut(&self) {
        let mut state = self.state();
        std::mem::take(&mut state.alive).cancel();
    }

    /// The connections of now carry nothing any more, in either direction, and neither side learns of it: a NAT table
    /// that lost its entries. New connections work. `recover` does not revive the silenced ones.
    pub fn silence(&self) {
        let mut state = self.state();
        std::mem::take(&mut state.speaks).cancel();
    }

    /// New connections go elsewhere; those of now end.
    pub fn lead_to(&self, target: SocketAddr) {
        self.state().target = target;
        self.cut();
    }

    pub fn target(&self) -> SocketAddr {
        self.state().target
    }

    pub fn set_trap(&self, trap: Trap) {
        self.state().traps.push(trap);
    }

    /// The trick to play on a piece from a client, if a trap was set for it.
    fn spring(&self, piece: &[u8]) -> Option<Trick> {
        let mut state = self.state();
        let trap = state.traps.iter_mut().find(|trap| trap.fits(piece))?;
        trap.left -= 1;
        let trick = trap.trick.clone();
        state.traps.retain(|trap| trap.left > 0);
        self.sprung.fetch_add(1, Ordering::Relaxed);
        Some(trick)
    }

    /// How many traps have sprung since the start.
    pub fn sprung(&self) -> u64 {
        self.sprung.load(Ordering::Relaxed)
    }

    /// How many pieces were held back.
    pub fn held(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }

    /// How many of them the server has answered later.
    pub fn delivered_late(&self) -> u64 {
        self.delivered_late.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests;

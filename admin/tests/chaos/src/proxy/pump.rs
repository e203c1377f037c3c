//! Passes the bytes of a wire on, as its mode and its traps say.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::{Trick, Wire};

/// Nothing can be larger in one piece; messages that traps wait for are smaller.
const PIECE: usize = 64 << 10;
/// A silenced connection occupies a place on the server for this time.
const SERVER_FORGETS_AFTER: Duration = Duration::from_secs(30);
/// How often a silent wire looks whether it may speak again.
const LOOK: Duration = Duration::from_millis(20);

/// Listens whenever the wire is not down. `ready` gets a message when the wire listens for the first time.
pub async fn accept(wire: Wire, ready: oneshot::Sender<()>) {
    let mut listens = wire.listens.subscribe();
    let mut ready = Some(ready);
    while listens.wait_for(|listens| *listens).await.is_ok() {
        let Ok(listener) = TcpListener::bind(wire.address).await else {
            tokio::time::sleep(LOOK).await;
            continue;
        };
        if let Some(ready) = ready.take() {
            let _ = ready.send(());
        }
        tokio::select! {
            () = take_all(&listener, &wire) => {}
            _ = listens.wait_for(|listens| !*listens) => {}
        }
    }
}

async fn take_all(listener: &TcpListener, wire: &Wire) {
    while let Ok((client, _)) = listener.accept().await {
        let _ = client.set_nodelay(true);
        let (alive, speaks, target) = {
            let state = wire.state();
            (state.alive.clone(), state.speaks.clone(), state.target)
        };
        let wire = wire.clone();
        tokio::spawn(async move {
            let piped = async {
                wait_while_silent(&wire).await;
                if let Ok(server) = TcpStream::connect(target).await {
                    let _ = server.set_nodelay(true);
                    pipe(client, server, &wire, &speaks).await;
                }
            };
            alive.run_until_cancelled(piped).await;
        });
    }
}

/// What the way back shall do with the next piece.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Back {
    #[default]
    Pass,
    Swallow,
    Replace(String),
}

async fn pipe(client: TcpStream, server: TcpStream, wire: &Wire, speaks: &CancellationToken) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let (tell, told) = watch::channel(Back::Pass);
    let carried = async {
        // Whichever way ends first ends the connection: neither HTTP nor databases use half-closed ones.
        tokio::select! {
            () = forth(&mut from_client, &mut to_server, wire, &tell) => {}
            () = back(&mut from_server, &mut to_client, wire, told) => {}
        }
    };
    if speaks.run_until_cancelled(carried).await.is_none() {
        // Both sockets stay open: the end of one side must not reach the other. The server forgets its side in the end,
        // as its TCP keepalive would make it; the client is never answered.
        tokio::time::sleep(SERVER_FORGETS_AFTER).await;
        drop((from_server, to_server));
        let mut ignored = vec![0; PIECE];
        while let Ok(1..) = from_client.read(&mut ignored).await {}
    }
}

async fn forth(from: &mut OwnedReadHalf, to: &mut OwnedWriteHalf, wire: &Wire, back: &watch::Sender<Back>) {
    let sent = AtomicU64::new(0);
    let mut buffer = vec![0; PIECE];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        tokio::time::sleep(wire.mode().statement_delay).await;
        hold(wire).await;
        let trick = wire.spring(&buffer[..length]);
        if let Some(Trick::Answer(text)) = &trick {
            // Never passed on; the way back says it.
            back.send_replace(Back::Replace(text.clone()));
            return std::future::pending().await;
        }
        if let Some(Trick::Hold(time)) = trick {
            wire.held.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(deliver_late(wire.clone(), buffer[..length].to_vec(), time));
            // The client waits for an answer that does not come, and ends the connection.
            while let Ok(1..) = from.read(&mut buffer).await {}
            return;
        }
        match &trick {
            Some(Trick::LoseAnswer) => {
                back.send_replace(Back::Swallow);
            }
            Some(Trick::Replace(text)) => {
                back.send_replace(Back::Replace(text.clone()));
            }
            _ => {}
        }
        if to.write_all(&buffer[..length]).await.is_err() {
            return;
        }
        if trick == Some(Trick::CutForwarded) {
            // Long enough for the server to read it, too short for its answer to be of use to anybody.
            let _ = to.flush().await;
            return;
        }
        let total = sent.fetch_add(length as u64, Ordering::Relaxed) + length as u64;
        if wire.mode().cut_after.is_some_and(|limit| total >= limit) {
            return;
        }
    }
}

/// Also if the wire was cut meanwhile. The answer goes nowhere.
async fn deliver_late(wire: Wire, piece: Vec<u8>, held: Duration) {
    tokio::time::sleep(held).await;
    let answered = async {
        let mut server = TcpStream::connect(wire.target()).await?;
        server.write_all(&piece).await?;
        server.read(&mut [0; 1]).await
    };
    if let Ok(Ok(1..)) = tokio::time::timeout(SERVER_FORGETS_AFTER, answered).await {
        wire.delivered_late.fetch_add(1, Ordering::Relaxed);
    }
}

async fn back(from: &mut OwnedReadHalf, to: &mut OwnedWriteHalf, wire: &Wire, mut told: watch::Receiver<Back>) {
    let mut buffer = vec![0; PIECE];
    loop {
        let length = tokio::select! {
            read = from.read(&mut buffer) => match read {
                Ok(length @ 1..) => length,
                _ => return,
            },
            // A replaced answer does not wait for the server.
            _ = told.wait_for(|back| matches!(back, Back::Replace(_))) => 0,
        };
        hold(wire).await;
        let order = told.borrow().clone();
        match order {
            Back::Pass if to.write_all(&buffer[..length]).await.is_ok() => {}
            Back::Pass | Back::Swallow => return,
            Back::Replace(text) => {
                let _ = to.write_all(text.as_bytes()).await;
                let _ = to.shutdown().await;
                return;
            }
        }
    }
}

async fn hold(wire: &Wire) {
    let delay = wire.mode().delay;
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    wait_while_silent(wire).await;
}

async fn wait_while_silent(wire: &Wire) {
    while wire.mode().silent {
        tokio::time::sleep(LOOK).await;
    }
}

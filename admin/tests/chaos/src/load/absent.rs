//! Two executors that are none: one accepts and never answers, the other is a black hole. Both are registered.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::json;
use socket2::{Domain, Socket, Type};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{HANG, HOLE};

const HEARTBEAT: Duration = Duration::from_secs(5);

/// Both, registered until it is dropped.
pub struct Absent {
    _stop: DropGuard,
    _hole: Socket,
    _fill: Vec<TcpStream>,
}

impl Absent {
    pub async fn start(admins: Vec<String>, token: &str) -> anyhow::Result<Self> {
        let stop = CancellationToken::new();
        let hang = TcpListener::bind(("127.0.0.1", 0)).await?;
        let hang_address = hang.local_addr()?;
        tokio::spawn(stop.clone().run_until_cancelled_owned(async move {
            let mut held = Vec::new();
            while let Ok((stream, _)) = hang.accept().await {
                held.push(stream);
            }
        }));
        let (hole, hole_address, fill) = black_hole().await?;
        for (app, address) in [(HANG, hang_address), (HOLE, hole_address)] {
            tokio::spawn(stop.clone().run_until_cancelled_owned(beat(admins.clone(), token.to_owned(), app, address)));
        }
        Ok(Self { _stop: stop.drop_guard(), _hole: hole, _fill: fill })
    }
}

/// A socket whose queue of connections is full: the kernel drops what comes, and a connect gets no answer.
async fn black_hole() -> anyhow::Result<(Socket, SocketAddr, Vec<TcpStream>)> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into())?;
    socket.listen(0)?;
    let address = socket.local_addr()?.as_socket().ok_or_else(|| anyhow::anyhow!("no address"))?;
    let mut fill = Vec::new();
    for _ in 0..8 {
        let connect = TcpStream::connect(address);
        match tokio::time::timeout(Duration::from_millis(300), connect).await {
            Ok(stream) => fill.push(stream?),
            Err(_) => break,
        }
    }
    Ok((socket, address, fill))
}

async fn beat(admins: Vec<String>, token: String, app: &str, address: SocketAddr) {
    let http = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(2)).build().unwrap_or_default();
    let body = json!({"registryGroup": "EXECUTOR", "registryKey": app, "registryValue": format!("http://{address}")});
    loop {
        for admin in &admins {
            let told = http
                .post(format!("{admin}/api/registry"))
                .header("XXL-JOB-ACCESS-TOKEN", &token)
                .json(&body)
                .send()
                .await;
            if told.is_ok_and(|answer| answer.status().is_success()) {
                break;
            }
        }
        tokio::time::sleep(HEARTBEAT).await;
    }
}

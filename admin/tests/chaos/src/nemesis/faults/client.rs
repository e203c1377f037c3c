//! Clients that mean no good: slow ones, large ones, many that guess.

use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::Scene;

pub async fn play(name: &str, scene: &mut Scene) -> anyhow::Result<()> {
    let admin = scene.target_node().await?;
    let root = admin.wire.url();
    let mut clients = JoinSet::new();
    // One for all: making one reads the machine's certificates, and the suite's own wires would wait for that.
    let http = client();
    match name {
        "slow_loris" => {
            for _ in 0..60 {
                clients.spawn(drip(admin.wire.address));
            }
        }
        "large_bodies" => {
            for _ in 0..10 {
                let api = root.clone();
                let token = scene.cluster.secrets.api.clone();
                let http = http.clone();
                clients.spawn(async move {
                    let body = vec![b' '; 10 << 20];
                    let url = format!("{api}/api/v1/jobs");
                    let call = http.post(url).bearer_auth(token).body(body);
                    let _ = call.send().await;
                });
            }
        }
        _ => {
            for number in 0..200 {
                let (root, http) = (root.clone(), http.clone());
                clients.spawn(async move {
                    tokio::time::sleep(Duration::from_millis(number * 5)).await;
                    let guess = format!("name=admin&password=guess+{number}");
                    let call = http
                        .post(format!("{root}/login"))
                        .header("content-type", "application/x-www-form-urlencoded")
                        .body(guess);
                    let _ = call.send().await;
                });
            }
        }
    }
    let all = async { while clients.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(Duration::from_secs(6), all).await;
    Ok(())
}

fn client() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(5)).build().unwrap_or_default()
}

/// A request whose head never ends.
async fn drip(address: std::net::SocketAddr) {
    let Ok(mut stream) = TcpStream::connect(address).await else {
        return;
    };
    let _ = stream.write_all(b"POST /api/callback HTTP/1.1\r\nHost: x\r\n").await;
    for _ in 0..20 {
        tokio::time::sleep(Duration::from_millis(250)).await;
        if stream.write_all(b"X-A: b\r\n").await.is_err() {
            return;
        }
    }
}

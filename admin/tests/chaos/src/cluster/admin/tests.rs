//! Starts of a program that stands in for a node: a script that counts its starts.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use clap::Parser;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;

/// Ends with an error twice, as a node without its database does, and then stays.
const SCRIPT: &str = r#"#!/bin/sh
echo x >> "$CARILLON_DATA_DIR/starts"
[ "$(wc -l < "$CARILLON_DATA_DIR/starts")" -gt 2 ] || exit 1
exec sleep 60
"#;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    options: Options,
}

async fn admin_of(folder: &Path) -> Admin {
    let binary = folder.join("carillon");
    std::fs::write(&binary, SCRIPT).unwrap();
    std::fs::set_permissions(&binary, Permissions::from_mode(0o755)).unwrap();
    let binary = binary.display().to_string();
    let line = Line::parse_from(["chaos", "--out", ".", "--db", "sqlite", "--binary", &binary]);
    let secrets = Secrets { access: String::new(), api: String::new() };
    Admin::prepare(Ways::none("a1"), &line.options, folder, &secrets).await.unwrap()
}

/// Answers at the node's address, with success once the third process was started.
async fn serve(admin: Arc<Admin>, starts: PathBuf) {
    let listener = TcpListener::bind(admin.address).await.unwrap();
    while let Ok((mut stream, _)) = listener.accept().await {
        let _ = stream.read(&mut [0; 4096]).await;
        let started = std::fs::read_to_string(&starts).unwrap_or_default();
        let status = match started.lines().count() {
            0..3 => "503 Service Unavailable",
            _ => "200 OK",
        };
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        let _ = stream.write_all(answer.as_bytes()).await;
    }
}

#[tokio::test]
async fn a_node_that_ends_at_its_start_is_started_again_and_each_end_is_recorded() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let name = format!("carillon-chaos.{}", crate::random::secret().unwrap());
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir(&folder).unwrap();
    let admin = Arc::new(admin_of(&folder).await);
    let server = tokio::spawn(serve(admin.clone(), folder.join("a1/starts")));
    admin.start().await.unwrap();
    // One more finds it there, and starts no second process.
    admin.start().await.unwrap();
    let ends = admin.failed_starts.lock().unwrap().clone();
    let of = |exit: &Exit| (exit.why.clone(), exit.how.clone());
    let end = ("start".to_owned(), "exit 1".to_owned());
    assert_eq!(ends.iter().map(of).collect::<Vec<_>>(), [end.clone(), end]);
    let starts = std::fs::read_to_string(folder.join("a1/starts")).unwrap();
    assert_eq!(starts.lines().count(), 3);
    admin.kill("kill -9").await;
    server.abort();
    std::fs::remove_dir_all(&folder).unwrap();
}

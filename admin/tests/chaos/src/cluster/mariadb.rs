//! A MariaDB of the suite's own, with the durability it comes with.

use std::path::{Path, PathBuf};

use anyhow::ensure;
use carillon_testkit::free_port;
use tokio::process::Command;

use super::server::{Recipe, Server};
use crate::random::secret;

pub async fn start(outside: &Path, data: &Path, log: PathBuf, limit: u32) -> anyhow::Result<(Server, String)> {
    let (password, data) = (secret()?, data.join("mariadb"));
    let user = if super::postgres::is_root() { "root".to_owned() } else { std::env::var("USER").unwrap_or_default() };
    let mut install = Command::new("mariadb-install-db");
    install
        .args(["--no-defaults", "--skip-test-db", "--auth-root-authentication-method=normal"])
        .arg(format!("--user={user}"))
        .arg(format!("--datadir={}", data.display()))
        .stdin(std::process::Stdio::null());
    let done = install.output().await?;
    ensure!(done.status.success(), "mariadb-install-db failed: {}", String::from_utf8_lossy(&done.stderr));
    // Executed at each start, before the first connection is taken: the account without a password is never open.
    let accounts = outside.join("mariadb.sql");
    std::fs::write(&accounts, first_statements(&password))?;

    let port = free_port();
    let server = Server::start(Recipe {
        name: "database",
        program: "mariadbd".to_owned(),
        user: None,
        arguments: arguments(outside, &data, &user, &accounts, port, limit),
        log,
        probe: [
            "mariadb",
            "--no-defaults",
            "-h",
            "127.0.0.1",
            "-P",
            &port.to_string(),
            "-u",
            "carillon",
            "-e",
            "SELECT 1",
            "carillon",
        ]
        .map(str::to_owned)
        .to_vec(),
        secret: ("MYSQL_PWD", password.clone()),
        address: ([127, 0, 0, 1], port).into(),
    })
    .await?;
    Ok((server, format!("mysql://carillon:{password}@")))
}

fn first_statements(password: &str) -> String {
    [
        "DROP USER IF EXISTS root@localhost;",
        "DROP USER IF EXISTS root@'127.0.0.1';",
        "DROP USER IF EXISTS root@'::1';",
        &format!("CREATE USER IF NOT EXISTS carillon@'127.0.0.1' IDENTIFIED BY '{password}';"),
        "GRANT ALL PRIVILEGES ON *.* TO carillon@'127.0.0.1' WITH GRANT OPTION;",
        "CREATE DATABASE IF NOT EXISTS carillon;",
        "",
    ]
    .join("\n")
}

fn arguments(outside: &Path, data: &Path, user: &str, accounts: &Path, port: u16, limit: u32) -> Vec<String> {
    vec![
        "--no-defaults".to_owned(),
        format!("--user={user}"),
        format!("--datadir={}", data.display()),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--port={port}"),
        format!("--socket={}", outside.join("mariadb.sock").display()),
        format!("--pid-file={}", outside.join("mariadb.pid").display()),
        "--skip-name-resolve".to_owned(),
        format!("--init-file={}", accounts.display()),
        "--character-set-server=utf8mb4".to_owned(),
        "--collation-server=utf8mb4_general_ci".to_owned(),
        format!("--max-connections={limit}"),
        "--innodb-print-all-deadlocks=ON".to_owned(),
    ]
}

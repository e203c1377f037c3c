//! A PostgreSQL of the suite's own, with the durability it comes with.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use carillon_testkit::free_port;
use tokio::process::Command;

use super::process::command;
use super::server::{Recipe, Server};
use crate::random::secret;

/// PostgreSQL refuses root; Debian's package made this user.
const USER: &str = "postgres";

pub async fn start(outside: &Path, data: &Path, log: PathBuf, limit: u32) -> anyhow::Result<(Server, String)> {
    let bin = newest_bin()?;
    let password = secret()?;
    let data = data.join("postgres");
    let user = is_root().then_some(USER);
    own_folder(&data, user).await?;
    initialise(&bin, &data, outside, &password, user).await?;

    let port = free_port();
    let flags = [
        "listen_addresses=127.0.0.1".to_owned(),
        "unix_socket_directories=".to_owned(),
        format!("max_connections={limit}"),
    ];
    let mut arguments = vec!["-D".to_owned(), data.display().to_string(), "-p".to_owned(), port.to_string()];
    arguments.extend(flags.into_iter().flat_map(|flag| ["-c".to_owned(), flag]));
    let probe = |database: &str, statement: &str| {
        let port = port.to_string();
        let words = ["-X", "-q", "-h", "127.0.0.1", "-p", &port, "-U", "carillon", "-d", database, "-c", statement];
        let mut probe = vec![bin.join("psql").display().to_string()];
        probe.extend(words.map(str::to_owned));
        probe
    };
    let server = Server::start(Recipe {
        name: "database",
        program: bin.join("postgres").display().to_string(),
        user,
        arguments,
        log,
        probe: probe("postgres", "SELECT 1"),
        secret: ("PGPASSWORD", password.clone()),
        address: ([127, 0, 0, 1], port).into(),
    })
    .await?;
    let create = probe("postgres", "CREATE DATABASE carillon");
    let made = Command::new(&create[0]).args(&create[1..]).env("PGPASSWORD", &password).status();
    ensure!(made.await?.success(), "the database cannot be created");
    Ok((server, format!("postgres://carillon:{password}@")))
}

fn newest_bin() -> anyhow::Result<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").context("PostgreSQL is not installed")?;
    let mut bins: Vec<PathBuf> = versions
        .filter_map(|version| Some(version.ok()?.path().join("bin")))
        .filter(|bin| bin.join("postgres").exists())
        .collect();
    bins.sort();
    bins.pop().context("PostgreSQL is not installed")
}

pub fn is_root() -> bool {
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| status.contains("\nUid:\t0\t"))
}

async fn own_folder(folder: &Path, user: Option<&str>) -> anyhow::Result<()> {
    let mut install = Command::new("install");
    install.args(["-d", "-m", "700"]);
    if let Some(user) = user {
        install.args(["-o", user]);
    }
    ensure!(install.arg(folder).status().await?.success(), "no folder for PostgreSQL");
    Ok(())
}

async fn initialise(bin: &Path, data: &Path, outside: &Path, password: &str, user: Option<&str>) -> anyhow::Result<()> {
    // Inside the folder that only the server's user may read.
    let file = outside.join("password");
    std::fs::write(&file, format!("{password}\n"))?;
    let mut hide = Command::new("chmod");
    ensure!(hide.arg("600").arg(&file).status().await?.success());
    if let Some(user) = user {
        let mut own = Command::new("chown");
        ensure!(own.arg(user).arg(&file).status().await?.success());
    }
    let mut initdb = command(&bin.join("initdb").display().to_string(), user);
    initdb
        .current_dir("/")
        .arg("--pgdata")
        .arg(data)
        .args(["--username", "carillon", "--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C.UTF-8"])
        .arg("--pwfile")
        .arg(&file);
    let done = initdb.output().await?;
    std::fs::remove_file(&file)?;
    ensure!(done.status.success(), "initdb failed: {}", String::from_utf8_lossy(&done.stderr));
    Ok(())
}

//! A Redis as Debian sets it up: a clean restart keeps the keys, a kill loses what is younger than the last snapshot.

use std::path::{Path, PathBuf};

use carillon_testkit::free_port;

use super::server::{Recipe, Server};
use crate::random::secret;

/// Answers the server and the start of its URL. `password`: of another one, which this shall be taken for.
pub async fn start(
    outside: &Path,
    name: &'static str,
    log: PathBuf,
    password: Option<String>,
) -> anyhow::Result<(Server, String)> {
    let folder = outside.join(name);
    std::fs::create_dir_all(&folder)?;
    let password = match password {
        Some(password) => password,
        None => secret()?,
    };
    let port = free_port();
    let configuration = folder.join("redis.conf");
    std::fs::write(
        &configuration,
        format!(
            "bind 127.0.0.1\nport {port}\nrequirepass {password}\ndir {}\nsave 3600 1\nappendonly no\n",
            folder.display()
        ),
    )?;
    let server = Server::start(Recipe {
        name,
        program: "redis-server".to_owned(),
        user: None,
        arguments: vec![configuration.display().to_string()],
        log,
        probe: ["redis-cli", "-e", "-h", "127.0.0.1", "-p", &port.to_string(), "ping"].map(str::to_owned).to_vec(),
        secret: ("REDISCLI_AUTH", password.clone()),
        address: ([127, 0, 0, 1], port).into(),
    })
    .await?;
    Ok((server, password))
}

/// One command, by the command-line client.
pub async fn tell(server: &Server, words: &[&str]) -> anyhow::Result<()> {
    let port = server.address().port().to_string();
    let (name, secret) = &server.recipe.secret;
    let done = tokio::process::Command::new("redis-cli")
        .args(["-e", "-h", "127.0.0.1", "-p", &port])
        .args(words)
        .env(name, secret)
        .stdout(std::process::Stdio::null())
        .status()
        .await?;
    anyhow::ensure!(done.success(), "redis-cli {}", words.join(" "));
    Ok(())
}

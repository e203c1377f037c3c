//! Redis servers of a test alone: single, with TLS, behind a Sentinel, in a Cluster. They die with their value.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use carillon_testkit::free_port;
use tempfile::TempDir;

pub struct RedisServer {
    pub port: u16,
    _folder: TempDir,
    child: Child,
}

impl RedisServer {
    pub fn start(arguments: &[&str]) -> Self {
        Self::start_at(free_port(), arguments)
    }

    pub fn start_at(port: u16, arguments: &[&str]) -> Self {
        Self::spawn(port, tempfile::tempdir().unwrap(), |command| {
            if !arguments.contains(&"--port") {
                command.args(["--port", &port.to_string()]);
            }
            command.args(["--save", "", "--appendonly", "no"]).args(arguments);
        })
    }

    /// A Sentinel that watches one master, and needs no other Sentinel's consent.
    pub fn sentinel(master: u16) -> Self {
        let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
        let file = folder.path().join("sentinel.conf");
        let text = format!(
            "port {port}\nsentinel monitor main 127.0.0.1 {master} 1\nsentinel down-after-milliseconds main 500\n\
             sentinel failover-timeout main 2000\n"
        );
        std::fs::write(&file, text).unwrap();
        Self::spawn(port, folder, |command| {
            command.arg(file).arg("--sentinel");
        })
    }

    fn spawn(port: u16, folder: TempDir, set_up: impl FnOnce(&mut Command)) -> Self {
        let mut command = Command::new("redis-server");
        set_up(&mut command);
        command.args(["--bind", "127.0.0.1", "--dir"]).arg(folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().expect("redis-server of Debian's package");
        let server = Self { port, _folder: folder, child };
        server.await_port();
        server
    }

    fn await_port(&self) {
        let until = Instant::now() + Duration::from_secs(20);
        while std::net::TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(Instant::now() < until, "no Redis at {}", self.port);
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    /// `kill -9`; nothing was saved.
    pub fn kill(mut self) -> u16 {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.port
    }

    pub fn cli(&self, arguments: &[&str]) -> String {
        let port = self.port.to_string();
        let output = Command::new("redis-cli").args(["-p", &port]).args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Three masters that share the slots, the first one at this port.
pub fn cluster(first: u16) -> Vec<RedisServer> {
    let node = |port| RedisServer::start_at(port, &["--cluster-enabled", "yes", "--cluster-node-timeout", "2000"]);
    let nodes: Vec<RedisServer> = [first, free_port(), free_port()].into_iter().map(node).collect();
    let addresses = nodes.iter().map(|node| format!("127.0.0.1:{}", node.port));
    let made = Command::new("redis-cli")
        .args(["--cluster", "create"])
        .args(addresses)
        .args(["--cluster-replicas", "0", "--cluster-yes"])
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let until = Instant::now() + Duration::from_secs(20);
    let ready = |node: &RedisServer| node.cli(&["cluster", "info"]).contains("cluster_state:ok");
    while !nodes.iter().all(ready) {
        assert!(Instant::now() < until, "the cluster is not ready");
        std::thread::sleep(Duration::from_millis(50));
    }
    nodes
}

/// An authority made for this test, and a certificate of it for 127.0.0.1.
pub struct Authority {
    pub ca: PathBuf,
    pub certificate: PathBuf,
    pub key: PathBuf,
    _folder: TempDir,
}

pub fn authority() -> Authority {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    openssl(
        folder.path(),
        &[
            &["req", "-x509"],
            &new_key[..],
            &["-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=Test authority"],
        ]
        .concat(),
    );
    openssl(
        folder.path(),
        &[&["req"], &new_key[..], &["-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost"]].concat(),
    );
    std::fs::write(path("names"), "subjectAltName=IP:127.0.0.1,DNS:localhost\n").unwrap();
    let sign = [
        "x509",
        "-req",
        "-in",
        "server.csr",
        "-CA",
        "ca.pem",
        "-CAkey",
        "ca.key",
        "-CAcreateserial",
        "-days",
        "2",
        "-extfile",
        "names",
        "-out",
        "server.pem",
    ];
    openssl(folder.path(), &sign);
    Authority { ca: path("ca.pem"), certificate: path("server.pem"), key: path("server.key"), _folder: folder }
}

fn openssl(folder: &Path, arguments: &[&str]) {
    let done = Command::new("openssl").current_dir(folder).args(arguments).output().unwrap();
    assert!(done.status.success(), "{done:?}");
}

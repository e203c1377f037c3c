//! The program itself as a child process: started, asked to stop, killed. It dies with its test.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use carillon_accounts::secret::random_secret;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStderr, Command};
use tokio::sync::watch;

use crate::ports::free_port;
use crate::program::carillon;

/// A start takes a second; on a busy machine, and in a debug build, more.
const START_WITHIN: Duration = Duration::from_secs(60);

/// How a node is started, as often as a test wants, on the same data and the same port.
#[derive(Clone)]
pub struct Setup {
    pub folder: PathBuf,
    pub access_token: String,
    pub api_token: String,
    listen: SocketAddr,
    arguments: Vec<String>,
    environment: Vec<(&'static str, PathBuf)>,
}

impl Setup {
    /// Any free port, random secrets, the defaults otherwise.
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            access_token: random_secret(),
            api_token: random_secret(),
            listen: any_address(),
            arguments: vec![],
            environment: vec![],
        }
    }

    /// With a further variable, such as those that fake its clock.
    pub fn under(mut self, name: &'static str, value: PathBuf) -> Self {
        self.environment.push((name, value));
        self
    }

    /// With a further flag.
    pub fn with(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Another node on the same database.
    pub fn another(&self, folder: &Path) -> Self {
        let mut other = self.clone();
        other.folder = folder.to_owned();
        other.listen = any_address();
        other
    }

    /// `carillon serve` with these settings.
    pub fn serve(&self) -> std::process::Command {
        let mut command = carillon(&["serve"]);
        command
            .env("CARILLON_DATA_DIR", &self.folder)
            .env("CARILLON_LISTEN", self.listen.to_string())
            .env("CARILLON_ACCESS_TOKEN", &self.access_token)
            .env("CARILLON_API_TOKEN", &self.api_token)
            .env("CARILLON_LOG_FORMAT", "json")
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .args(&self.arguments);
        command
    }

    /// Starts the node and waits until it serves. The next start gets the same port.
    pub async fn start(&mut self) -> Carillon {
        let node = Carillon::start(self.serve().into()).await;
        self.listen = node.address;
        node
    }
}

/// One that no other test gets between two starts of this node.
fn any_address() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()))
}

type Lines = Arc<Mutex<Vec<String>>>;

/// A node that runs.
pub struct Carillon {
    pub address: SocketAddr,
    child: Child,
    lines: Lines,
}

impl Carillon {
    async fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let lines = Lines::default();
        let (tell, mut told) = watch::channel(None);
        tokio::spawn(listen(child.stderr.take().unwrap(), lines.clone(), tell));
        let serving = told.wait_for(Option::is_some);
        let address = match tokio::time::timeout(START_WITHIN, serving).await {
            Ok(Ok(address)) => (*address).unwrap(),
            _ => panic!("no start: {:#?}", lines.lock().unwrap()),
        };
        Self { address, child, lines }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The log lines that hold this text.
    pub fn said(&self, text: &str) -> Vec<String> {
        let lines = self.lines.lock().unwrap();
        lines.iter().filter(|line| line.contains(text)).cloned().collect()
    }

    /// `kill -9`, and it is gone.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// `kill -TERM`; answers how it ended, which must be within the limit.
    pub async fn terminate(mut self, within: Duration) -> ExitStatus {
        self.signal("TERM").await;
        match tokio::time::timeout(within, self.child.wait()).await {
            Ok(status) => status.unwrap(),
            Err(_) => panic!("no end in {within:?}: {:#?}", self.lines.lock().unwrap()),
        }
    }

    /// The most memory that it has ever had resident, in bytes.
    pub fn peak_memory(&self) -> u64 {
        let status = format!("/proc/{}/status", self.child.id().unwrap());
        let status = std::fs::read_to_string(status).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:"));
        let kib: u64 = line.unwrap().split_whitespace().nth(1).unwrap().parse().unwrap();
        kib << 10
    }

    /// `kill -NAME`.
    pub async fn signal(&self, name: &str) {
        let pid = self.child.id().unwrap().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &pid]).status();
        assert!(sent.await.unwrap().success());
    }
}

/// Keeps the log and tells the address once it is there. Ends with the process.
async fn listen(stderr: ChildStderr, lines: Lines, tell: watch::Sender<Option<SocketAddr>>) {
    let mut reader = BufReader::new(stderr).lines();
    while let Ok(Some(line)) = reader.next_line().await {
        let event: Value = serde_json::from_str(&line).unwrap_or_default();
        if event["message"] == "serving" {
            let address = event["listen.address"].as_str().and_then(|text| text.parse().ok());
            tell.send_replace(address);
        }
        lines.lock().unwrap().push(line);
    }
}

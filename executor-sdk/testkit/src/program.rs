//! The admin's binary as a child process: started, asked to stop, killed. It ends with its test.

use std::net::{Ipv4Addr, SocketAddr};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::process::Child;

use crate::api_client::ApiClient;
use crate::port::free_port;
use crate::wait::LIMIT;

/// Between two looks at what a process has printed.
const POLL: Duration = Duration::from_millis(2);

/// How a node is started, as often as a test wants, on the same data and the same port.
#[derive(Clone)]
pub struct ProgramSettings {
    /// The data folder.
    pub folder: PathBuf,
    /// What executors present.
    pub access_token: String,
    /// What clients of the API present.
    pub api_token: String,
    binary: PathBuf,
    listen: SocketAddr,
    arguments: Vec<String>,
    environment: Vec<(&'static str, PathBuf)>,
    open_files: Option<u32>,
}

impl ProgramSettings {
    /// Any free port, random tokens, the defaults otherwise. `binary` is the path of `carillon`.
    pub fn new(binary: impl Into<PathBuf>, folder: &Path) -> Self {
        let token = || format!("{:032x}", rand::random::<u128>());
        Self {
            folder: folder.to_owned(),
            access_token: token(),
            api_token: token(),
            binary: binary.into(),
            listen: any_address(),
            arguments: vec![],
            environment: vec![],
            open_files: None,
        }
    }

    /// With a further environment variable.
    #[must_use]
    pub fn env(mut self, name: &'static str, value: impl Into<PathBuf>) -> Self {
        self.environment.push((name, value.into()));
        self
    }

    /// With a further flag.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// With this limit of open files, from which the number of connections follows.
    #[must_use]
    pub fn open_files(mut self, most: u32) -> Self {
        self.open_files = Some(most);
        self
    }

    /// Another node on the same database.
    #[must_use]
    pub fn another(&self, folder: &Path) -> Self {
        Self { folder: folder.to_owned(), listen: any_address(), ..self.clone() }
    }

    /// `carillon serve` with these settings, and none of those that may be in our own environment.
    pub fn command(&self) -> Command {
        let mut command = match self.open_files {
            None => Command::new(&self.binary),
            Some(most) => {
                let mut shell = Command::new("sh");
                shell.arg("-c").arg(format!("ulimit -n {most} && exec \"$0\" \"$@\"")).arg(&self.binary);
                shell
            }
        };
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CARILLON_")) {
            command.env_remove(name);
        }
        command
            .arg("serve")
            .env_remove("RUST_LOG")
            .env("CARILLON_DATA_DIR", &self.folder)
            .env("CARILLON_LISTEN", self.listen.to_string())
            .env("CARILLON_ACCESS_TOKEN", &self.access_token)
            .env("CARILLON_API_TOKEN", &self.api_token)
            .env("CARILLON_LOG_FORMAT", "json")
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .args(&self.arguments)
            .stdin(Stdio::null());
        command
    }

    /// Starts the node and waits until it serves. The next start gets the same port.
    ///
    /// # Panics
    /// The program does not start.
    pub async fn start(&mut self) -> Program {
        let process = Process::spawn(self.command());
        let address = process.after("\"listen.address\":\"").await;
        self.listen = address.split('"').next().unwrap().parse().unwrap();
        Program { address: self.listen, api_token: self.api_token.clone(), process }
    }
}

/// One that no other test gets between two starts of a node.
fn any_address() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()))
}

/// A running node.
pub struct Program {
    /// Where it listens.
    pub address: SocketAddr,
    api_token: String,
    process: Process,
}

impl Program {
    /// `http://host:port`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A client with the API token.
    pub fn api(&self) -> ApiClient {
        ApiClient::new([self.url()], &self.api_token, Duration::from_secs(30))
    }

    /// `kill -9`, and it is gone.
    pub async fn kill(mut self) {
        self.process.child.kill().await.unwrap();
    }

    /// As [`Process::terminate`].
    pub async fn terminate(mut self, within: Duration) -> ExitStatus {
        self.process.terminate(within).await
    }
}

impl Deref for Program {
    type Target = Process;

    fn deref(&self) -> &Process {
        &self.process
    }
}

/// A child process, and what it has printed. It is killed with this value.
pub struct Process {
    child: Child,
    /// Lines of standard output and standard error.
    lines: Arc<Mutex<Vec<String>>>,
}

/// Memory of a process, in MiB.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// All that is in memory.
    pub resident: f64,
    /// The part of `resident` for which no file stands: heap, stacks, and what allocators map.
    pub anonymous: f64,
    /// The part of `anonymous` that the C library extends: an allocator of its own maps its memory elsewhere.
    pub heap: f64,
}

/// CPU seconds, and resident memory in MiB.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "named by the type")]
pub struct Usage {
    pub user: f64,
    pub system: f64,
    pub resident: f64,
}

impl Process {
    /// Starts a program; each of its lines is read as it comes.
    ///
    /// # Panics
    /// The program cannot be started.
    pub fn spawn(command: Command) -> Self {
        let mut command = tokio::process::Command::from(command);
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let lines = Arc::<Mutex<Vec<String>>>::default();
        tokio::spawn(read(child.stdout.take().unwrap(), lines.clone()));
        tokio::spawn(read(child.stderr.take().unwrap(), lines.clone()));
        Self { child, lines }
    }

    /// Waits for a line with this text; returns what comes after it.
    ///
    /// # Panics
    /// None comes within [`LIMIT`].
    pub async fn after(&self, text: &str) -> String {
        let line = async {
            loop {
                if let Some(line) = self.log(text).pop() {
                    return line;
                }
                tokio::time::sleep(POLL).await;
            }
        };
        let line = tokio::time::timeout(LIMIT, line).await;
        let line = line.unwrap_or_else(|_| panic!("timed out waiting for {text:?}:\n{}", self.output()));
        line.split_once(text).map_or("", |(_, rest)| rest.trim()).to_owned()
    }

    /// Everything that it has printed so far.
    pub fn output(&self) -> String {
        self.lines.lock().unwrap().join("\n")
    }

    /// The lines of its log that hold this text.
    pub fn log(&self, text: &str) -> Vec<String> {
        self.lines.lock().unwrap().iter().filter(|line| line.contains(text)).cloned().collect()
    }

    /// `kill -TERM`; returns how it ended.
    ///
    /// # Panics
    /// The process has not ended within the limit.
    pub async fn terminate(&mut self, within: Duration) -> ExitStatus {
        self.signal("TERM").await;
        match tokio::time::timeout(within, self.child.wait()).await {
            Ok(status) => status.unwrap(),
            Err(_) => panic!("no end in {within:?}:\n{}", self.output()),
        }
    }

    /// `kill -NAME`.
    pub async fn signal(&self, name: &str) {
        let pid = self.pid().to_string();
        let sent = tokio::process::Command::new("kill").args([&format!("-{name}"), &pid]).status();
        assert!(sent.await.unwrap().success());
    }

    /// Its number.
    ///
    /// # Panics
    /// The process has ended.
    pub fn pid(&self) -> u32 {
        self.child.id().unwrap()
    }

    /// What it has in memory now.
    pub fn memory(&self) -> Memory {
        let (status, maps) = (self.proc("status"), self.proc("smaps"));
        let mib = |lines: &str, name: &str| {
            let line = lines.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("0");
            line.split_whitespace().next().unwrap().parse::<f64>().unwrap() / 1024.0
        };
        let heap = maps.split_once("[heap]").map_or("", |(_, rest)| rest);
        Memory { resident: mib(&status, "VmRSS:"), anonymous: mib(&status, "RssAnon:"), heap: mib(heap, "Rss:") }
    }

    /// The most memory that it has ever had resident, in bytes.
    pub fn peak_memory(&self) -> u64 {
        let status = self.proc("status");
        let line = status.lines().find(|line| line.starts_with("VmHWM:"));
        let kib: u64 = line.unwrap().split_whitespace().nth(1).unwrap().parse().unwrap();
        kib << 10
    }

    /// What it has used so far.
    pub fn usage(&self) -> Usage {
        let stat = self.proc("stat");
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        // Ticks are hundredths of a second on every Linux that this runs on; pages have 4 KiB.
        let ticks = |index: usize| fields[index].parse::<f64>().unwrap() / 100.0;
        Usage { user: ticks(11), system: ticks(12), resident: fields[21].parse::<f64>().unwrap() * 4.0 / 1024.0 }
    }

    fn proc(&self, file: &str) -> String {
        std::fs::read_to_string(format!("/proc/{}/{file}", self.pid())).unwrap()
    }
}

/// Ends with the process.
async fn read(stream: impl AsyncRead + Unpin, lines: Arc<Mutex<Vec<String>>>) {
    let mut reader = BufReader::new(stream).lines();
    while let Ok(Some(line)) = reader.next_line().await {
        lines.lock().unwrap().push(line);
    }
}

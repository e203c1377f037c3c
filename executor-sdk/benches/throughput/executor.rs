//! The process that is measured: this program again, as an executor with one job that does nothing.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use carillon_executor::{Durability, Executor, JobContext};

use crate::Outcome;

/// Its settings: admin, token, data folder, address to listen on, durability.
const SETTINGS: &str = "CARILLON_BENCH_EXECUTOR";

/// Whether this process is to be the executor.
pub fn is_one() -> bool {
    env::var_os(SETTINGS).is_some()
}

pub async fn run() -> Outcome<()> {
    let settings = env::var(SETTINGS)?;
    let [admin, token, data, listen, durability] =
        settings.split_whitespace().collect::<Vec<_>>().try_into().map_err(|_| "settings of the bench")?;
    let durability = match durability {
        "process" => Durability::Process,
        _ => Durability::Machine,
    };
    let executor = Executor::builder()
        .admin(admin)
        .app("bench")
        .token(token)
        .data_dir(data)
        .listen(listen)
        .durability(durability)
        .job("nothing", |_: JobContext| async { Ok(()) })
        .build()?;
    executor.run(std::future::pending()).await?;
    Ok(())
}

pub struct ExecutorProcess {
    pub listen: String,
    pub token: String,
    child: Child,
}

impl ExecutorProcess {
    pub fn start(admin: &str, data: &Path, durability: &str) -> Outcome<Self> {
        let token = format!("{:032x}", rand::random::<u128>());
        let listen = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
        let settings = format!("{admin} {token} {} {listen} {durability}", data.display());
        let child = Command::new(env::current_exe()?).env(SETTINGS, settings).stdin(Stdio::null()).spawn()?;
        Ok(Self { listen, token, child })
    }

    /// User and system time; `/proc` counts in hundredths.
    pub fn cpu_seconds(&self) -> Outcome<f64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
        let ticks: f64 = fields[11].parse::<f64>()? + fields[12].parse::<f64>()?;
        Ok(ticks / 100.0)
    }

    pub fn memory_kib(&self) -> Outcome<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        Ok(line.unwrap_or("0 kB").trim().trim_end_matches(" kB").parse()?)
    }

    pub fn end(&mut self) -> Outcome<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for ExecutorProcess {
    /// Also where a measurement fails.
    fn drop(&mut self) {
        drop(self.end());
    }
}

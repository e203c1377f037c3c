//! The terminal of one chapter: a shell that runs its blocks one after the other, and the programs that a block leaves running.

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::output::matches;

const LIMIT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(20);
/// Names the processes of a session in their environment.
const MARK: &str = "GUIDE_OF_TEST";

pub struct Session {
    shell: Child,
    input: ChildStdin,
    answers: Receiver<String>,
    folder: TempDir,
    blocks: usize,
    /// The names of programs that run, and their process groups.
    running: Vec<(&'static str, String)>,
}

impl Session {
    /// In an empty folder, with `carillon` on the path and none of the settings that may be in our own environment.
    pub fn start(environment: &[(&str, String)]) -> Self {
        let folder = tempfile::Builder::new().prefix("carillon-guide-").tempdir().unwrap();
        for name in ["work", "bin", "blocks"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_carillon"), folder.path().join("bin/carillon")).unwrap();
        let mut command = Command::new("bash");
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CARILLON_")) {
            command.env_remove(name);
        }
        let mut path = OsString::from(folder.path().join("bin"));
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap());
        command.args(["--noprofile", "--norc", "-euo", "pipefail"]).current_dir(folder.path().join("work"));
        command.env_remove("RUST_LOG").env("PATH", path).env("HOME", folder.path()).env(MARK, folder.path());
        command.envs(environment.iter().map(|(name, value)| (name, value)));
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).process_group(0);
        let mut shell = command.spawn().unwrap();
        let input = shell.stdin.take().unwrap();
        let (sender, answers) = channel();
        let lines = BufReader::new(shell.stdout.take().unwrap()).lines();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let mut this = Self { shell, input, answers, folder, blocks: 0, running: vec![] };
        // Each program that is left running has a process group of its own, as in a terminal.
        this.tell("set -m");
        this
    }

    fn tell(&mut self, line: &str) {
        // A shell that has ended says so by the end of its answers.
        let _ = writeln!(self.input, "{line}");
    }

    fn file(&self, kind: &str) -> PathBuf {
        self.folder.path().join(format!("blocks/{:02}.{kind}", self.blocks))
    }

    /// Writes the block into a file; the command that runs it.
    fn written(&mut self, text: &str) -> String {
        self.blocks += 1;
        fs::write(self.file("sh"), text).unwrap();
        format!("source {} >{} 2>&1 </dev/null", self.file("sh").display(), self.file("out").display())
    }

    /// Without colours.
    fn printed(&self) -> String {
        let text = fs::read_to_string(self.file("out")).unwrap_or_default();
        let mut parts = text.split("\u{1b}[");
        let first = parts.next().unwrap_or_default().to_owned();
        first + &parts.map(|part| part.split_once('m').map_or("", |(_, rest)| rest)).collect::<String>()
    }

    /// The end of what was printed, and of the logs that blocks have written.
    fn story(&self) -> String {
        let mut story = self.printed();
        for entry in fs::read_dir(self.folder.path().join("work")).unwrap().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|extension| extension == "log") {
                let log = fs::read_to_string(&path).unwrap_or_default();
                let from = log.lines().count().saturating_sub(20);
                let end: Vec<&str> = log.lines().skip(from).collect();
                story.push_str(&format!("\n--- {}:\n{}\n", path.display(), end.join("\n")));
            }
        }
        story
    }

    /// Runs a block to its end; what it has printed.
    pub fn run(&mut self, text: &str) -> Result<String, String> {
        let command = self.written(text);
        self.tell(&command);
        self.tell("echo ended");
        match self.answers.recv_timeout(LIMIT) {
            Ok(_) => Ok(self.printed()),
            Err(_) => Err(format!("it has failed, or has not ended in {LIMIT:?}:\n{}", self.story())),
        }
    }

    /// Starts a program that runs on, after Ctrl-C for the one of this name. It has started when it prints what is shown, and a node when
    /// it is ready.
    pub fn leave_running(&mut self, name: &'static str, text: &str, shown: Option<&str>) -> Result<(), String> {
        self.interrupt(name)?;
        let command = self.written(text);
        self.tell(&format!("( {command} ) >/dev/null </dev/null &"));
        self.tell("echo $!");
        let group = self.answers.recv_timeout(LIMIT).map_err(|_| "the shell has ended".to_owned())?;
        self.running.push((name, group.clone()));
        let ready = (name == "carillon serve").then(|| format!("http://{}/readyz", self.address(text)));
        let since = Instant::now();
        loop {
            let is_shown = shown.is_none_or(|shown| matches(shown, &self.printed(), true));
            if is_shown && ready.as_deref().is_none_or(answers) {
                return Ok(());
            }
            if since.elapsed() > LIMIT || !Path::new("/proc").join(&group).exists() {
                return Err(format!("it has not started:\n{}", self.story()));
            }
            std::thread::sleep(POLL);
        }
    }

    /// The address of a node: that of its flag, else of the variable.
    fn address(&self, text: &str) -> String {
        let flag = text.split("--listen ").nth(1).and_then(|rest| rest.split_whitespace().next());
        let variable = || {
            read_environment(self.shell.id())
                .into_iter()
                .find_map(|it| it.strip_prefix("CARILLON_LISTEN=").map(str::to_owned))
        };
        flag.map(str::to_owned).or_else(variable).unwrap_or_else(|| "127.0.0.1:8080".to_owned())
    }

    /// Ctrl-C, as a terminal sends it: to all processes of the group.
    fn interrupt(&mut self, name: &str) -> Result<(), String> {
        let Some(index) = self.running.iter().position(|(other, _)| *other == name) else { return Ok(()) };
        let (_, group) = self.running.remove(index);
        signal("INT", &format!("-{group}"));
        let since = Instant::now();
        while Path::new("/proc").join(&group).exists() {
            if since.elapsed() > LIMIT {
                return Err(format!("`{name}` does not end at Ctrl-C"));
            }
            std::thread::sleep(POLL);
        }
        Ok(())
    }
}

impl Drop for Session {
    /// Ends all that was started, also what a block has put into the background.
    fn drop(&mut self) {
        let mark = format!("{MARK}={}", self.folder.path().display());
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
            if read_environment(pid).contains(&mark) {
                signal("KILL", &pid.to_string());
            }
        }
        let _ = self.shell.wait();
    }
}

fn read_environment(pid: u32) -> Vec<String> {
    let bytes = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).split('\0').map(str::to_owned).collect()
}

fn signal(name: &str, target: &str) {
    let _ = Command::new("kill").args([&format!("-{name}"), "--", target]).stderr(Stdio::null()).status();
}

/// Whether a GET is answered with 200.
fn answers(url: &str) -> bool {
    let (host, path) = url.trim_start_matches("http://").split_once('/').unwrap();
    let ask = || -> std::io::Result<String> {
        let mut stream = std::net::TcpStream::connect(host)?;
        stream.set_read_timeout(Some(Duration::from_secs(2)))?;
        write!(stream, "GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")?;
        std::io::read_to_string(stream)
    };
    ask().is_ok_and(|answer| answer.starts_with("HTTP/1.1 200"))
}

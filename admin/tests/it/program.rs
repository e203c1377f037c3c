//! The real binary, started as a person would start it.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// `carillon` with these arguments, and none of the settings that may be in our own environment.
pub fn carillon(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_carillon"));
    let ours = std::env::vars_os().map(|(name, _)| name);
    for name in ours.filter(|name| name.to_string_lossy().starts_with("CARILLON_")) {
        command.env_remove(name);
    }
    command.args(arguments).env_remove("RUST_LOG").stdin(Stdio::null());
    command
}

/// Runs it to its end: exit code, standard output, standard error.
pub fn ended(mut command: Command) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

/// A process that is killed with this value.
pub struct Program {
    child: Child,
    lines: Receiver<String>,
    seen: RefCell<Vec<String>>,
}

impl Program {
    pub fn start(mut command: Command) -> Self {
        let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        let lines = lines(child.stdout.take().unwrap(), child.stderr.take().unwrap());
        Self { child, lines, seen: RefCell::default() }
    }

    /// The rest, after `start`, of the first line on standard output or standard error that contains it.
    pub fn after(&self, start: &str) -> String {
        let until = Instant::now() + Duration::from_secs(30);
        // Which of the two streams is read first is chance: what came too early is looked at again.
        let mut seen = self.seen.borrow_mut();
        let mut looked = 0;
        loop {
            if let Some((_, rest)) = seen[looked..].iter().find_map(|line| line.split_once(start)) {
                return rest.trim().to_owned();
            }
            looked = seen.len();
            let left = until.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => seen.push(line),
                Err(_) => panic!("{start:?} was not said, but:\n{}", seen.join("\n")),
            }
        }
    }

    /// Sends SIGTERM and waits for the end, at most 20 s; the exit code.
    pub fn terminate(self) -> Option<i32> {
        self.terminate_and_read().0
    }

    /// As `terminate`; also everything that it printed and `after` has not read.
    pub fn terminate_and_read(mut self) -> (Option<i32>, String) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        let until = Instant::now() + Duration::from_secs(20);
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait().unwrap() {
                let rest: Vec<_> = self.lines.iter().collect();
                return (status.code(), rest.join("\n"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("it did not end within 20 s of SIGTERM");
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Both streams, read as they come, so that the process never waits for us.
fn lines(stdout: ChildStdout, stderr: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    let streams: [Box<dyn Read + Send>; 2] = [Box::new(stdout), Box::new(stderr)];
    for stream in streams {
        let sender = sender.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
    }
    receiver
}

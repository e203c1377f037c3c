//! What an executor saw, one line each, written before it answers.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::clock::{Millis, now};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// The process started.
    #[default]
    Boot,
    /// A `/run` request was read.
    Receive,
    /// The request was answered: `code`, and `state` if the executor had seen the run before.
    Answer,
    /// The run was in a batch whose answer was cut: `state` says whether the executor read it.
    Cut,
    /// The handler began.
    Start,
    /// The handler ended with `code`.
    End,
    /// An admin answered 200 to a callback that carried this run's result.
    Acked,
    /// The execution of an item began.
    ItemStart,
    /// It ended with `code`.
    ItemEnd,
    /// An admin answered 200 to a report that carried this outcome of an item.
    ItemAcked,
    /// The run has read the outcomes of `item` items, of which `state` have failed.
    Reduced,
    /// A request after which the executor is no longer registered was answered 200.
    #[serde(alias = "left")]
    Deregistered,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Event {
    pub what: What,
    pub at: Millis,
    pub executor: String,
    /// Identifies this start of the process.
    pub boot: String,
    pub run: i64,
    #[serde(skip_serializing_if = "is_zero")]
    pub job: i64,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// The run that has handed in the item.
    #[serde(skip_serializing_if = "is_zero")]
    pub root: i64,
    /// The number of an item; those that were read, in `Reduced`.
    #[serde(skip_serializing_if = "is_zero")]
    pub item: i64,
    #[serde(skip_serializing_if = "is_zero")]
    pub attempt: i64,
    #[serde(skip_serializing_if = "is_zero")]
    pub scheduled_at: Millis,
    /// `logDateTime` of the request.
    #[serde(skip_serializing_if = "is_zero")]
    pub due_at: Millis,
    #[serde(skip_serializing_if = "is_zero")]
    pub code: i64,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub state: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(number: &i64) -> bool {
    *number == 0
}

/// The file of one executor. A line is one `write`: what was written survives the process's `kill -9`.
pub struct EventLog {
    executor: String,
    pub boot: String,
    file: Mutex<File>,
}

impl EventLog {
    pub fn open(path: &Path, executor: &str) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let events = Self {
            executor: executor.to_owned(),
            boot: format!("{}-{}", now(), std::process::id()),
            file: Mutex::new(file),
        };
        events.write(Event::default());
        Ok(events)
    }

    pub fn write(&self, event: Event) {
        let event = Event { at: now(), executor: self.executor.clone(), boot: self.boot.clone(), ..event };
        let mut line = serde_json::to_vec(&event).unwrap_or_default();
        line.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = file.write_all(&line) {
            // An executor without books would make the checker see losses that are none.
            eprintln!("an event cannot be written: {error}");
            std::process::exit(3);
        }
    }
}

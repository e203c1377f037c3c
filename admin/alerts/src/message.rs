//! What a message says, before a channel gives it a form. It is stored with its delivery: a message that is tried again says the same.

use carillon_scheduler::{AlertKind, Millis};
use carillon_store::alert::alerts::{Alert, AlertItem};
use carillon_store::db::sql::text::cut;
use chrono::DateTime;
use serde::{Deserialize, Serialize};

/// Items that a message names.
pub const ITEMS: u32 = 10;
/// Of the text of an item, in bytes.
const SAID: usize = 300;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageKind {
    Opened,
    /// Further events.
    Update,
    /// It is still open.
    Reminder,
    Escalated,
    Resolved,
    Test,
}

impl MessageKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Opened => "opened",
            Self::Update => "update",
            Self::Reminder => "reminder",
            Self::Escalated => "escalated",
            Self::Resolved => "resolved",
            Self::Test => "test",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub kind: MessageKind,
    /// The same for all messages of an alert.
    pub alert_id: Option<i64>,
    pub rule: String,
    pub app: Option<String>,
    /// All events of the alert.
    pub events: i64,
    /// Those that no message has told of.
    pub new_events: i64,
    /// Jobs, executors and conditions that are not over.
    pub open_items: i64,
    pub opened_at: Millis,
    pub last_at: Millis,
    /// The latest ones.
    pub items: Vec<MessageItem>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageItem {
    pub kind: AlertKind,
    pub job_id: Option<i64>,
    pub job: Option<String>,
    pub run_id: Option<i64>,
    pub events: i64,
    pub text: String,
}

impl Message {
    pub fn new(kind: MessageKind, alert: &Alert, items: Vec<AlertItem>, open_items: i64) -> Self {
        // A message names the items that are not over; the message about the end names all.
        let is_meant = |item: &AlertItem| kind == MessageKind::Resolved || item.resolved_at.is_none();
        Self {
            kind,
            alert_id: Some(alert.id),
            rule: alert.rule.clone().unwrap_or_default(),
            app: alert.app.clone(),
            events: alert.events,
            new_events: alert.events - alert.told,
            open_items,
            opened_at: alert.opened_at,
            last_at: alert.last_at,
            items: items.into_iter().filter(is_meant).map(MessageItem::from).collect(),
        }
    }

    pub fn test(channel: &str, now: Millis) -> Self {
        Self {
            kind: MessageKind::Test,
            alert_id: None,
            rule: format!("test of the channel {channel}"),
            app: None,
            events: 0,
            new_events: 0,
            open_items: 0,
            opened_at: now,
            last_at: now,
            items: vec![],
        }
    }

    /// One line.
    pub fn title(&self) -> String {
        let place = self.app.as_deref().unwrap_or("Carillon");
        let title = match self.kind {
            MessageKind::Test => "Carillon: this is a test message".to_owned(),
            MessageKind::Resolved => format!("{place}: recovered ({})", self.rule),
            kind => {
                let prefix = match kind {
                    MessageKind::Escalated => "not acknowledged: ",
                    MessageKind::Reminder => "still open: ",
                    _ => "",
                };
                format!("{prefix}{place}: {} ({})", self.what(), self.rule)
            }
        };
        one_line(&title)
    }

    fn what(&self) -> String {
        match &self.items[..] {
            [item] if self.open_items <= 1 => {
                let name = item.job.as_deref().map_or_else(String::new, |job| format!("job {job} "));
                let count = if item.events > 1 { format!(", {} events", item.events) } else { String::new() };
                format!("{name}{}{count}", what_happened(item.kind))
            }
            items => {
                let kind = items.first().map_or("alert", |item| what_happened(item.kind));
                let is_one_kind = items.iter().all(|item| what_happened(item.kind) == kind);
                let kind = if is_one_kind { kind } else { "need attention" };
                format!(
                    "{} {kind}, {} events",
                    count(self.open_items, "job or condition", "jobs or conditions"),
                    self.events
                )
            }
        }
    }

    /// The items, one a line, and how many more there are.
    pub fn lines(&self) -> Vec<String> {
        if self.kind == MessageKind::Test {
            return vec!["The channel works: messages of alert rules arrive here.".to_owned()];
        }
        let mut lines: Vec<String> = self.items.iter().map(MessageItem::line).collect();
        let more = self.open_items - self.items.len() as i64;
        if more > 0 {
            lines.push(format!("and {more} more"));
        }
        lines.push(format!(
            "{} since {}, the last at {}",
            count(self.events, "event", "events"),
            utc(self.opened_at),
            utc(self.last_at)
        ));
        if let Some(id) = self.alert_id {
            lines.push(format!("alert {id} of the rule {}", one_line(&self.rule)));
        }
        lines
    }

    /// Title and lines as one text.
    pub fn text(&self) -> String {
        format!("{}\n\n{}", self.title(), self.lines().join("\n"))
    }
}

impl MessageItem {
    fn line(&self) -> String {
        let job = match (&self.job, self.job_id) {
            (Some(name), Some(id)) => format!("{name} (job {id}): "),
            (None, Some(id)) => format!("job {id}: "),
            _ => String::new(),
        };
        let times = if self.events > 1 { format!(" ({} times)", self.events) } else { String::new() };
        one_line(&format!("{job}{}{times}", self.text))
    }
}

impl From<AlertItem> for MessageItem {
    fn from(item: AlertItem) -> Self {
        Self {
            kind: item.kind,
            job_id: item.job_id,
            job: item.job,
            run_id: item.run_id,
            events: item.events,
            text: cut(&item.message, SAID),
        }
    }
}

fn what_happened(kind: AlertKind) -> &'static str {
    match kind {
        AlertKind::Failed => "failed",
        AlertKind::Unknown => "has a run whose outcome is unknown",
        AlertKind::Lost => "lost a run with its executor",
        AlertKind::Paused => "was paused by the scheduler",
        AlertKind::Clock => "the clock is in doubt",
        AlertKind::Database => "the database is in doubt",
        AlertKind::Ring => "the queue of runs is full",
        AlertKind::Gap => "has records that differ from its schedule",
        AlertKind::Stuck => "was not sent in time",
        AlertKind::LongRunning => "takes too long",
        AlertKind::Misfire => "skipped instants",
        AlertKind::ExecutorLost => "an executor is lost",
        AlertKind::NoExecutor => "no executor is online",
    }
}

fn count(count: i64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn utc(at: Millis) -> String {
    DateTime::from_timestamp_millis(at).map_or_else(String::new, |at| at.format("%Y-%m-%d %H:%M:%S UTC").to_string())
}

/// Executors and people write a part of it: a line end must not begin a header or a line of its own.
pub fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || c == '\u{2028}' || c == '\u{2029}' { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::sample;

    // covers: S28
    #[test]
    fn a_message_names_what_failed_in_lines_of_its_own() {
        let message = sample(MessageKind::Opened);
        assert_eq!(message.title(), "billing: 12 jobs or conditions failed, 500 events (failures)");
        assert_eq!(
            message.lines(),
            [
                "close \"day\" 1 (job 1): run 101 failed: a  Bcc: b <&> (2 times)",
                "close \"day\" 2 (job 2): run 101 failed: a  Bcc: b <&> (2 times)",
                "and 10 more",
                "500 events since 1970-01-01 00:00:00 UTC, the last at 1970-01-01 00:01:00 UTC",
                "alert 7 of the rule failures",
            ]
        );
        let one = Message { items: message.items[..1].to_vec(), open_items: 1, app: None, ..message };
        assert_eq!(one.title(), "Carillon: job close \"day\" 1 failed, 2 events (failures)");
        assert_eq!(Message { kind: MessageKind::Resolved, ..one }.title(), "Carillon: recovered (failures)");
    }
}

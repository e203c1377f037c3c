//! The title of a message: one line.

use carillon_locale::Message as Text;
use carillon_scheduler::AlertKind;

use crate::message::words::{happened, recovered};
use crate::message::{Locale, Message, MessageItem, MessageKind, one_line};

impl Message {
    /// One line.
    pub fn title(&self, locale: &Locale) -> String {
        let key = match self.kind {
            MessageKind::Test => "alert-title-test",
            MessageKind::More => "alert-title-more",
            MessageKind::Resolved => "alert-title-recovered",
            MessageKind::Escalated => "alert-title-escalated",
            MessageKind::Reminder => "alert-title-reminder",
            MessageKind::Opened | MessageKind::Update => "alert-title",
        };
        let place = self.app.as_deref().unwrap_or("Carillon");
        let what = if self.kind == MessageKind::Resolved { self.what_is_well(locale) } else { self.what(locale) };
        let text = locale.language.text(key).with("place", place).with("rule", &self.rule).with("what", what);
        one_line(&text.count("count", self.events).to_string())
    }

    fn what(&self, locale: &Locale) -> Text {
        let text = |key| locale.language.text(key);
        // An app without an executor is the cause of what else is there.
        let cause = self.items.iter().find(|item| item.kind == AlertKind::NoExecutor);
        match (cause, &self.items[..]) {
            (Some(cause), [_, _, ..]) => text(happened(cause.kind)),
            (_, [item]) if self.open_items <= 1 => {
                let mut what = text(happened(item.kind));
                if let Some(job) = &item.job {
                    what = text("alert-job-happened").with("job", job).with("happened", what);
                }
                if item.events > 1 {
                    what = text("alert-happened-often").with("happened", what).count("events", item.events);
                }
                what
            }
            (_, items) => {
                let first = items.first().map(|item| item.kind);
                let is_one_kind = items.iter().all(|item| Some(item.kind) == first);
                let key =
                    first.map_or("happened-none", |kind| if is_one_kind { happened(kind) } else { "happened-several" });
                let many = text("alert-many-happened").count("items", self.open_items).count("events", self.events);
                many.with("happened", text(key))
            }
        }
    }

    fn what_is_well(&self, locale: &Locale) -> Text {
        match &self.items[..] {
            [item] if self.all_items <= 1 => item.what_is_well(locale),
            _ => locale.language.text("recovered-many").count("items", self.all_items),
        }
    }
}

impl MessageItem {
    /// The job or the condition, without a word of what was wrong.
    pub(super) fn what_is_well(&self, locale: &Locale) -> Text {
        match (&self.job, self.job_id) {
            (Some(job), _) => locale.language.text("recovered-job").with("job", job),
            (None, Some(id)) => locale.language.text("alert-line-job-deleted").with("id", id),
            (None, None) => locale.language.text(recovered(self.kind)),
        }
    }
}

#[cfg(test)]
mod tests {
    use carillon_locale::Language;

    use super::*;
    use crate::samples::{one_job, sample};

    #[test]
    fn a_title_says_what_happened_where() {
        let (english, chinese) = (Locale::default(), Locale { language: Language::Chinese, ..Locale::default() });
        let message = sample(MessageKind::Opened);
        assert_eq!(message.title(&english), "billing: 12 jobs or conditions failed, 500 events (failures)");
        let one = Message { app: None, ..one_job(MessageKind::Opened) };
        assert_eq!(one.title(&english), "Carillon: job close \"day\" 1 failed, 2 events (failures)");
        assert_eq!(one.title(&chinese), "Carillon：任务 close \"day\" 1 失败，2 个事件（failures）");
        let mut cause = message;
        cause.items[1] = MessageItem { kind: AlertKind::NoExecutor, job: None, job_id: None, ..cause.items[1].clone() };
        assert_eq!(cause.title(&english), "billing: no executor is online (failures)");
    }

    // covers: B4
    #[test]
    fn a_recovery_names_the_job_and_no_failure() {
        let one = one_job(MessageKind::Resolved);
        let english = Locale::default();
        assert_eq!(one.title(&english), "Recovered: job `close \"day\" 1` (billing)");
        let chinese = Locale { language: Language::Chinese, ..english };
        assert_eq!(one.title(&chinese), "已恢复：任务“close \"day\" 1”（billing）");
        let condition = MessageItem { kind: AlertKind::NoExecutor, job: None, job_id: None, ..one.items[0].clone() };
        let condition = Message { items: vec![condition], ..one.clone() };
        assert_eq!(condition.title(&english), "Recovered: an executor is online (billing)");
        let many = Message { all_items: 12, ..one };
        assert_eq!(many.title(&english), "Recovered: 12 jobs or conditions (billing)");
    }
}

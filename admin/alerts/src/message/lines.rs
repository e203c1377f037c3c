//! The text of a message below its title.

use carillon_locale::Message as Text;

use crate::message::{Locale, Message, MessageItem, MessageKind, one_line};

impl Message {
    /// The items, one a line, and how many more there are.
    pub fn lines(&self, locale: &Locale) -> Vec<String> {
        let text = |key| locale.language.text(key);
        let mut lines = match self.kind {
            MessageKind::Test => vec![text("alert-line-test").to_string()],
            MessageKind::More => vec![text("alert-line-left-out").to_string()],
            MessageKind::Resolved => self.items.iter().map(|item| item.recovered_line(locale)).collect(),
            _ => self.items.iter().map(|item| item.line(locale)).collect::<Vec<_>>(),
        };
        if self.alert_id.is_some() {
            let all = if self.kind == MessageKind::Resolved { self.all_items } else { self.open_items };
            let more = all - self.items.len() as i64;
            if more > 0 {
                lines.push(text("alert-line-more").count("count", more).to_string());
            }
            lines.push(self.time_line(locale).to_string());
        }
        let named =
            self.alert_id.map(|id| text("alert-line-alert").with("id", id).with("rule", &self.rule).to_string());
        let last = [named, self.alert_url.clone()].into_iter().flatten().collect::<Vec<_>>().join(" ");
        if !last.is_empty() {
            lines.push(one_line(&last));
        }
        lines
    }

    fn time_line(&self, locale: &Locale) -> Text {
        let text =
            |key| locale.language.text(key).count("count", self.events).with("from", locale.time(self.opened_at));
        match self.resolved_at.filter(|_| self.kind == MessageKind::Resolved) {
            Some(at) => text("alert-line-was-open").with("to", locale.time(at)),
            None => text("alert-line-since").with("last", locale.time(self.last_at)),
        }
    }

    /// Title and lines as one text.
    pub fn text(&self, locale: &Locale) -> String {
        format!("{}\n\n{}", self.title(locale), self.lines(locale).join("\n"))
    }

    /// The page of the latest run.
    pub fn run_url(&self) -> Option<&str> {
        self.items.iter().find_map(|item| item.run_url.as_deref())
    }

    /// The pages of the alert and of its latest run, each with its name.
    pub fn links(&self, locale: &Locale) -> Vec<(String, &str)> {
        let links = [("alert-link-alert", self.alert_url.as_deref()), ("alert-link-run", self.run_url())];
        links.into_iter().filter_map(|(key, url)| Some((locale.language.text(key).to_string(), url?))).collect()
    }
}

impl MessageItem {
    fn line(&self, locale: &Locale) -> String {
        let language = locale.language;
        let mut line = language.say(&self.text).into_owned();
        let subject = match (&self.job, self.job_id) {
            (Some(name), Some(id)) => Some(language.text("alert-line-job").with("job", name).with("id", id)),
            (None, Some(id)) => Some(language.text("alert-line-job-deleted").with("id", id)),
            _ => None,
        };
        if let Some(subject) = subject {
            line = language.text("alert-line-said").with("subject", subject).with("text", line).to_string();
        }
        if self.events > 1 {
            line = language.text("alert-line-times").with("line", line).count("count", self.events).to_string();
        }
        self.with_link(&line)
    }

    /// Without the text of the failure: it would read like another one.
    fn recovered_line(&self, locale: &Locale) -> String {
        self.with_link(&self.what_is_well(locale).to_string())
    }

    fn with_link(&self, line: &str) -> String {
        let url = self.run_url.iter().map(String::as_str);
        one_line(&[line].into_iter().chain(url).collect::<Vec<_>>().join(" "))
    }
}

#[cfg(test)]
mod tests {
    use carillon_locale::Language;

    use super::*;
    use crate::samples::{one_job, sample};

    // covers: S28
    #[test]
    fn a_message_names_what_failed_in_lines_of_its_own() {
        assert_eq!(
            sample(MessageKind::Opened).lines(&Locale::default()),
            [
                "close \"day\" 1 (job 1): run 101 failed: a  Bcc: b <&> (2 times)",
                "close \"day\" 2 (job 2): run 101 failed: a  Bcc: b <&> (2 times)",
                "and 10 more",
                "500 events since 1970-01-01 00:00:00 UTC, the last at 1970-01-01 00:01:00 UTC",
                "alert 7 of the rule failures",
            ]
        );
    }

    // covers: B4
    #[test]
    fn language_zone_and_links_are_those_of_the_readers() {
        let mut message = one_job(MessageKind::Opened);
        message.items[0].text = "run 101 failed: It ran longer than its time-out.".to_owned();
        message.items[0].run_url = Some("https://c.example/runs/101".to_owned());
        message.alert_url = Some("https://c.example/alerts/7".to_owned());
        let locale = Locale { language: Language::Chinese, zone: "Asia/Shanghai".parse().unwrap() };
        let lines = message.lines(&locale);
        assert_eq!(
            lines[0],
            "close \"day\" 1（任务 1）：运行 101 失败：执行时间超过了任务超时时间。（2 次） https://c.example/runs/101"
        );
        assert_eq!(
            lines[1],
            "自 1970-01-01 08:00:00 Asia/Shanghai 起 500 个事件，最近一次 1970-01-01 08:01:00 Asia/Shanghai"
        );
        assert_eq!(lines[2], "报警 7，规则 failures https://c.example/alerts/7");
        let links: Vec<&str> = message.links(&locale).iter().map(|(_, url)| *url).collect();
        assert_eq!(links, ["https://c.example/alerts/7", "https://c.example/runs/101"]);
    }

    // covers: B4
    #[test]
    fn the_end_says_nothing_of_the_failure() {
        let message = Message { resolved_at: Some(120_000), ..one_job(MessageKind::Resolved) };
        assert_eq!(
            message.lines(&Locale::default()),
            [
                "job `close \"day\" 1`",
                "open from 1970-01-01 00:00:00 UTC to 1970-01-01 00:02:00 UTC, 500 events",
                "alert 7 of the rule failures",
            ]
        );
    }
}

//! A schedule in words.

use carillon_scheduler::{KindDraft, ScheduleDraft};

use crate::web::locale::Language;
use crate::web::text::format::{period, utc};

/// Every kind of schedule and its name.
pub const KINDS: [(&str, &str); 7] = [
    ("cron", "Cron"),
    ("unix_cron", "Unix cron"),
    ("fixed_rate", "Fixed rate"),
    ("fixed_delay", "Fixed delay"),
    ("daily", "Daily window"),
    ("once", "Once"),
    ("none", "No schedule"),
];

/// A schedule in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleText {
    /// `Fixed rate`
    pub kind: &'static str,
    /// `every 5 seconds`, or an expression.
    pub main: String,
    /// An expression is shown in the fixed-width face.
    pub is_code: bool,
    /// The time zone, where the kind has one.
    pub zone: String,
}

impl ScheduleText {
    /// The second line in a list. A cron expression needs no name beside it.
    pub fn note(&self) -> String {
        match (self.kind, self.zone.as_str()) {
            ("Cron", zone) => zone.to_owned(),
            (kind, "") => kind.to_owned(),
            (kind, zone) => format!("{kind}, {zone}"),
        }
    }

    /// A longer text may be broken into lines.
    pub fn is_short(&self) -> bool {
        self.main.chars().count() <= 26
    }
}

pub fn schedule_text(draft: &ScheduleDraft) -> ScheduleText {
    let word = draft.kind();
    let kind = KINDS.iter().find(|(kind, _)| *kind == word).map_or("", |(_, name)| name);
    let (main, zone) = match &draft.kind {
        KindDraft::None => ("by hand or API".to_owned(), ""),
        KindDraft::Cron(cron) | KindDraft::UnixCron(cron) => (cron.expression.clone(), cron.timezone.as_str()),
        KindDraft::FixedRate { seconds } => (format!("every {}", period(Language::English, *seconds)), ""),
        KindDraft::FixedDelay { seconds } => (format!("{} after each run", period(Language::English, *seconds)), ""),
        KindDraft::Once { at } => (utc(*at).format("%Y-%m-%d %H:%M:%S UTC").to_string(), ""),
        KindDraft::Daily(daily) => {
            let every = period(Language::English, daily.every_seconds);
            (format!("every {every} from {} to {}", daily.from, daily.to), daily.timezone.as_str())
        }
    };
    let is_code = matches!(draft.kind, KindDraft::Cron(_) | KindDraft::UnixCron(_));
    ScheduleText { kind, main, is_code, zone: zone.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_in_words() {
        let text = |draft| schedule_text(&draft).main;
        assert_eq!(text(ScheduleDraft::fixed_rate(300)), "every 5 minutes");
        assert_eq!(schedule_text(&ScheduleDraft::fixed_rate(300)).note(), "Fixed rate");
        assert_eq!(schedule_text(&ScheduleDraft::unix_cron("0 3 * * *", "UTC")).note(), "Unix cron, UTC");
        assert_eq!(text(ScheduleDraft::none()), "by hand or API");
        let cron = schedule_text(&ScheduleDraft::cron("0 0 3 * * ?", "Asia/Shanghai"));
        assert_eq!((cron.main.as_str(), cron.zone.as_str(), cron.is_code), ("0 0 3 * * ?", "Asia/Shanghai", true));
    }
}

//! A schedule in words.

use carillon_scheduler::{KindDraft, ScheduleDraft};

use crate::web::locale::Language;
use crate::web::text::format::{duration, period, utc};

/// Every kind of schedule and the key of its name.
pub const KINDS: [(&str, &str); 7] = [
    ("cron", "kind-cron"),
    ("unix_cron", "kind-unix-cron"),
    ("fixed_rate", "kind-fixed-rate"),
    ("fixed_delay", "kind-fixed-delay"),
    ("daily", "kind-daily"),
    ("once", "kind-once"),
    ("none", "kind-none"),
];

/// A schedule in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleText {
    /// `Fixed rate`
    pub kind: String,
    /// `every 5 seconds`, or an expression.
    pub main: String,
    /// The second line in a list. A cron expression needs no name beside it.
    pub note: String,
    /// An expression is shown in the fixed-width face.
    pub is_code: bool,
    /// The time zone, where the kind has one.
    pub zone: String,
}

impl ScheduleText {
    /// A longer text may be broken into lines.
    pub fn is_short(&self) -> bool {
        self.main.chars().count() <= 26
    }
}

pub fn schedule_text(language: Language, draft: &ScheduleDraft) -> ScheduleText {
    let word = draft.kind();
    let key = KINDS.iter().find(|(kind, _)| *kind == word).map_or("kind-none", |(_, key)| key);
    let kind = language.text(key).to_string();
    let text = |key, seconds: i64| language.text(key).with("period", period(language, seconds));
    let (main, zone) = match &draft.kind {
        KindDraft::None => (language.text("schedule-by-hand").to_string(), ""),
        KindDraft::Cron(cron) | KindDraft::UnixCron(cron) => (cron.expression.clone(), cron.timezone.as_str()),
        KindDraft::FixedRate { seconds } => (text("schedule-every", *seconds).to_string(), ""),
        KindDraft::FixedPeriod { milliseconds } => {
            (language.text("schedule-every").with("period", duration(language, *milliseconds)).to_string(), "")
        }
        KindDraft::FixedDelay { seconds } => (text("schedule-after-run", *seconds).to_string(), ""),
        KindDraft::Once { at } => (utc(*at).format("%Y-%m-%d %H:%M:%S UTC").to_string(), ""),
        KindDraft::Daily(daily) => {
            let every = text("schedule-daily", daily.every_seconds);
            (every.with("from", &daily.from).with("to", &daily.to).to_string(), daily.timezone.as_str())
        }
    };
    let note = match (&draft.kind, zone) {
        (KindDraft::Cron(_), zone) => zone.to_owned(),
        (_, "") => kind.clone(),
        (_, zone) => language.text("kind-in-zone").with("kind", &kind).with("zone", zone).to_string(),
    };
    let is_code = matches!(draft.kind, KindDraft::Cron(_) | KindDraft::UnixCron(_));
    ScheduleText { kind, main, note, is_code, zone: zone.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_in_words() {
        let text = |draft| schedule_text(Language::English, &draft);
        assert_eq!(text(ScheduleDraft::fixed_rate(300)).main, "every 5 minutes");
        assert_eq!(text(ScheduleDraft::fixed_rate(300)).note, "Fixed rate");
        assert_eq!(text(ScheduleDraft::unix_cron("0 3 * * *", "UTC")).note, "Unix cron, UTC");
        assert_eq!(text(ScheduleDraft::none()).main, "by hand or API");
        let cron = text(ScheduleDraft::cron("0 0 3 * * ?", "Asia/Shanghai"));
        assert_eq!((cron.main.as_str(), cron.zone.as_str(), cron.is_code), ("0 0 3 * * ?", "Asia/Shanghai", true));
        assert_eq!(cron.note, cron.zone);
        assert_eq!(schedule_text(Language::Chinese, &ScheduleDraft::fixed_rate(300)).main, "每 5 分钟");
    }
}

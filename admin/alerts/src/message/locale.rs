//! The language and the time zone of those who read a message.

use carillon_locale::Language;
use carillon_scheduler::{Millis, Zone};
use chrono::DateTime;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Locale {
    pub language: Language,
    pub zone: Zone,
}

impl Locale {
    /// None: there is no such language or zone.
    pub fn parse(language: &str, zone: &str) -> Option<Self> {
        Some(Self { language: Language::from_code(language)?, zone: zone.parse().ok()? })
    }

    /// `2026-11-26 17:00:00 Asia/Shanghai`: the name, as an abbreviation such as CST has several meanings.
    pub(super) fn time(&self, at: Millis) -> String {
        let at = DateTime::from_timestamp_millis(at).unwrap_or_default().with_timezone(&self.zone);
        format!("{} {}", at.format("%Y-%m-%d %H:%M:%S"), self.zone.name())
    }
}

//! The order of a report's lines.

use std::cmp::Reverse;

use carillon_store::report::read::{ReportGroup, ReportLine};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportSort {
    /// Days: the latest first; apps and jobs by name.
    Name,
    Runs,
    Failed,
    Killed,
    /// The lowest rate first.
    Success,
    Duration,
    Lateness,
}

impl ReportSort {
    pub const WORDS: [&str; 7] = ["name", "runs", "failed", "killed", "success", "duration", "lateness"];
    const ALL: [Self; 7] =
        [Self::Name, Self::Runs, Self::Failed, Self::Killed, Self::Success, Self::Duration, Self::Lateness];

    pub fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().position(|known| *known == word).map(|place| Self::ALL[place])
    }

    pub fn default_of(group: ReportGroup) -> Self {
        if group == ReportGroup::Day { Self::Name } else { Self::Runs }
    }

    pub fn as_str(self) -> &'static str {
        Self::WORDS[self as usize]
    }

    /// Lines that are alike in it stay in the order of their keys.
    pub fn sort(self, lines: &mut [ReportLine], group: ReportGroup) {
        match self {
            Self::Name if group == ReportGroup::Day => lines.sort_by_key(|line| Reverse(line.key)),
            Self::Name => lines.sort_by_cached_key(|line| (line.name.is_none(), line.name.clone(), line.key)),
            Self::Runs => lines.sort_by_key(|line| Reverse(line.counts.all())),
            Self::Failed => lines.sort_by_key(|line| Reverse(line.counts.bad())),
            Self::Killed => lines.sort_by_key(|line| Reverse(line.counts.killed)),
            Self::Success => lines.sort_by(|one, two| {
                let rate = |line: &ReportLine| line.counts.success_rate().unwrap_or(2.0);
                rate(one).total_cmp(&rate(two))
            }),
            Self::Duration => lines.sort_by_key(|line| Reverse(line.duration_p95)),
            Self::Lateness => lines.sort_by_key(|line| Reverse(line.lateness_p95)),
        }
    }
}

#[cfg(test)]
mod tests {
    use carillon_store::report::counts::Counts;

    use super::*;

    fn line(key: i64, name: &str, succeeded: i64, failed: i64, p95: Option<i64>) -> ReportLine {
        ReportLine {
            key,
            name: (!name.is_empty()).then(|| name.to_owned()),
            counts: Counts { succeeded, failed, ..Counts::default() },
            duration_p50: None,
            duration_p95: p95,
            lateness_p50: None,
            lateness_p95: None,
        }
    }

    #[test]
    fn each_order() {
        let order = |sort: &str, group| {
            let mut lines = [line(1, "b", 5, 5, Some(9)), line(2, "", 0, 0, None), line(3, "a", 9, 1, Some(20))];
            ReportSort::from_word(sort).unwrap().sort(&mut lines, group);
            lines.map(|line| line.key)
        };
        assert_eq!(order("name", ReportGroup::Day), [3, 2, 1]);
        assert_eq!(order("name", ReportGroup::Job), [3, 1, 2], "what is deleted is last");
        assert_eq!(order("runs", ReportGroup::Job), [1, 3, 2]);
        assert_eq!(order("failed", ReportGroup::App), [1, 3, 2]);
        assert_eq!(order("success", ReportGroup::App), [1, 3, 2]);
        assert_eq!(order("duration", ReportGroup::App), [3, 1, 2]);
        assert_eq!(order("lateness", ReportGroup::App), [1, 2, 3]);
        assert_eq!(ReportSort::from_word("size"), None);
        assert!(ReportSort::ALL.iter().all(|sort| ReportSort::from_word(sort.as_str()) == Some(*sort)));
    }
}

//! A fixed delay has no instants of its own: each fire is counted from the end of the one before. The audit follows the
//! fires as a chain: a next fire must follow every end in time, unless something explains the stop.
//!
//! The audit does not check for fires that begin too early: a late result moves the end of a run that was given up.

use carillon_scheduler::{Millis, Schedule};

use crate::audit::compare::Era;
use crate::audit::difference::{Difference, GapKind, GapReason};
use carillon_store::job::history::DefinitionVersion;
use carillon_store::run::view::records::{DelayFire, Records};

/// A node may die between the end of a fire and the insert of the next one; the node that takes its shard inserts it.
const MENDED_WITHIN: i64 = 60_000;

/// A job and the span that is looked at: after `from`, up to and including `to`.
pub struct FixedDelayAudit<'a> {
    pub job_id: i64,
    pub from: Millis,
    pub to: Millis,
    pub eras: &'a [Era],
    pub links: &'a [DelayFire],
    pub records: &'a Records,
    /// It is enabled, has fires left, and neither a next instant nor a run on its way.
    pub is_broken: bool,
}

impl FixedDelayAudit<'_> {
    /// The stops that are longer than allowed, the earliest first.
    pub fn gaps(&self) -> Vec<Difference> {
        let mut gaps = vec![];
        for (index, link) in self.links.iter().enumerate() {
            let next = self.links.get(index + 1).map(|next| next.at);
            let is_delay = self.era_at(link.at).is_some_and(|era| delay(era).is_some());
            if let Some(ended_at) = link.ended_at
                && is_delay
                && self.records.pruned_to.is_none_or(|to| link.at > to)
                && (next.is_some() || self.is_broken)
            {
                gaps.extend(self.gap_after(link.at, ended_at, next.unwrap_or(self.to)));
            }
        }
        if self.links.is_empty() && self.is_broken {
            gaps.extend(self.gap_after(self.from, self.from, self.to));
        }
        gaps
    }

    /// The instant that should have followed a fire of `at` that ended then, if nothing came of it before `until`.
    fn gap_after(&self, at: Millis, ended_at: Millis, until: Millis) -> Option<Difference> {
        // Every change of a job restarts its chain.
        let era = self.era_at(until)?;
        if !era.is_enabled() {
            return None;
        }
        let expected = delay(era)?.after_end(ended_at.max(era.from))?;
        let skipped = |range: &carillon_store::Misfire| range.to_at > at && range.from_at < until;
        let is_gap = until > expected + MENDED_WITHIN && !self.records.ranges.iter().any(skipped);
        is_gap.then_some(Difference {
            job_id: self.job_id,
            from: expected,
            to: expected,
            count: 1,
            kind: GapKind::Missing,
            reason: GapReason::Unexplained,
        })
    }

    /// The last definition that began before this instant.
    fn era_at(&self, at: Millis) -> Option<&DefinitionVersion> {
        let eras = self.eras.iter().map(|era| &era.version);
        eras.take_while(|era| era.from < at).last()
    }
}

fn delay(era: &DefinitionVersion) -> Option<&Schedule> {
    era.schedule().filter(|schedule| schedule.is_delay())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use carillon_scheduler::{KindDraft, ScheduleContext, ScheduleDraft};

    use super::*;
    use carillon_store::job::history::VersionRules;

    /// A whole minute.
    const T: Millis = 1_760_000_040_000;

    fn era(from: i64, enabled: bool) -> Era {
        let draft = ScheduleDraft { kind: KindDraft::FixedDelay { seconds: 10 }, ..ScheduleDraft::none() };
        let none: &[Arc<carillon_scheduler::Calendar>] = &[];
        let facts = ScheduleContext { calendars: none, ..ScheduleContext::from_anchor(T) };
        let rules = VersionRules::Known {
            schedule: Box::new(Schedule::parse(&draft, &facts).unwrap()),
            calendars: Default::default(),
            enabled,
            is_local: false,
        };
        let version = DefinitionVersion { from: T + from * 1000, to: None, begun_by: None, revision: None, rules };
        Era { version, kept: None, limit: None }
    }

    /// Seconds after `T`: where each fire began and ended; and where something is missing in the first 1000 s.
    fn gaps(eras: &[Era], links: &[(i64, Option<i64>)], is_broken: bool) -> Vec<i64> {
        let at = |second: i64| T + second * 1000;
        let link = |(begun, ended): &(i64, Option<i64>)| DelayFire { at: at(*begun), ended_at: ended.map(at) };
        let links: Vec<DelayFire> = links.iter().map(link).collect();
        let chain = FixedDelayAudit {
            job_id: 7,
            from: T,
            to: at(1000),
            eras,
            links: &links,
            records: &Records::default(),
            is_broken,
        };
        let gaps = chain.gaps();
        assert!(gaps.iter().all(|gap| !gap.is_explained()));
        gaps.iter().map(|gap| (gap.from - T) / 1000).collect()
    }

    // covers: 001-41
    #[test]
    fn each_end_is_followed_by_a_next_fire() {
        let whole = [era(-100, true)];
        let links = [(10, Some(13)), (23, Some(30)), (40, None)];
        assert_eq!(gaps(&whole, &links, false), [0i64; 0]);
        assert_eq!(gaps(&whole, &[(10, Some(13)), (84, None)], false), [23]);
        assert_eq!(gaps(&whole, &[(10, Some(13)), (83, None)], false), [0i64; 0], "it was mended");
        assert_eq!(gaps(&whole, &[(10, Some(13))], false), [0i64; 0], "its next instant is set");
        assert_eq!(gaps(&whole, &[(10, Some(13))], true), [23], "no next instant is set");
        assert_eq!(gaps(&whole, &[(10, Some(990))], true), [0i64; 0], "in time it will be");
        assert_eq!(gaps(&whole, &[], true), [10]);
    }

    // covers: 001-41
    #[test]
    fn what_a_change_does_to_the_chain_is_no_gap() {
        let paused = [era(-100, true), era(20, false), era(500, true)];
        assert_eq!(gaps(&paused, &[(10, Some(13)), (510, None)], false), [0i64; 0]);
        assert_eq!(gaps(&paused, &[(10, Some(13)), (600, None)], false), [510]);
        let off = [era(-100, true), era(20, false)];
        assert_eq!(gaps(&off, &[(10, Some(13))], true), [0i64; 0]);
    }
}

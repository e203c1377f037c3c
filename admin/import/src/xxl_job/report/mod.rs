//! What an import changes, leaves out or cannot know: each under a code, with the rows that it concerns.

pub mod record;

use std::collections::BTreeMap;
use std::fmt::{self, Display};

/// One row of xxl-job that a code concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// `job 17`, `app shop`, `user anna`
    pub of: String,
    pub text: String,
}

/// Findings by code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report(BTreeMap<&'static str, Vec<Finding>>);

/// The codes in their order, each with what it means.
const MEANINGS: [(&str, &str); 42] = [
    (
        "A1",
        "an e-mail went out for each failed attempt; here an alert rule sends one after the last attempt: make a channel and a rule for these addresses",
    ),
    (
        "B1",
        "`serial` on a route that changes the executor: such a job was never exclusive across executors; overlap `wait` makes it so",
    ),
    ("B2", "the block strategy is unknown: `serial`, as xxl-job read it"),
    ("C1", "the cron expression is refused: imported without a schedule"),
    ("C2", "the schedule never fires again: imported without a schedule"),
    ("C3", "the cron expression is rewritten to what xxl-job read in it"),
    ("F1", "the period is longer than a year, or no number: imported without a schedule"),
    ("F2", "the job is stopped there, so it has no phase: its period counts from its import"),
    ("G1", "Groovy is compiled into the JVM and has no counterpart: not imported"),
    ("G2", "a script job: not imported without --scripts, or of a type that is not known"),
    ("G3", "the source of a script is empty, too long or has the character NUL: not imported"),
    ("H1", "blanks around the handler are removed: xxl-job did not find this handler"),
    ("I1", "the number is taken here: the job has a new one"),
    ("I2", "the key is taken in this app: the job has none"),
    ("J1", "the job is refused: not imported"),
    ("J2", "its group is gone, so it never ran there: not imported"),
    ("K1", "a child that is missing, not imported, the job itself or named twice is left out"),
    ("K2", "a circle of children is cut at this edge"),
    (
        "K3",
        "the parent is a broadcast: its children run once for each fire, after all parts have succeeded, and not once for each part",
    ),
    ("K4", "a child without parameters gets none, as there: `takes_result` is off"),
    ("K5", "the child is of another app: that app lets jobs of this one start its jobs, as there"),
    ("K6", "the children are refused: the job has none"),
    ("L1", "changed there and here since the last import: left alone; --keep-here lets what is here count"),
    ("L2", "gone there since the last import: left alone"),
    ("L3", "deleted here since the last import: left alone"),
    ("L4", "made here and exported: the job here is left alone"),
    (
        "M1",
        "`DO_NOTHING` drops what is late by more than 5 s there, without a record; here by more than 60 s (--exact: 5 s), with a record",
    ),
    ("M2", "the misfire strategy is unknown: `skip`, as xxl-job read it"),
    ("N1", "the name is put on one line, or made up where there is none"),
    (
        "P1",
        "the parameters have more than 64 KiB, the character NUL, or a placeholder that is wrong here or names a secret: not imported",
    ),
    ("P2", "the parameters hold a placeholder, which is replaced here when a run is sent, and was text there"),
    ("R1", "the route is unknown or missing: such a job never ran there; imported with `first`"),
    ("R2", "`consistent_hash` goes by the job's number, which is another one here: another executor gets its runs"),
    (
        "R3",
        "addresses that were entered by hand: enter them on the page of the app at the cut-over; there they replace what registers, here they are added to it",
    ),
    ("S1", "the schedule type is unknown: imported without a schedule"),
    (
        "S2",
        "the schedule type is NONE, and an expression of a release before 2.3 is left in job_cron: imported without a schedule",
    ),
    ("T1", "the time-out is longer than a week: a week"),
    ("U1", "the account is not made"),
    ("X1", "the app's name cannot be one here, and executors register under it: the app and its jobs are not imported"),
    ("X2", "several groups have this app name: one app, whose executors serve them all, as there"),
    ("Y1", "more than 100 retries: 100"),
    ("Z1", "its next instant there is none of its expression in this zone"),
];

/// What a code means.
pub fn meaning(code: &str) -> &'static str {
    MEANINGS.iter().find(|(other, _)| *other == code).map_or("", |(_, text)| text)
}

impl Report {
    pub(super) fn add(&mut self, code: &'static str, of: impl Display, text: impl Into<String>) {
        self.0.entry(code).or_default().push(Finding { of: of.to_string(), text: text.into() });
    }

    /// The codes that occur, each with its rows.
    pub fn findings(&self) -> impl Iterator<Item = (&'static str, &[Finding])> {
        self.0.iter().map(|(code, findings)| (*code, findings.as_slice()))
    }

    /// The rows of a code.
    pub fn rows(&self, code: &str) -> Vec<&str> {
        self.0.get(code).into_iter().flatten().map(|finding| finding.of.as_str()).collect()
    }
}

/// Each code with its meaning, then its rows.
impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (code, findings) in self.findings() {
            writeln!(f, "{code}  {}: {}", findings.len(), meaning(code))?;
            for Finding { of, text } in findings {
                match text.as_str() {
                    "" => writeln!(f, "      {of}")?,
                    text => writeln!(f, "      {of}: {text}")?,
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::MEANINGS;

    #[test]
    fn the_guide_lists_every_code() {
        let guide = include_str!("../../../../docs/xxl-job.md");
        for (code, meaning) in MEANINGS {
            assert!(guide.contains(&format!("| {code} | {meaning} |")), "{code}");
        }
    }
}

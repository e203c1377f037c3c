//! A row of `xxl_job_info` becomes a job.

use carillon_scheduler::job::limits::{self, check_params};
use carillon_scheduler::job::placeholders::has_placeholders;
use carillon_scheduler::{BlockStrategy, JobDraft, Millis, MisfirePolicy, RouteStrategy};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::apps::MappedApp;
use super::report::Report;
use super::rows::JobRow;
use super::schedules::schedule;
use super::words::{BLOCKS, MISFIRES, ROUTES, meaning_of, new_job};

/// Which the cut-over enables.
pub const RAN: &str = "ran-in-xxl";
/// All jobs that were imported.
pub const IMPORTED: &str = "from-xxl";
/// What is late by more is a misfire, in seconds: xxl-job's own rule.
const EXACT_THRESHOLD: i64 = 5;

/// How rows are read.
#[derive(Clone, Copy, Debug)]
pub struct JobMapping<'a> {
    /// The zone of the JVM there.
    pub zone: &'a str,
    /// xxl-job's own misfire threshold.
    pub exact: bool,
    pub now: Millis,
}

/// A job that is imported; its children are not known yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedJob {
    pub id: i64,
    pub draft: JobDraft,
    /// Of its row, and of how it is read; without whether it runs there, and when.
    pub digest: String,
}

impl JobMapping<'_> {
    /// None: it is not imported, which the report says.
    pub fn map(&self, row: &JobRow, app: Option<&MappedApp>, report: &mut Report) -> Option<MappedJob> {
        let of = format!("job {}", row.id);
        let name = name(row, report);
        let app = app?;
        match row.glue_type.as_str() {
            "" | "BEAN" => {}
            "GLUE_GROOVY" => {
                report.add("G1", of, name);
                return None;
            }
            other => {
                report.add("G2", of, format!("{name} ({other})"));
                return None;
            }
        }
        if let Err(why) = check_params(&row.params) {
            report.add("P1", of, why);
            return None;
        }
        if has_placeholders(&row.params) {
            report.add("P2", &of, &row.params);
        }
        let handler = row.handler.trim();
        if handler != row.handler {
            report.add("H1", &of, format!("`{}`", row.handler));
        }
        let mut draft = new_job(&app.name, name, handler);
        draft.key = format!("xxl-{}", row.id);
        draft.owner.clone_from(&row.author);
        draft.params.clone_from(&row.params);
        draft.tags = vec![IMPORTED.to_owned()];
        draft.schedule = schedule(row, self.zone, self.now, report);
        (draft.misfire, draft.misfire_threshold_seconds) = self.misfire(row, report);
        let known_route = meaning_of(&ROUTES, &row.route);
        if known_route.is_none() {
            report.add("R1", &of, &row.route);
        }
        draft.route = known_route.unwrap_or(RouteStrategy::First);
        let is_running = row.is_running && known_route.is_some();
        if is_running {
            draft.tags.push(RAN.to_owned());
        }
        draft.block = block(row, draft.route, report);
        draft.timeout_seconds = capped(row.timeout, *limits::TIMEOUT_SECONDS.end(), ("T1", &of), report);
        draft.retries = capped(row.retries, *limits::RETRIES.end(), ("Y1", &of), report);
        Some(MappedJob { id: row.id, draft, digest: self.digest(row) })
    }

    fn digest(&self, row: &JobRow) -> String {
        let Self { zone, exact, .. } = self;
        format!("{}:{:.20}", row_digest(row), digest_of(&json!([zone, exact])))
    }

    fn misfire(&self, row: &JobRow, report: &mut Report) -> (MisfirePolicy, i64) {
        let of = format!("job {}", row.id);
        let threshold = if self.exact { EXACT_THRESHOLD } else { JobDraft::new("", "", "").misfire_threshold_seconds };
        let policy = match (meaning_of(&MISFIRES, &row.misfire), row.misfire.as_str()) {
            (Some(policy), _) => policy,
            (None, "") => MisfirePolicy::Skip,
            (None, other) => {
                report.add("M2", of, other);
                return (MisfirePolicy::Skip, threshold);
            }
        };
        let has_schedule = matches!(row.schedule_type.as_str(), "CRON" | "FIX_RATE");
        if policy == MisfirePolicy::Skip && !self.exact && has_schedule {
            report.add("M1", of, "");
        }
        (policy, threshold)
    }
}

/// Of what a row says, but for whether it runs, and when. The digest of a mapped job begins with it.
pub fn row_digest(row: &JobRow) -> String {
    let JobRow { name, author, schedule_type, schedule_conf, misfire, route, handler, params, block, .. } = row;
    let JobRow { group, timeout, retries, glue_type, children, .. } = row;
    let texts =
        [name, author, schedule_type, schedule_conf, misfire, route, handler, params, block, glue_type, children];
    digest_of(&json!([texts, group, timeout, retries])).chars().take(40).collect()
}

/// As hexadecimal digits.
pub fn digest_of(value: &Value) -> String {
    Sha256::digest(value.to_string()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// On one line; made up where there is none.
fn name(row: &JobRow, report: &mut Report) -> String {
    let line = row.name.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().filter(|c| !c.is_control()).take(limits::NAME_CHARS).collect();
    let name = if line.is_empty() { format!("xxl-job {}", row.id) } else { line };
    if name != row.name.trim() {
        report.add("N1", format!("job {}", row.id), name.clone());
    }
    name
}

fn block(row: &JobRow, route: RouteStrategy, report: &mut Report) -> BlockStrategy {
    let of = format!("job {}", row.id);
    let known = meaning_of(&BLOCKS, &row.block);
    if known.is_none() && !row.block.is_empty() {
        report.add("B2", &of, &row.block);
    }
    let block = known.unwrap_or(BlockStrategy::Serial);
    let is_fixed = matches!(
        route,
        RouteStrategy::First | RouteStrategy::Last | RouteStrategy::ConsistentHash | RouteStrategy::Broadcast
    );
    if block == BlockStrategy::Serial && !is_fixed {
        report.add("B1", of, route.as_str());
    }
    block
}

/// From 0 to the most that is possible here.
fn capped(value: i64, most: i64, (code, of): (&'static str, &str), report: &mut Report) -> i32 {
    if value > most {
        report.add(code, of, value.to_string());
    }
    value.clamp(0, most).try_into().unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> JobRow {
        JobRow {
            id: 17,
            name: "Close the day".into(),
            schedule_type: "CRON".into(),
            schedule_conf: "0 30 23 * * ?".into(),
            misfire: "DO_NOTHING".into(),
            route: "FIRST".into(),
            handler: "closeDay".into(),
            block: "SERIAL_EXECUTION".into(),
            glue_type: "BEAN".into(),
            is_running: true,
            ..JobRow::default()
        }
    }

    fn map(row: &JobRow) -> (Option<MappedJob>, Vec<&'static str>) {
        let app = MappedApp { name: "billing".into(), title: String::new() };
        let (mut report, mapping) =
            (Report::default(), JobMapping { zone: "UTC", exact: true, now: 1_760_000_000_000 });
        let mapped = mapping.map(row, Some(&app), &mut report);
        (mapped, report.findings().map(|(code, _)| code).collect())
    }

    #[test]
    fn a_plain_job_is_mapped_without_a_finding() {
        let (mapped, codes) = map(&row());
        let MappedJob { id, draft, .. } = mapped.unwrap();
        assert_eq!((id, codes), (17, vec![]));
        assert_eq!((draft.key.as_str(), draft.enabled, draft.takes_result), ("xxl-17", false, false));
        assert_eq!((draft.misfire, draft.misfire_threshold_seconds), (MisfirePolicy::Skip, 5));
        assert_eq!(draft.tags, [IMPORTED, RAN]);
    }

    #[test]
    fn each_odd_value_has_its_code() {
        let odd: [(JobRow, &str, bool); 15] = [
            (JobRow { params: "{{run_id}}".into(), ..row() }, "P2", true),
            (JobRow { handler: " closeDay".into(), ..row() }, "H1", true),
            (JobRow { name: "two\nlines".into(), ..row() }, "N1", true),
            (JobRow { name: String::new(), ..row() }, "N1", true),
            (JobRow { params: "x".repeat(70_000), ..row() }, "P1", false),
            (JobRow { params: "a\0b".into(), ..row() }, "P1", false),
            (JobRow { misfire: "FIRE_TWICE".into(), ..row() }, "M2", true),
            (JobRow { route: String::new(), ..row() }, "R1", true),
            (JobRow { route: "ROUND".into(), ..row() }, "B1", true),
            (JobRow { block: "PARALLEL".into(), ..row() }, "B2", true),
            (JobRow { timeout: 999_999, ..row() }, "T1", true),
            (JobRow { retries: 9_999, ..row() }, "Y1", true),
            (JobRow { glue_type: "GLUE_GROOVY".into(), ..row() }, "G1", false),
            (JobRow { glue_type: "GLUE_SHELL".into(), ..row() }, "G2", false),
            (JobRow { glue_type: "bean".into(), ..row() }, "G2", false),
        ];
        for (row, code, is_mapped) in odd {
            let (mapped, codes) = map(&row);
            assert_eq!((mapped.is_some(), codes), (is_mapped, vec![code]), "{row:?}");
        }
        let (mapped, _) = map(&JobRow { timeout: -1, retries: -3, ..row() });
        let draft = mapped.unwrap().draft;
        assert_eq!((draft.timeout_seconds, draft.retries), (0, 0));
    }
}

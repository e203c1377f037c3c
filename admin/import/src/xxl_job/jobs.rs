//! A row of `xxl_job_info` becomes a job.

use carillon_scheduler::job::limits::{self, check_params};
use carillon_scheduler::job::placeholders::has_placeholders;
use carillon_scheduler::job::secret_params::names_secrets;
use carillon_scheduler::{
    BlockStrategy, JobDraft, Millis, MisfirePolicy, RouteStrategy, ScriptDraft, ScriptKind, hex_digest,
};

use carillon_store::Job;
use foldhash::HashMap;
use serde_json::{Value, json};

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
    /// Script jobs too.
    pub scripts: bool,
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

/// The report says why.
struct NotImported;

/// The executor runs a script of Python 2 with its Python interpreter, which is Python 3 for `carillon worker`.
const SCRIPTS: [(&str, ScriptKind); 6] = [
    ("GLUE_SHELL", ScriptKind::Shell),
    ("GLUE_PYTHON", ScriptKind::Python),
    ("GLUE_PYTHON2", ScriptKind::Python),
    ("GLUE_NODEJS", ScriptKind::NodeJs),
    ("GLUE_PHP", ScriptKind::Php),
    ("GLUE_POWERSHELL", ScriptKind::PowerShell),
];

/// One line of 4 to 100 characters.
fn script_remark(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(80).collect();
    format!("from xxl-job: {line}").trim_end_matches([' ', ':']).to_owned()
}

impl JobMapping<'_> {
    /// None: it is not imported, which the report says.
    pub fn map(&self, row: &JobRow, app: Option<&MappedApp>, report: &mut Report) -> Option<MappedJob> {
        let of = format!("job {}", row.id);
        let name = name(row, report);
        let app = app?;
        let script = match self.script(row, &name, report) {
            Ok(script) => script,
            Err(NotImported) => return None,
        };
        if let Err(why) = check_params(&row.params) {
            report.add("P1", of, why);
            return None;
        }
        // An import looks no secrets up, and those who write the rows there may have no right to name them here.
        if names_secrets(&row.params) {
            report.add("P1", of, "names a secret");
            return None;
        }
        if has_placeholders(&row.params) {
            report.add("P2", &of, &row.params);
        }
        let handler = if script.is_some() { "" } else { row.handler.trim() };
        if script.is_none() && handler != row.handler {
            report.add("H1", &of, format!("`{}`", row.handler));
        }
        let mut draft = new_job(&app.name, name, handler);
        draft.script = script;
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

    /// The present source; earlier versions stay there.
    fn script(&self, row: &JobRow, name: &str, report: &mut Report) -> Result<Option<ScriptDraft>, NotImported> {
        let of = format!("job {}", row.id);
        let kind = SCRIPTS.iter().find(|(word, _)| *word == row.glue_type).map(|(_, kind)| *kind);
        let script = match (row.glue_type.as_str(), kind) {
            ("" | "BEAN", _) => return Ok(None),
            ("GLUE_GROOVY", _) => {
                report.add("G1", of, name);
                return Err(NotImported);
            }
            (_, Some(kind)) if self.scripts => {
                ScriptDraft::new(kind, row.glue_source.as_str(), script_remark(&row.glue_remark))
            }
            (other, _) => {
                report.add("G2", of, format!("{name} ({other})"));
                return Err(NotImported);
            }
        };
        if let Err(why) = script.check() {
            report.add("G3", of, format!("{name}: {why}"));
            return Err(NotImported);
        }
        Ok(Some(script))
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
    let JobRow { group, timeout, retries, glue_type, glue_source, children, .. } = row;
    let texts =
        [name, author, schedule_type, schedule_conf, misfire, route, handler, params, block, glue_type, children];
    // A source that nothing runs may be a comment.
    let source = Some(glue_source).filter(|_| glue_type != "BEAN");
    digest_of(&json!([texts, group, timeout, retries, source])).chars().take(40).collect()
}

/// As hexadecimal digits.
pub fn digest_of(value: &Value) -> String {
    hex_digest(value.to_string())
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

/// Of a job as it is stored, but for whether it is enabled, which is a matter of people, and its key, which may be taken. A member that a
/// later version adds is none of them. `source_ids`: the numbers there, by those here; a child of another origin counts with the negative
/// of its own.
pub(super) fn stored_digest(job: &Job, source_ids: &HashMap<i64, i64>) -> String {
    let children: Vec<i64> = job.draft.children.iter().map(|id| source_ids.get(id).copied().unwrap_or(-id)).collect();
    let draft = &job.draft;
    let texts =
        [&draft.app, &draft.name, &draft.handler, &draft.description, &draft.owner, &draft.params, &draft.route_labels];
    let words = [
        draft.catch_up.as_str(),
        draft.misfire.as_str(),
        draft.route.as_str(),
        draft.overlap.as_str(),
        draft.block.as_str(),
    ];
    let numbers = [
        draft.timeout_seconds,
        draft.retries,
        draft.flag_after_seconds,
        draft.pause_after_failures,
        draft.overlap_queue,
    ];
    let late = (draft.misfire_threshold_seconds, draft.misfire_limit, draft.misfire_window_seconds);
    let script = draft.script.as_ref().map(|script| (script.kind, &script.sha256));
    let others =
        json!([draft.tags, draft.takes_result, draft.retry_delay, job.full_schedule(), children, late, script]);
    digest_of(&json!([texts, words, numbers, others]))
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
            glue_source: String::new(),
            glue_remark: String::new(),
            is_running: true,
            ..JobRow::default()
        }
    }

    fn map(row: &JobRow) -> (Option<MappedJob>, Vec<&'static str>) {
        let app = MappedApp { name: "billing".into(), title: String::new() };
        let (mut report, mapping) =
            (Report::default(), JobMapping { zone: "UTC", exact: true, scripts: false, now: 1_760_000_000_000 });
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
        let odd: [(JobRow, &str, bool); 16] = [
            (JobRow { params: "{{run_id}}".into(), ..row() }, "P2", true),
            (JobRow { handler: " closeDay".into(), ..row() }, "H1", true),
            (JobRow { name: "two\nlines".into(), ..row() }, "N1", true),
            (JobRow { name: String::new(), ..row() }, "N1", true),
            (JobRow { params: "x".repeat(70_000), ..row() }, "P1", false),
            (JobRow { params: "a\0b".into(), ..row() }, "P1", false),
            (JobRow { params: "{{secret.KEY}}".into(), ..row() }, "P1", false),
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

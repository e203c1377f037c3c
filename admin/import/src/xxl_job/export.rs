//! The way back: jobs as one SQL file for the tables of xxl-job 3.4, which a person reads and runs. Nothing in it starts or stops a job,
//! and no account is touched.

use std::fmt::Write as _;

use carillon_scheduler::job::NOTES;
use carillon_scheduler::{CatchUp, ClockChanges, JobDraft, KindDraft, ScheduleDraft};
use carillon_store::{App, Job};
use foldhash::{HashMap, HashSet};

use super::jobs::{IMPORTED, RAN, stored_digest};
use super::words::{BLOCKS, MISFIRES, ROUTES, schedule_words, word_for};

/// The file, and what it does not hold: jobs by their numbers here, each with the reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    pub sql: String,
    pub jobs: usize,
    /// Jobs that came from there and were not changed here.
    pub unchanged: usize,
    pub left_out: Vec<(i64, String)>,
    /// Jobs in the file that lose something, and what.
    pub changed: Vec<(i64, String)>,
}

/// Characters of a description that the console there lets through.
const NAME: usize = 50;
/// Bytes of parameters there: `text`.
const PARAMS: usize = 65_535;
/// Characters of the other columns there.
const SCHEDULE: usize = 128;
const CHILDREN: usize = 255;
const HANDLER: usize = 255;
const AUTHOR: usize = 64;

/// What is known beside the jobs.
pub struct Known<'a> {
    /// What jobs that were imported have there, by their ids.
    pub numbers: &'a HashMap<i64, i64>,
    /// How those were stored by their last import, by their ids: one that is still so is left out. Empty: all are written.
    pub stored: &'a HashMap<i64, String>,
    /// The sources of script jobs, by their ids; without one the job is left out.
    pub sources: &'a HashMap<i64, String>,
    /// The time zone of the JVM there.
    pub zone: &'a str,
}

/// Jobs of these apps.
pub fn export(apps: &[App], jobs: &[Job], known: &Known<'_>) -> Exported {
    let mut exported = Exported { sql: HEAD.to_owned(), ..Exported::default() };
    let children: HashSet<i64> = jobs.iter().flat_map(|job| &job.draft.children).copied().collect();
    for app in apps {
        let (name, title) = (quoted(&app.name), quoted(if app.title.is_empty() { &app.name } else { &app.title }));
        let _ = writeln!(
            exported.sql,
            "\nINSERT INTO xxl_job_group (app_name, title, address_type, address_list, update_time)\n  SELECT {name}, {title}, 0, NULL, NOW() \
             FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM xxl_job_group WHERE app_name = {name});\n\
             SET @app = (SELECT MIN(id) FROM xxl_job_group WHERE app_name = {name});"
        );
        for job in jobs.iter().filter(|job| job.app_id == app.id) {
            if known.stored.get(&job.id).is_some_and(|stored| *stored == stored_digest(job, known.numbers)) {
                exported.unchanged += 1;
                continue;
            }
            match row(job, known) {
                Ok(values) => {
                    exported.jobs += 1;
                    exported.sql.push_str(&statement(job, known.numbers.get(&job.id).copied(), &values));
                    let lost = lost(&job.draft, children.contains(&job.id));
                    if !lost.is_empty() {
                        exported.changed.push((job.id, lost.join(", ")));
                    }
                }
                Err(why) => exported.left_out.push((job.id, why)),
            }
        }
    }
    exported.sql.push_str("\nCOMMIT;\n");
    exported
}

const HEAD: &str = "SET NAMES utf8mb4;\n\
    -- Jobs for the tables of xxl-job 3.4. Run this file before you start jobs in the console of xxl-job.\n\
    -- A job that xxl-job has already gets the definition of this file, and stays started or stopped. A job that is new there is stopped.\n\
    START TRANSACTION;\n\
    INSERT IGNORE INTO xxl_job_lock (lock_name) VALUES ('schedule_lock');\n";

/// Columns and their values, without the number.
type Row = Vec<(&'static str, String)>;

/// # Errors
/// What xxl-job cannot hold.
fn row(job: &Job, known: &Known<'_>) -> Result<Row, String> {
    let Known { numbers, sources, zone, .. } = known;
    let draft = &job.draft;
    if draft.workflow.is_some() {
        return Err("workflow".to_owned());
    }
    if draft.http.is_some() {
        return Err("HTTP request".to_owned());
    }
    if draft.is_best_effort() {
        return Err("durability best_effort".to_owned());
    }
    let (schedule_type, schedule_conf) = schedule(&job.full_schedule(), zone)?;
    let route = word_for(&ROUTES, &draft.route).ok_or_else(|| format!("route {}", draft.route.as_str()))?;
    if !draft.route_labels.is_empty() {
        return Err("route_labels".to_owned());
    }
    let block = word_for(&BLOCKS, &draft.block).unwrap_or("SERIAL_EXECUTION");
    let misfire = word_for(&MISFIRES, &draft.misfire).ok_or_else(|| format!("misfire {}", draft.misfire.as_str()))?;
    let plain = JobDraft::new("", "", "");
    if draft.overlap != plain.overlap {
        return Err(format!("overlap {}", draft.overlap.as_str()));
    }
    if !draft.limits.is_empty() {
        return Err("limits".to_owned());
    }
    let (glue_type, source) = match &draft.script {
        Some(script) => (script.kind.glue_type(), sources.get(&job.id).ok_or("script, without --scripts")?.as_str()),
        None => ("BEAN", ""),
    };
    if draft.pause_after_failures > 0 {
        return Err("pause_after_failures".to_owned());
    }
    if !draft.parts.is_one() {
        return Err("parts".to_owned());
    }
    if draft.params.len() > PARAMS {
        return Err(format!("params of more than {PARAMS} bytes"));
    }
    let mut children = vec![];
    for child in &draft.children {
        let number = numbers.get(child).ok_or_else(|| format!("child {child}, which was not imported from xxl-job"))?;
        children.push(number.to_string());
    }
    let children = children.join(",");
    let name: String = draft.name.chars().take(NAME).collect();
    let owner = if draft.owner.is_empty() { "carillon" } else { &draft.owner };
    let limited = [
        ("schedule", &*schedule_conf, SCHEDULE),
        ("children", &children, CHILDREN),
        ("handler", &draft.handler, HANDLER),
        ("owner", owner, AUTHOR),
    ];
    if let Some((member, _, most)) = limited.iter().find(|(_, text, most)| text.chars().count() > *most) {
        return Err(format!("{member} of more than {most} characters"));
    }
    let remark = if numbers.contains_key(&job.id) { "from Carillon".to_owned() } else { remark(job.id) };
    let text = |text: &str| quoted(text);
    Ok(vec![
        ("job_group", "@app".to_owned()),
        ("job_desc", text(&name)),
        ("add_time", "NOW()".to_owned()),
        ("update_time", "NOW()".to_owned()),
        ("author", text(owner)),
        ("alarm_email", text("")),
        ("schedule_type", text(schedule_type)),
        ("schedule_conf", text(&schedule_conf)),
        ("misfire_strategy", text(misfire)),
        ("executor_route_strategy", text(route)),
        ("executor_handler", text(&draft.handler)),
        ("executor_param", text(&draft.params)),
        ("executor_block_strategy", text(block)),
        ("executor_timeout", draft.timeout_seconds.to_string()),
        ("executor_fail_retry_count", draft.retries.to_string()),
        ("glue_type", text(glue_type)),
        ("glue_source", text(source)),
        ("glue_remark", text(&remark)),
        // Without it every trigger there fails.
        ("glue_updatetime", "NOW()".to_owned()),
        ("child_jobid", text(&children)),
        ("trigger_status", "0".to_owned()),
        ("trigger_last_time", "0".to_owned()),
        ("trigger_next_time", "0".to_owned()),
    ])
}

/// What xxl-job lacks and does without: the members that the job loses. `is_child`: another job starts it.
fn lost(draft: &JobDraft, is_child: bool) -> Vec<&'static str> {
    let has_schedule = draft.schedule.kind != KindDraft::None;
    let clock_changes = match &draft.schedule.kind {
        KindDraft::Cron(cron) | KindDraft::UnixCron(cron) => cron.clock_changes,
        _ => ClockChanges::Xxl,
    };
    let has_own_tag = draft.tags.iter().any(|tag| tag != IMPORTED && tag != RAN);
    // A run with parameters of its own takes no result.
    let takes_result = is_child && draft.takes_result && draft.params.is_empty();
    let members = [
        (clock_changes == ClockChanges::Carillon, "clock_changes carillon"),
        (has_schedule && draft.catch_up == CatchUp::All, "catch_up all"),
        (takes_result, "takes_result true"),
        (draft.flag_after_seconds > 0, "flag_after_seconds"),
        (draft.start_within_seconds > 0, "start_within_seconds"),
        (!draft.description.is_empty(), "description"),
        (draft.script.is_some(), "former versions and the remark of the script"),
        (has_own_tag, "tags"),
        (draft.name.chars().count() > NAME, "name beyond 50 characters"),
    ];
    // The owner is the author there.
    let notes =
        NOTES.iter().filter(|note| note.member != "owner").map(|note| (!note.of(draft).is_empty(), note.member));
    members.into_iter().chain(notes).filter(|(is_lost, _)| *is_lost).map(|(_, member)| member).collect()
}

/// By which a job that was made here is found there again.
fn remark(id: i64) -> String {
    format!("carillon job {id}")
}

/// The job here that a row was made from.
pub(super) fn made_here(remark: &str) -> Option<i64> {
    remark.strip_prefix("carillon job ")?.parse().ok()
}

/// A job that came from there keeps its row; another one is added unless it is there.
fn statement(job: &Job, number: Option<i64>, row: &Row) -> String {
    let columns: Vec<&str> = row.iter().map(|(column, _)| *column).collect();
    let values: Vec<&str> = row.iter().map(|(_, value)| value.as_str()).collect();
    let (columns_text, values_text) = (columns.join(", "), values.join(", "));
    match number {
        Some(number) => {
            // The row keeps the addresses of its alarms, the time of its making, and whether and when it runs.
            let kept = ["add_time", "alarm_email", "trigger_status", "trigger_last_time", "trigger_next_time"];
            let set: Vec<String> = row
                .iter()
                .filter(|(column, _)| !kept.contains(column))
                .map(|(column, value)| format!("{column} = {value}"))
                .collect();
            let set = set.join(", ");
            format!(
                "INSERT INTO xxl_job_info (id, {columns_text})\n  VALUES ({number}, {values_text})\n  ON DUPLICATE KEY UPDATE {set};\n"
            )
        }
        None => format!(
            "-- job {}, which did not come from xxl-job\nINSERT INTO xxl_job_info ({columns_text})\n  SELECT {values_text}\n  FROM DUAL WHERE NOT EXISTS \
             (SELECT 1 FROM xxl_job_info WHERE glue_remark = {});\n",
            job.id,
            quoted(&remark(job.id))
        ),
    }
}

fn schedule(draft: &ScheduleDraft, zone: &str) -> Result<(&'static str, String), String> {
    let has_more = draft.start_at.is_some()
        || draft.end_at.is_some()
        || draft.max_fires.is_some()
        || draft.spread_seconds > 0
        || !draft.calendars.is_empty();
    if has_more {
        return Err("start_at, end_at, max_fires, spread_seconds or calendars of the schedule".to_owned());
    }
    match &draft.kind {
        KindDraft::Cron(cron) | KindDraft::UnixCron(cron) if cron.timezone != zone => {
            Err(format!("time zone {}: all jobs there have {zone}", cron.timezone))
        }
        kind => schedule_words(kind),
    }
}

/// A text as MySQL reads it in any mode: as bytes, without a character that has a meaning. The literal takes the collation of the column
/// that it is compared with.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| !c.is_control() && c != '\'' && c != '\\';
    if text.chars().all(is_plain) {
        return format!("'{text}'");
    }
    let bytes: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    format!("_utf8mb4 X'{bytes}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_can_leave_its_quotes() {
        assert_eq!(quoted("Close 日"), "'Close 日'");
        assert_eq!(quoted("a'; DROP"), "_utf8mb4 X'61273b2044524f50'");
        assert_eq!(quoted("a\\"), "_utf8mb4 X'615c'");
    }
}

//! The way back: jobs as one SQL file for the tables of xxl-job 3.4, which a person reads and runs. Nothing in it starts a job, and no
//! account is touched.

use std::fmt::Write as _;

use carillon_scheduler::{CronDraft, JobDraft, KindDraft, MisfirePolicy, RouteStrategy, ScheduleDraft};
use carillon_store::{App, Job};
use foldhash::HashMap;

use super::jobs::{BLOCKS, ROUTES};

/// The file, and what is not in it: a job by its number here, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    pub sql: String,
    pub jobs: usize,
    pub left_out: Vec<(i64, String)>,
}

/// Characters of a description that the console there lets through.
const NAME: usize = 50;
/// Bytes of parameters there: `text`.
const PARAMS: usize = 65_535;

/// Jobs of these apps. `numbers`: what jobs that were imported have there, by their ids. `zone`: of the JVM there.
pub fn export(apps: &[App], jobs: &[Job], numbers: &HashMap<i64, i64>, zone: &str) -> Exported {
    let mut exported = Exported { sql: HEAD.to_owned(), ..Exported::default() };
    for app in apps {
        let (name, title) = (quoted(&app.name), quoted(if app.title.is_empty() { &app.name } else { &app.title }));
        let _ = writeln!(
            exported.sql,
            "\nINSERT INTO xxl_job_group (app_name, title, address_type, address_list, update_time)\n  SELECT {name}, {title}, 0, NULL, NOW() \
             FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM xxl_job_group WHERE app_name = {name});\n\
             SET @app = (SELECT MIN(id) FROM xxl_job_group WHERE app_name = {name});"
        );
        for job in jobs.iter().filter(|job| job.app_id == app.id) {
            match row(job, numbers, zone) {
                Ok(values) => {
                    exported.jobs += 1;
                    exported.sql.push_str(&statement(job, numbers.get(&job.id).copied(), &values));
                }
                Err(why) => exported.left_out.push((job.id, why)),
            }
        }
    }
    exported.sql.push_str("\nCOMMIT;\n");
    exported
}

const HEAD: &str = "-- Jobs for the tables of xxl-job 3.4. All of them are stopped; start them in its console.\n\
    START TRANSACTION;\n\
    INSERT IGNORE INTO xxl_job_lock (lock_name) VALUES ('schedule_lock');\n";

/// Columns and their values, without the number.
type Row = Vec<(&'static str, String)>;

/// # Errors
/// What xxl-job cannot hold.
fn row(job: &Job, numbers: &HashMap<i64, i64>, zone: &str) -> Result<Row, String> {
    let draft = &job.draft;
    let (schedule_type, schedule_conf) = schedule(&job.full_schedule(), zone)?;
    let word = |words: &[(&'static str, RouteStrategy)]| {
        words.iter().find(|(_, route)| *route == draft.route).map(|(word, _)| *word)
    };
    let route = word(&ROUTES).ok_or_else(|| format!("route {}", draft.route.as_str()))?;
    if !draft.route_labels.is_empty() {
        return Err("route_labels".to_owned());
    }
    let block = BLOCKS.iter().find(|(_, block)| *block == draft.block).map_or("SERIAL_EXECUTION", |(word, _)| *word);
    let misfire = match draft.misfire {
        MisfirePolicy::Skip => "DO_NOTHING",
        MisfirePolicy::FireOnce => "FIRE_ONCE_NOW",
        MisfirePolicy::FireAll | MisfirePolicy::FireWithin => {
            return Err(format!("misfire {}", draft.misfire.as_str()));
        }
    };
    let plain = JobDraft::new("", "", "");
    if draft.overlap != plain.overlap {
        return Err(format!("overlap {}", draft.overlap.as_str()));
    }
    if draft.pause_after_failures > 0 {
        return Err("pause_after_failures".to_owned());
    }
    if draft.params.len() > PARAMS {
        return Err(format!("params of more than {PARAMS} bytes"));
    }
    let mut children = vec![];
    for child in &draft.children {
        let number = numbers.get(child).ok_or_else(|| format!("child {child}, which was not imported from xxl-job"))?;
        children.push(number.to_string());
    }
    let name: String = draft.name.chars().take(NAME).collect();
    let owner = if draft.owner.is_empty() { "carillon" } else { &draft.owner };
    let text = |text: &str| quoted(text);
    Ok(vec![
        ("job_group", "@app".to_owned()),
        ("job_desc", text(&name)),
        ("add_time", "NOW()".to_owned()),
        ("update_time", "NOW()".to_owned()),
        ("author", text(&owner.chars().take(64).collect::<String>())),
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
        ("glue_type", text("BEAN")),
        ("glue_source", text("")),
        ("glue_remark", text("from Carillon")),
        // Without it every trigger there fails.
        ("glue_updatetime", "NOW()".to_owned()),
        ("child_jobid", text(&children.join(","))),
        ("trigger_status", "0".to_owned()),
        ("trigger_last_time", "0".to_owned()),
        ("trigger_next_time", "0".to_owned()),
    ])
}

/// A job that came from there keeps its row; another one is added unless it is there.
fn statement(job: &Job, number: Option<i64>, row: &Row) -> String {
    let columns: Vec<&str> = row.iter().map(|(column, _)| *column).collect();
    let values: Vec<&str> = row.iter().map(|(_, value)| value.as_str()).collect();
    let (columns_text, values_text) = (columns.join(", "), values.join(", "));
    match number {
        Some(number) => {
            // Addresses of its alarms and the time of its making stay as they are there.
            let kept = ["add_time", "alarm_email"];
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
        None => {
            let value =
                |wanted: &str| row.iter().find(|(column, _)| *column == wanted).map_or("''", |(_, value)| value);
            let (name, handler) = (value("job_desc"), value("executor_handler"));
            format!(
                "-- job {}, which did not come from xxl-job\nINSERT INTO xxl_job_info ({columns_text})\n  SELECT {values_text}\n  FROM DUAL WHERE NOT EXISTS \
                 (SELECT 1 FROM xxl_job_info WHERE job_group = @app AND job_desc = {name} AND executor_handler = {handler});\n",
                job.id
            )
        }
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
        KindDraft::None => Ok(("NONE", String::new())),
        KindDraft::FixedRate { seconds } => Ok(("FIX_RATE", seconds.to_string())),
        KindDraft::Cron(cron) if cron.timezone == zone => Ok(("CRON", cron.expression.clone())),
        KindDraft::UnixCron(cron) if cron.timezone == zone => Ok(("CRON", quartz(cron)?)),
        KindDraft::Cron(cron) | KindDraft::UnixCron(cron) => {
            Err(format!("time zone {}: all jobs there have {zone}", cron.timezone))
        }
        other => Err(format!("schedule {}", other.as_str())),
    }
}

/// With a second in front, and `?` in one of the day fields.
fn quartz(cron: &CronDraft) -> Result<String, String> {
    let [minute, hour, day, month, weekday] = cron.expression.split_whitespace().collect::<Vec<_>>()[..] else {
        return Err(format!("unix_cron {}", cron.expression));
    };
    match (day, weekday) {
        (_, "*") => Ok(format!("0 {minute} {hour} {day} {month} ?")),
        ("*", weekday) if weekday.bytes().all(|byte| byte.is_ascii_digit() || b",-".contains(&byte)) => {
            // Sunday is 0 or 7 here, 1 there.
            let shifted = |c: char| c.to_digit(10).map_or(c.to_string(), |day| (day % 7 + 1).to_string());
            let weekday: String = weekday.chars().map(shifted).collect();
            Ok(format!("0 {minute} {hour} ? {month} {weekday}"))
        }
        ("*", weekday) if weekday.bytes().all(|byte| byte.is_ascii_alphabetic() || b",-".contains(&byte)) => {
            Ok(format!("0 {minute} {hour} ? {month} {weekday}"))
        }
        _ => Err(format!("unix_cron {}", cron.expression)),
    }
}

/// A text as MySQL reads it in any mode: as bytes, without a character that has a meaning.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| !c.is_control() && c != '\'' && c != '\\';
    if text.chars().all(is_plain) {
        return format!("'{text}'");
    }
    let bytes: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    format!("CONVERT(X'{bytes}' USING utf8mb4)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unix_expression_with_one_day_field_becomes_one_of_quartz() {
        let of = |expression: &str| quartz(&CronDraft::new(expression, "UTC"));
        assert_eq!(of("30 4 * * 1-5").as_deref(), Ok("0 30 4 ? * 2-6"));
        assert_eq!(of("30 4 * * 0,6").as_deref(), Ok("0 30 4 ? * 1,7"));
        assert_eq!(of("30 4 * * MON-FRI").as_deref(), Ok("0 30 4 ? * MON-FRI"));
        assert_eq!(of("*/5 * 1 * *").as_deref(), Ok("0 */5 * 1 * ?"));
        assert!(of("0 0 1 * 1").is_err());
        assert!(of("0 0 * * */2").is_err());
    }

    #[test]
    fn no_text_can_leave_its_quotes() {
        assert_eq!(quoted("Close 日"), "'Close 日'");
        assert_eq!(quoted("a'; DROP"), "CONVERT(X'61273b2044524f50' USING utf8mb4)");
        assert_eq!(quoted("a\\"), "CONVERT(X'615c' USING utf8mb4)");
    }
}

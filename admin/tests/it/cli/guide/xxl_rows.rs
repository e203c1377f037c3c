//! The database of xxl-job 3.4 that `admin/docs/xxl-job.md` shows.

use carillon_import::xxl_job::Shape;
use carillon_scheduler::{Clock as _, SystemClock};

use crate::moving::tables::XxlJob;

const HOUR: i64 = 3_600_000;

/// The next instant of `0 0 12 ? * MON` in Shanghai, eight hours ahead of UTC.
fn next_monday_noon(now: i64) -> i64 {
    let day = 24 * HOUR;
    // 1970-01-01 was a Thursday.
    let is_monday = |instant: &i64| (instant / day + 3) % 7 == 0;
    (0..9).map(|days| (now / day + days) * day + 4 * HOUR).find(|it| *it > now && is_monday(it)).unwrap()
}

pub async fn xxl_job() -> XxlJob {
    let xxl = XxlJob::new(Shape::V34).await;
    let now = SystemClock::new().now();
    let next_hour = (now / HOUR * HOUR + HOUR).to_string();
    let monday = next_monday_noon(now).to_string();
    let hourly = [("schedule_conf", "'0 0 * * * ?'"), ("trigger_next_time", next_hour.as_str())];
    let rate = [("schedule_type", "'FIX_RATE'"), ("schedule_conf", "'60'")];
    let stopped = [("trigger_status", "0"), ("trigger_next_time", "0")];
    let of_billing = [("job_group", "2")];
    let mondays = [("schedule_conf", "'0 0 12 ? * MON/2'"), ("trigger_next_time", monday.as_str())];
    let script = [("name", "'Clean up'"), ("glue_type", "'GLUE_SHELL'"), ("executor_handler", "''")];
    xxl.group(1, "shop", "").await;
    xxl.group(2, "billing", "").await;
    xxl.job(10, &hourly).await;
    xxl.job(11, &hourly).await;
    xxl.job(12, &[&rate[..], &[("trigger_next_time", next_hour.as_str())]].concat()).await;
    xxl.job(19, &[&hourly[..], &of_billing].concat()).await;
    xxl.job(20, &[&mondays[..], &of_billing].concat()).await;
    xxl.job(21, &[&script[..], &hourly, &stopped, &of_billing].concat()).await;
    for (app, address) in
        [("shop", "http://10.0.0.1:9999/"), ("billing", "http://10.0.0.2:9999/"), ("billing", "http://10.0.0.3:9999/")]
    {
        xxl.sql(&format!(
            "INSERT INTO xxl_job_registry (registry_group, registry_key, registry_value, update_time) VALUES ('EXECUTOR', '{app}', '{address}', NOW())"
        ))
        .await;
    }
    for (name, role) in [("root", 1), ("bob", 0)] {
        xxl.sql(&format!("INSERT INTO xxl_job_user (username, password, role) VALUES ('{name}', '-', {role})")).await;
    }
    xxl
}

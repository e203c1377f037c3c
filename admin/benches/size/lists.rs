//! How long the lists of the API take.

use std::time::Instant;

use carillon_scheduler::{Clock as _, SystemClock};
use carillon_testkit::ApiClient;
use chrono::{DateTime, SecondsFormat};

const ROUNDS: usize = 5;
const SHOWN: usize = 5;

/// Prints the slowest ones, by the median of their rounds.
pub async fn measure(api: &ApiClient) {
    let now = SystemClock::new().now();
    let ago = |hours: i64| {
        let at = DateTime::from_timestamp_millis(now - hours * 3_600_000).unwrap();
        at.to_rfc3339_opts(SecondsFormat::Secs, true)
    };
    let day = format!("from={}&to={}", ago(240), ago(216));
    let paths = [
        "jobs?limit=1000".to_owned(),
        "jobs?text=4711".to_owned(),
        "jobs?text=no+such+name".to_owned(),
        "jobs?app=bench&after=1000100".to_owned(),
        "jobs?enabled=false".to_owned(),
        "jobs?kind=once".to_owned(),
        "runs?limit=1000".to_owned(),
        "runs?job_id=1000007".to_owned(),
        "runs?job_id=7".to_owned(),
        "runs?app=bench&state=failed".to_owned(),
        "runs?state=lost,killed".to_owned(),
        "runs?state=claimed".to_owned(),
        "runs?cause=api".to_owned(),
        format!("runs?{day}"),
        format!("runs?job_id=1000007&{day}"),
        format!("misfires?{day}"),
        "alarms?open=true".to_owned(),
    ];
    let mut times = vec![];
    for path in paths {
        let mut rounds = vec![];
        for _ in 0..ROUNDS {
            let begun = Instant::now();
            api.get(&path).await.ok();
            rounds.push(begun.elapsed().as_secs_f64() * 1000.0);
        }
        rounds.sort_by(f64::total_cmp);
        times.push((rounds[ROUNDS / 2], path));
    }
    times.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (time, path) in &times[..SHOWN] {
        println!("list                   {time:.1} ms: {path}");
    }
}

//! HTTP jobs: requests to services of the suite. No executor takes part; each request is in the books as an executor's are.

use serde_json::{Value, json};

use super::APP;
use super::jobs::Planned;
use crate::cluster::services::Services;

/// Jobs whose requests are answered.
pub const ANSWERED: usize = 8;
const FAILING: usize = 2;
const CUT: usize = 2;

/// Most are answered with 200, some with 500, and of some the connection ends without an answer.
pub fn http(services: &Services, misfire_seconds: i64) -> Vec<Planned> {
    let job = |group: &'static str, number: usize, seconds: i64, url: String, retries: i64| Planned {
        group,
        draft: json!({
            "app": APP, "name": format!("{group} {number}"), "http": request(&url), "retries": retries,
            "schedule": {"kind": "fixed_rate", "seconds": seconds}, "misfire_threshold_seconds": misfire_seconds,
        }),
    };
    let retries = |number: usize| if number.is_multiple_of(2) { 0 } else { 2 };
    let answered = (0..ANSWERED).map(|number| job("http", number, 2, services.answered(number), retries(number)));
    let failing = (0..FAILING).map(|number| job("http_failing", number, 5, services.failing(), retries(number)));
    // Each of their runs is unknown: a retry would double what may have been done.
    let cut = (0..CUT).map(|number| job("http_cut", number, 10, services.cut(), 0));
    answered.chain(failing).chain(cut).collect()
}

/// Short: the run of a killed node is unknown only when no answer can come any more.
fn request(url: &str) -> Value {
    json!({"method": "POST", "url": url, "body": "{\"run\": {{run_id}}}", "timeout_seconds": 2})
}

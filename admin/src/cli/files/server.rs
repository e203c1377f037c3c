//! All apps, limits and jobs of a server that the token may see.

use carillon_files::live::{Live, LiveApp, LiveJob, LiveLimit};
use serde_json::{Value, json};

use super::client::Client;

/// # Errors
/// The server does not answer, or has members that this program does not know.
pub async fn read(client: &Client) -> anyhow::Result<Live> {
    let mut apps = client.get("/apps").await?;
    let apps: Vec<LiveApp> = serde_json::from_value(apps["items"].take())?;
    let jobs = client.list("/jobs").await?;
    let jobs: Result<Vec<LiveJob>, _> = jobs.into_iter().filter_map(members).map(LiveJob::from_answer).collect();
    // An earlier server has none.
    let mut limits = match client.get("/limits").await {
        Err(error) if error.is_missing() => json!({"items": []}),
        limits => limits?,
    };
    let limits: Vec<Value> = serde_json::from_value(limits["items"].take())?;
    let limits: Result<Vec<LiveLimit>, _> =
        limits.into_iter().filter_map(members).map(LiveLimit::from_answer).collect();
    Ok(Live::new(apps, jobs?).with_limits(limits?))
}

fn members(value: Value) -> Option<serde_json::Map<String, Value>> {
    match value {
        Value::Object(members) => Some(members),
        _ => None,
    }
}

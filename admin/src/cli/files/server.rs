//! All apps and jobs of a server that the token may see.

use carillon_files::live::{Live, LiveApp, LiveJob};
use serde_json::Value;

use super::client::Client;

/// # Errors
/// The server does not answer, or has members that this program does not know.
pub async fn read(client: &Client) -> anyhow::Result<Live> {
    let mut apps = client.get("/apps").await?;
    let apps: Vec<LiveApp> = serde_json::from_value(apps["items"].take())?;
    let jobs = client.list("/jobs").await?;
    let jobs: Result<Vec<LiveJob>, _> = jobs.into_iter().filter_map(members).map(LiveJob::from_answer).collect();
    Ok(Live::new(apps, jobs?))
}

fn members(value: Value) -> Option<serde_json::Map<String, Value>> {
    match value {
        Value::Object(members) => Some(members),
        _ => None,
    }
}

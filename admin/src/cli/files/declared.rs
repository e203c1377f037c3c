//! The differences between declared jobs and their programs, as the server finds them.

use std::process::ExitCode;

use anyhow::bail;
use serde_json::{Value, json};

use super::client::Client;
use super::report::{CHANGES, Output};

/// Prints the declared jobs that are not as their code says.
///
/// # Errors
/// The server does not answer, or has no such app.
pub async fn drift(client: &Client, app: Option<&str>, output: Output) -> anyhow::Result<ExitCode> {
    let apps = client.get("/apps").await?;
    let wanted = |it: &&Value| app.is_none_or(|name| it["name"] == name);
    let apps: Vec<&Value> = apps["items"].as_array().into_iter().flatten().filter(wanted).collect();
    if let (Some(name), true) = (app, apps.is_empty()) {
        bail!("there is no app {name}");
    }
    let (mut found, mut refused, mut same) = (vec![], vec![], 0);
    for app in apps {
        let declared = client.get(&format!("/apps/{}/declarations", app["id"])).await?;
        let live = declared["live"].as_array().cloned().unwrap_or_default();
        let faulty = live.into_iter().filter(|build| !text(&build["problem"]).is_empty());
        refused.extend(faulty.map(|build| (text(&app["name"]).to_owned(), build)));
        let jobs = declared["jobs"].as_array().cloned().unwrap_or_default();
        let (applied, others): (Vec<Value>, Vec<Value>) = jobs.into_iter().partition(|job| job["state"] == "applied");
        same += applied.len();
        found.extend(others.into_iter().map(|job| (text(&app["name"]).to_owned(), job)));
    }
    match output {
        Output::Text => {
            for (app, build) in &refused {
                println!(
                    "! {app}: the declaration of {} is refused: {}",
                    text(&build["build"]),
                    text(&build["problem"])
                );
            }
            found.iter().for_each(|(app, job)| print_job(app, job));
            println!("= {same} declared {} without a difference", if same == 1 { "job" } else { "jobs" });
        }
        Output::Json => {
            let jobs: Vec<Value> = found.iter().map(|(app, job)| json!({"app": app, "job": job})).collect();
            let refused: Vec<Value> =
                refused.iter().map(|(app, build)| json!({"app": app, "declaration": build})).collect();
            println!("{}", json!({"jobs": jobs, "refused": refused, "without_difference": same}));
        }
    }
    Ok(if found.is_empty() && refused.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(CHANGES) })
}

fn print_job(app: &str, job: &Value) {
    let (key, state, build, since) = (text(&job["key"]), text(&job["state"]), text(&job["build"]), text(&job["since"]));
    println!("! {app}/{key}: {state} since {since}, declared by {build} at {}", text(&job["place"]));
    if !text(&job["problem"]).is_empty() {
        println!("    {}", text(&job["problem"]));
    }
    for difference in job["differences"].as_array().into_iter().flatten() {
        println!("    {}: code {}, here {}", text(&difference["member"]), difference["code"], difference["here"]);
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

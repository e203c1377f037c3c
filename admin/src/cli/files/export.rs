//! `carillon export`: the jobs of a server as files.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use carillon_files::export::{ExportOptions, Problem, export, new_keys};
use carillon_files::live::{Live, LiveJob};
use clap::Args;
use reqwest::Method;
use serde_json::json;

use super::client::{Client, ServerArgs};
use super::server;

#[derive(Args)]
pub struct ExportArgs {
    /// Only jobs of this app; may be repeated
    #[arg(long, value_name = "APP")]
    app: Vec<String>,
    /// Only jobs of this set
    #[arg(long, value_name = "SET")]
    only_set: Option<String>,
    /// The name of the set in the files; without it: the set of the jobs, or `main`
    #[arg(long, value_name = "SET")]
    set: Option<String>,
    /// Folder for one file an app; without it, a single app is printed
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
    /// Give jobs without a key one that is made from their name, on the server
    #[arg(long)]
    add_keys: bool,
    /// Parameters may hold secrets: `redacted` leaves them out, and apply then refuses the file
    #[arg(long, value_name = "HOW", default_value = "keep", value_parser = ["keep", "redacted"])]
    params: String,
    /// Write what is left of `max_fires`, for an installation that has run none of them
    #[arg(long)]
    for_another_server: bool,
    #[command(flatten)]
    server: ServerArgs,
}

pub async fn run(args: ExportArgs) -> anyhow::Result<()> {
    let client = Client::new(&args.server)?;
    let mut live = server::read(&client).await?;
    let options = ExportOptions {
        set: args.set.clone(),
        apps: args.app.clone(),
        only_set: args.only_set.clone(),
        redacts_params: args.params == "redacted",
        for_another_server: args.for_another_server,
    };
    if let Some(app) = args.app.iter().find(|app| live.app(app).is_none()) {
        bail!("there is no app {app} that this token may see");
    }
    if args.add_keys {
        add_keys(&client, &live, &options).await?;
        live = server::read(&client).await?;
    }
    read_scripts(&client, &mut live, &options).await?;
    let files = export(&live, &options).map_err(|problems| refused(&problems))?;
    match (&args.to, &files[..]) {
        (_, []) => bail!("there are no such jobs"),
        (Some(folder), files) => {
            fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
            for file in files {
                let path = folder.join(format!("{}.yaml", file.app));
                fs::write(&path, &file.text).with_context(|| format!("cannot write {}", path.display()))?;
                println!("{}", path.display());
            }
        }
        (None, [file]) => print!("{}", file.text),
        (None, files) => {
            let apps: Vec<&str> = files.iter().map(|file| &*file.app).collect();
            bail!("these are several apps: {}; add --to DIR, or choose one with --app", apps.join(", "));
        }
    }
    Ok(())
}

/// Keys for the jobs that are written, and for those that they start.
async fn add_keys(client: &Client, live: &Live, options: &ExportOptions) -> anyhow::Result<()> {
    let written = live.jobs().filter(|job| options.includes(job));
    let started: BTreeSet<i64> = written.flat_map(LiveJob::started_ids).collect();
    let is_wanted = |job: &LiveJob| options.includes(job) || started.contains(&job.id);
    for (id, key) in new_keys(live, is_wanted) {
        let Some(job) = live.by_id(id) else { continue };
        let mut body = json!(job.draft);
        body["key"] = key.as_str().into();
        body["revision"] = job.revision.into();
        let said = || format!("the key {key} for job {id}");
        client.send(Method::PUT, &format!("/jobs/{id}"), Some(&body)).await.with_context(said)?;
        eprintln!("job {id} has the key {key}: {}", job.draft.name);
    }
    Ok(())
}

/// The sources of the scripts that are written, as far as the token may read them.
async fn read_scripts(client: &Client, live: &mut Live, options: &ExportOptions) -> anyhow::Result<()> {
    for job in live.jobs_mut().filter(|job| options.includes(job)) {
        let Some(script) = &mut job.draft.script else { continue };
        let Some(version) = script.version else { continue };
        match client.get(&format!("/jobs/{}/scripts/{version}", job.id)).await {
            Ok(answer) => script.source = answer["source"].as_str().map(str::to_owned),
            Err(error) if error.is_denied() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Jobs without a key have a heading of their own, as there is a way out.
fn refused(problems: &[Problem]) -> anyhow::Error {
    let (scripts, keys): (Vec<_>, Vec<_>) = problems.iter().partition(|it| matches!(it, Problem::Script(_)));
    let parts = [
        ("a file names jobs by their keys; --add-keys gives those without one a key that is made from the name", keys),
        ("a file has the sources of scripts, and reading them is a right of its own", scripts),
    ];
    let parts = parts.iter().filter(|(_, list)| !list.is_empty()).map(|(heading, list)| {
        let lines: String = list.iter().map(|problem| format!("\n  {problem}")).collect();
        format!("{heading}:{lines}")
    });
    anyhow::anyhow!("{}", parts.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_on_keys_heads_only_jobs_that_lack_one() {
        let script = || Problem::Script("billing/clean-up".to_owned());
        let unnamed = || Problem::NoKey { id: 7, app: "billing".to_owned(), name: "Close".to_owned() };
        let text = refused(&[script()]).to_string();
        assert!(text.starts_with("a file has the sources of scripts") && !text.contains("--add-keys"), "{text}");
        let text = refused(&[script(), unnamed()]).to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].contains("--add-keys") && lines[1].contains("job 7"), "{text}");
        assert!(lines[2].contains("a right of its own") && lines[3].contains("billing/clean-up"), "{text}");
    }
}

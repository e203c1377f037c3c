//! A plan is carried out: apps, limits, new jobs after those that they start, changed jobs, deletions. What is done stays done if a later step fails;
//! a second apply does the rest.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};
use carillon_files::document::JobRef;
use carillon_files::live::{Live, LiveJob};
use carillon_files::plan::{AppChange, JobChange, LimitChange, Plan, levels};
use reqwest::Method;
use serde_json::{Value, json};

use super::client::{Client, RequestError};
use super::report;

/// Jobs of one batch.
const BATCH: usize = 1000;
/// Bytes of one batch; the API takes twice as many.
const BATCH_BYTES: usize = 8 * 1024 * 1024;

pub struct Writer<'a> {
    client: &'a Client,
    /// Of the jobs of the server, and of those that were created.
    ids: BTreeMap<JobRef, i64>,
    /// Changes that are done.
    pub done: usize,
}

impl<'a> Writer<'a> {
    pub fn new(client: &'a Client, live: &Live) -> Self {
        let id = |job: &LiveJob| Some((job.reference()?, job.id));
        Self { client, ids: live.jobs().filter_map(id).collect(), done: 0 }
    }

    /// # Errors
    /// The first change that was refused.
    pub async fn write(&mut self, plan: &Plan) -> anyhow::Result<()> {
        for app in &plan.apps {
            self.write_app(app).await?;
        }
        for limit in &plan.limits {
            self.write_limit(limit).await?;
        }
        self.create(&plan.creates).await?;
        for job in &plan.updates {
            self.update(job).await?;
        }
        for job in &plan.deletes {
            self.delete(job).await?;
        }
        Ok(())
    }

    fn is_done(&mut self, sign: char, what: &str) {
        self.done += 1;
        println!("{sign} {what}");
    }

    async fn write_app(&mut self, app: &AppChange) -> anyhow::Result<()> {
        let mut body = json!({"name": app.name});
        if let Some(title) = &app.title {
            body["title"] = title.as_str().into();
        }
        let (method, path, sign) = match app.id {
            Some(id) => (Method::PUT, format!("/apps/{id}"), '~'),
            None => (Method::POST, "/apps".to_owned(), '+'),
        };
        self.client.send(method, &path, Some(&body)).await.with_context(|| format!("app {}", app.name))?;
        self.is_done(sign, &format!("app {}", app.name));
        Ok(())
    }

    async fn write_limit(&mut self, limit: &LimitChange) -> anyhow::Result<()> {
        let (entry, mut body) = (&limit.entry, json!(limit.entry.draft));
        let (method, path, sign) = match limit.before {
            Some((id, version)) => {
                body["version"] = version.into();
                (Method::PUT, format!("/limits/{id}"), '~')
            }
            None => (Method::POST, "/limits".to_owned(), '+'),
        };
        let sent = self.client.send(method, &path, Some(&body)).await;
        sent.map_err(|error| {
            let faults = error.faults().iter().map(|(member, message)| entry.fault(member, message));
            match faults.collect::<Vec<_>>() {
                faults if faults.is_empty() => anyhow::Error::from(error).context(entry.reference().to_string()),
                faults => report::refused(&faults),
            }
        })?;
        self.is_done(sign, &entry.reference().to_string());
        Ok(())
    }

    async fn create(&mut self, jobs: &[JobChange]) -> anyhow::Result<()> {
        let by_reference: BTreeMap<&JobRef, &JobChange> = jobs.iter().map(|job| (&job.reference, job)).collect();
        let graph = jobs.iter().map(|job| (job.reference.clone(), job.starts())).collect();
        // The plan has no circles.
        for level in levels(&graph).unwrap_or_default() {
            let mut batch: Vec<(&JobChange, Value)> = vec![];
            let mut bytes = 0;
            for job in level.iter().filter_map(|reference| by_reference.get(reference).copied()) {
                let body = self.body(job)?;
                let size = body.to_string().len();
                if batch.len() == BATCH || !batch.is_empty() && bytes + size > BATCH_BYTES {
                    self.create_batch(std::mem::take(&mut batch)).await?;
                    bytes = 0;
                }
                bytes += size;
                batch.push((job, body));
            }
            self.create_batch(batch).await?;
        }
        Ok(())
    }

    /// A key that was taken meanwhile is refused: keys are unique, so a request that is sent twice creates nothing twice.
    async fn create_batch(&mut self, batch: Vec<(&JobChange, Value)>) -> anyhow::Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let (jobs, bodies): (Vec<&JobChange>, Vec<Value>) = batch.into_iter().unzip();
        let created = self.client.send(Method::POST, "/jobs:batch", Some(&bodies.into())).await;
        let created = created.map_err(|error| refused_batch(&jobs, error))?;
        let items = created["items"].as_array().cloned().unwrap_or_default();
        for (job, item) in jobs.iter().zip(items) {
            let id = item["id"].as_i64().context("the server answers a job without an id")?;
            self.ids.insert(job.reference.clone(), id);
            self.is_done('+', &format!("{}: {}", job.reference, job.name));
        }
        Ok(())
    }

    async fn update(&mut self, job: &JobChange) -> anyhow::Result<()> {
        let (id, revision) = job.before.context("a changed job has an id")?;
        let mut body = self.body(job)?;
        body["revision"] = revision.into();
        let sent = self.client.send(Method::PUT, &format!("/jobs/{id}"), Some(&body)).await;
        sent.map_err(|error| refused(job, error))?;
        self.ids.insert(job.reference.clone(), id);
        self.is_done('~', &format!("{}: {}", job.reference, job.name));
        Ok(())
    }

    /// The API deletes any revision, so the revision is compared just before.
    async fn delete(&mut self, job: &JobChange) -> anyhow::Result<()> {
        let (id, revision) = job.before.context("a deleted job has an id")?;
        let path = format!("/jobs/{id}");
        let now = self.client.get(&path).await.map_err(|error| refused(job, error))?;
        if now["revision"] != revision {
            bail!("{}: changed since the plan", job.reference);
        }
        self.client.send(Method::DELETE, &path, None).await.map_err(|error| refused(job, error))?;
        self.is_done('-', &format!("{}: {}", job.reference, job.name));
        Ok(())
    }

    /// With the ids of its children. The server finds the jobs of nodes by their keys.
    fn body(&self, job: &JobChange) -> anyhow::Result<Value> {
        let mut body = job.body.clone().context("a job that is written has a body")?;
        let id = |child: &JobRef| {
            self.ids.get(child).copied().with_context(|| format!("{}: there is no job {child}", job.reference))
        };
        let children: Vec<i64> = job.children.iter().map(id).collect::<anyhow::Result<_>>()?;
        body.insert("children".to_owned(), children.into());
        Ok(body.into())
    }
}

fn refused(job: &JobChange, error: RequestError) -> anyhow::Error {
    if error.is_conflict() {
        return anyhow::anyhow!("{}: changed since the plan: {error}", job.reference);
    }
    let faults: Vec<_> = error.faults().iter().filter_map(|(member, message)| job.fault(member, message)).collect();
    match faults.is_empty() {
        true => anyhow::Error::from(error).context(job.reference.to_string()),
        false => report::refused(&faults),
    }
}

/// The fields of a batch are named as `[3].schedule.seconds`.
fn refused_batch(jobs: &[&JobChange], error: RequestError) -> anyhow::Error {
    let fault = |(field, message): &(String, String)| {
        let (index, member) = match field.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((index, member)) => (index.parse().ok()?, member.trim_start_matches('.')),
            // A batch of one job.
            None => (0, &field[..]),
        };
        let job: &&JobChange = jobs.get::<usize>(index)?;
        job.fault(member, message)
    };
    let faults: Vec<_> = error.faults().iter().filter_map(fault).collect();
    if faults.is_empty() {
        return anyhow::Error::from(error).context("new jobs were refused");
    }
    report::refused(&faults)
}

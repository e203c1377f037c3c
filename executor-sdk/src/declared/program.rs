//! All jobs that the program of an executor declares.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use carillon_protocol::{self as protocol, DeclarePolicy, DeclaredJob, MAX_DECLARATION_BYTES};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::attribute::DeclaredFunction;
use super::declaration::Declaration;
use super::registered_job::RegisteredJob;
use super::workflow::Workflow;
use crate::error::Error;

/// The declared jobs of a program, as an admin gets them.
#[derive(Default)]
pub(crate) struct DeclaredProgram {
    pub(crate) jobs: Vec<DeclaredJob>,
    pub(crate) build: String,
    /// Body of `POST /api/declare`.
    pub(crate) body: Vec<u8>,
    /// The SHA-256 of the body; None: nothing is declared.
    pub(crate) digest: Option<String>,
}

impl DeclaredProgram {
    /// A developer sees here whether all modules are linked.
    pub(crate) fn log(&self) {
        if !self.jobs.is_empty() {
            let files: BTreeSet<&String> = self.jobs.iter().map(|job| &job.file).collect();
            let (count, files) = (self.jobs.len(), files.len());
            tracing::info!(job.count = count, build.name = self.build, "the program declares jobs, in {files} files");
        }
    }
}

/// What the builder says about declared jobs.
#[derive(Default)]
pub(crate) struct DeclaredSettings {
    pub(crate) jobs: Vec<(Declaration, RegisteredJob)>,
    pub(crate) workflows: Vec<Workflow>,
    pub(crate) policy: DeclarePolicy,
    pub(crate) version: Option<String>,
}

/// The handlers of declared jobs by name.
#[derive(Default)]
pub(crate) struct Handlers {
    pub(crate) own: Vec<(String, RegisteredJob)>,
    /// Under the keys that their jobs had before: admins send runs with these names until they know the new ones.
    pub(crate) former: Vec<(String, RegisteredJob)>,
}

struct Collected {
    declaration: Declaration,
    handler: Option<RegisteredJob>,
    /// Keys of the jobs of its nodes.
    nodes: Vec<String>,
}

/// Brings the declared jobs of the program and of the builder together.
///
/// # Errors
/// A job that is declared twice or wrongly, one that is `after` a job that is not there, a circle.
pub(crate) fn collect(app: &str, settings: DeclaredSettings) -> Result<(DeclaredProgram, Handlers), Error> {
    let mut collector = Collector::default();
    for function in inventory::iter::<DeclaredFunction> {
        if function.app.is_none_or(|of| of == app) {
            collector.packages.insert(format!("{} {}", function.package, function.version));
            let handler = RegisteredJob::Handler(Arc::new(function.run));
            collector.add((function.declaration)(), Some(handler), vec![])?;
        }
    }
    for (declaration, handler) in settings.jobs {
        collector.add(declaration, Some(handler), vec![])?;
    }
    for workflow in settings.workflows {
        let nodes = workflow.jobs().map(str::to_owned).collect();
        collector.add(workflow.checked().map_err(wrong)?, None, nodes)?;
    }
    let Collector { mut jobs, packages } = collector;
    check_starts(&jobs).map_err(wrong)?;
    link_children(&mut jobs);
    let build = settings.version.unwrap_or_else(|| packages.into_iter().collect::<Vec<_>>().join(", "));
    let handlers = handlers(&jobs);
    let jobs = jobs.into_values().map(|job| job.declaration.job).collect();
    Ok((program(protocol::Declaration { build, policy: settings.policy, jobs })?, handlers))
}

fn wrong(problem: String) -> Error {
    Error::setting("job", problem)
}

#[derive(Default)]
struct Collector {
    jobs: BTreeMap<String, Collected>,
    /// Of the functions.
    packages: BTreeSet<String>,
}

impl Collector {
    fn add(
        &mut self,
        declaration: Declaration,
        handler: Option<RegisteredJob>,
        nodes: Vec<String>,
    ) -> Result<(), Error> {
        let declaration = declaration.checked().map_err(wrong)?;
        let (key, place) = (declaration.job.key.clone(), declaration.place());
        match self.jobs.insert(key.clone(), Collected { declaration, handler, nodes }) {
            None => Ok(()),
            Some(first) => {
                // The order in which functions are found is that of the linker.
                let mut places = [first.declaration.place(), place];
                places.sort_unstable();
                Err(wrong(format!("\"{key}\" is declared twice: {}", places.join(" and "))))
            }
        }
    }
}

fn handlers(jobs: &BTreeMap<String, Collected>) -> Handlers {
    let mut handlers = Handlers::default();
    for job in jobs.values() {
        let Some(handler) = &job.handler else { continue };
        handlers.own.push((job.declaration.handler_name().to_owned(), handler.clone()));
        handlers.former.extend(job.declaration.job.was.clone().map(|was| (was, handler.clone())));
    }
    handlers
}

fn program(declaration: protocol::Declaration) -> Result<DeclaredProgram, Error> {
    if declaration.jobs.is_empty() {
        return Ok(DeclaredProgram::default());
    }
    // Texts, numbers and lists cannot fail to serialize.
    let body = serde_json::to_vec(&declaration).unwrap_or_default();
    if body.len() > MAX_DECLARATION_BYTES {
        let bytes = body.len();
        return Err(wrong(format!(
            "the declared jobs take {bytes} bytes; at most {MAX_DECLARATION_BYTES} are allowed"
        )));
    }
    let digest = Sha256::digest(&body).iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(DeclaredProgram { jobs: declaration.jobs, build: declaration.build, body, digest: Some(digest) })
}

/// Each job that another one follows is declared, and none starts itself.
fn check_starts(jobs: &BTreeMap<String, Collected>) -> Result<(), String> {
    let mut starts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (key, job) in jobs {
        if let Some(after) = &job.declaration.after {
            if !jobs.contains_key(after) {
                let place = job.declaration.place();
                return Err(format!("\"{key}\" ({place}) is after \"{after}\", which this program does not declare"));
            }
            starts.entry(after).or_default().push(key);
        }
        starts.entry(key).or_default().extend(job.nodes.iter().map(String::as_str));
    }
    match circle(&starts) {
        None => Ok(()),
        Some(circle) => Err(format!("these jobs start each other in a circle: {}", circle.join(" → "))),
    }
}

/// A way from a job back to itself.
fn circle<'a>(starts: &BTreeMap<&'a str, Vec<&'a str>>) -> Option<Vec<&'a str>> {
    let mut done: BTreeSet<&str> = BTreeSet::new();
    for first in starts.keys() {
        // The way to the current job, and for each job on it the next one to follow.
        let mut way: Vec<(&str, usize)> = vec![(first, 0)];
        while let Some((job, next)) = way.last_mut() {
            let following = starts.get(job).and_then(|jobs| jobs.get(*next)).copied();
            *next += 1;
            match following {
                None => {
                    done.insert(job);
                    way.pop();
                }
                Some(job) if done.contains(job) => {}
                Some(job) => {
                    if let Some(from) = way.iter().position(|(known, _)| *known == job) {
                        return Some(way[from..].iter().map(|(job, _)| *job).chain([job]).collect());
                    }
                    way.push((job, 0));
                }
            }
        }
    }
    None
}

/// The member `children` of each job that others are after.
fn link_children(jobs: &mut BTreeMap<String, Collected>) {
    let mut children: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for (key, job) in jobs.iter() {
        if let Some(after) = &job.declaration.after {
            children.entry(after.clone()).or_default().push(key.as_str().into());
        }
    }
    for (parent, children) in children {
        if let Some(job) = jobs.get_mut(&parent) {
            job.declaration.job.members.insert("children".to_owned(), children.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::circle;

    #[test]
    fn a_circle_is_found_behind_a_diamond() {
        let diamond = BTreeMap::from([("a", vec!["b", "c"]), ("b", vec!["d"]), ("c", vec!["d"]), ("d", vec![])]);
        assert_eq!(circle(&diamond), None);
        let ring = BTreeMap::from([("a", vec!["b"]), ("b", vec!["x", "c"]), ("c", vec!["b"])]);
        assert_eq!(circle(&ring), Some(vec!["b", "c", "b"]));
        assert_eq!(circle(&BTreeMap::from([("a", vec!["a"])])), Some(vec!["a", "a"]));
    }
}

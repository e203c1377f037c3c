//! From CronJobs of Kubernetes to jobs. Carillon starts no pods: a handler of an executor gets the image and the command of the
//! first container as parameters.

mod job;
#[cfg(test)]
mod job_tests;
mod objects;
mod schedule;

pub use job::KubernetesOptions;

use crate::definitions::Definitions;

/// A file that `kubectl apply` takes or `kubectl get` writes, as YAML or JSON.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// As remarks name it.
    pub name: String,
    pub text: String,
}

/// What differs for all of them.
const OF_ALL: [&str; 3] = [
    "the jobs are paused: suspend the CronJob, then write `enabled: true` and apply",
    "Carillon starts no pods: the handler gets the image and the command of the first container; the environment is left out, as it may hold secrets",
    "the history limits of a CronJob have no counterpart: runs are kept as the server is set",
];

/// What the CronJobs of the files become.
///
/// # Errors
/// The files that cannot be read, each with the line.
pub fn definitions(files: &[Manifest], options: &KubernetesOptions<'_>) -> Result<Definitions, Vec<String>> {
    let (mut done, mut faults) = (Definitions::default(), vec![]);
    for file in files {
        match objects::cron_jobs(&file.text) {
            Ok(found) => {
                found.iter().for_each(|object| job::add(&mut done, object, options));
                if found.is_empty() {
                    done.remark(&file.name, "it has no CronJob");
                }
            }
            Err(fault) => faults.push(format!("{}:{}: {}", file.name, fault.line, fault.message)),
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    if !done.jobs.is_empty() {
        OF_ALL.into_iter().for_each(|text| done.remark("", text));
    }
    Ok(done)
}

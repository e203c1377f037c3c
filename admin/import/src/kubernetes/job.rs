//! One CronJob.

use carillon_files::yaml::Node;
use carillon_scheduler::job::limits;
use carillon_scheduler::{JobDraft, KindDraft, Millis, MisfirePolicy, Overlap, RetryDelay};
use serde_json::{Value, json};

use super::objects::{at, text_at};
use super::schedule::{is_without_changes, schedule};
use crate::definitions::Definitions;

/// What a CronJob does not say.
#[derive(Clone, Debug)]
pub struct KubernetesOptions<'o> {
    pub app: &'o str,
    /// That of the controller, for a CronJob without one.
    pub zone: &'o str,
    /// It gets image, command and arguments as parameters.
    pub handler: &'o str,
    pub now: Millis,
}

/// The tag of the jobs.
const TAG: &str = "from-kubernetes";
/// Of a pod that failed, as Kubernetes delays it.
const RETRY_DELAY: RetryDelay = RetryDelay::Exponential { base_seconds: 10, cap_seconds: 360 };
/// Where `backoffLimit` is absent.
const BACKOFF_LIMIT: i64 = 6;
/// The longest window of `fire_within`.
const LONGEST_WINDOW: i64 = 86_400;

pub fn add(done: &mut Definitions, object: &Node, options: &KubernetesOptions<'_>) {
    let name = text_at(object, &["metadata", "name"]).unwrap_or_default();
    let key = match text_at(object, &["metadata", "namespace"]) {
        Some(namespace) => format!("{namespace}.{name}"),
        None => name.to_owned(),
    };
    let place = format!("cronjob/{key}");
    let mut reader = Reader { object, options, remarks: vec![] };
    match reader.job(name, key) {
        Ok(job) => {
            reader.remarks.into_iter().for_each(|text| done.remark(&place, text));
            done.jobs.push(job);
        }
        Err(reason) => done.leave_out(format!("{place} (line {})", object.line), reason),
    }
}

struct Reader<'r> {
    object: &'r Node,
    options: &'r KubernetesOptions<'r>,
    remarks: Vec<String>,
}

impl Reader<'_> {
    fn remark(&mut self, text: impl Into<String>) {
        self.remarks.push(text.into());
    }

    fn spec(&self, name: &str) -> Option<&str> {
        text_at(self.object, &["spec", name])
    }

    fn of_job(&self, name: &str) -> Result<Option<i64>, String> {
        number(name, text_at(self.object, &["spec", "jobTemplate", "spec", name]))
    }

    /// A number of the Job, from 0 to the most that is possible here.
    fn cut(&mut self, name: &str, absent: i64, most: i64) -> Result<i32, String> {
        let value = self.of_job(name)?.unwrap_or(absent);
        if value > most {
            self.remark(format!("{name} {value} is cut to {most}"));
        }
        Ok(value.clamp(0, most).try_into().unwrap_or(i32::MAX))
    }

    fn job(&mut self, name: &str, key: String) -> Result<JobDraft, String> {
        let text = self.spec("schedule").ok_or("it has no `spec.schedule`")?;
        let mut job = JobDraft::new(self.options.app, name, self.options.handler);
        job.schedule = schedule(text, self.spec("timeZone"), self.options.zone, self.options.now)?;
        job.key = key;
        job.tags = vec![TAG.to_owned()];
        job.enabled = false;
        self.misfires(&mut job)?;
        job.overlap = match self.spec("concurrencyPolicy") {
            None | Some("Allow") => Overlap::Allow,
            Some("Forbid") => Overlap::Skip,
            Some("Replace") => Overlap::Cancel,
            Some(other) => return Err(format!("spec.concurrencyPolicy: `{other}` is not known")),
        };
        job.retries = self.cut("backoffLimit", BACKOFF_LIMIT, *limits::RETRIES.end())?;
        job.retry_delay = if job.retries == 0 { RetryDelay::default() } else { RETRY_DELAY };
        job.timeout_seconds = self.cut("activeDeadlineSeconds", 0, *limits::TIMEOUT_SECONDS.end())?;
        job.params = self.params()?;
        self.remark_on(&job)?;
        Definitions::check(&job, self.options.now)?;
        Ok(job)
    }

    fn misfires(&mut self, job: &mut JobDraft) -> Result<(), String> {
        let Some(deadline) = number("startingDeadlineSeconds", self.spec("startingDeadlineSeconds"))? else {
            job.misfire = MisfirePolicy::FireOnce;
            return Ok(());
        };
        job.misfire = MisfirePolicy::FireWithin;
        job.misfire_window_seconds = deadline.clamp(1, LONGEST_WINDOW);
        self.remark("Kubernetes starts only the latest instant that was missed within startingDeadlineSeconds; here all of them run");
        if deadline < 10 {
            self.remark("with less than 10 s as startingDeadlineSeconds it may never have started there");
        }
        if deadline > LONGEST_WINDOW {
            self.remark("startingDeadlineSeconds is cut to one day");
        }
        Ok(())
    }

    /// The first container; nothing of its environment.
    fn params(&mut self) -> Result<String, String> {
        let path = ["spec", "jobTemplate", "spec", "template", "spec", "containers"];
        let containers = at(self.object, &path).map(Node::items).unwrap_or_default();
        let first = containers.first().ok_or("its template has no container")?;
        let image = text_at(first, &["image"]).unwrap_or_default();
        let texts = |name: &str| -> Vec<Value> {
            first
                .member(name)
                .map(Node::items)
                .unwrap_or_default()
                .iter()
                .filter_map(Node::text)
                .map(Value::from)
                .collect()
        };
        let (command, args) = (texts("command"), texts("args"));
        let names: Vec<&str> = first
            .member("env")
            .map(Node::items)
            .unwrap_or_default()
            .iter()
            .filter_map(|variable| text_at(variable, &["name"]))
            .collect();
        if containers.len() > 1 {
            self.remark(format!("of {} containers only the first is taken", containers.len()));
        }
        if !names.is_empty() {
            self.remark(format!("its environment is left out: {}", names.join(", ")));
        }
        Ok(json!({"image": image, "command": command, "args": args}).to_string())
    }

    fn remark_on(&mut self, job: &JobDraft) -> Result<(), String> {
        if self.spec("suspend") == Some("true") {
            self.remark("it is suspended there");
        }
        for name in ["parallelism", "completions"] {
            if self.of_job(name)?.is_some_and(|count| count > 1) {
                self.remark(format!("{name} has no counterpart: one run"));
            }
        }
        if job.timeout_seconds > 0 && job.retries > 0 {
            self.remark("activeDeadlineSeconds covers all attempts there, and each of them here");
        }
        match &job.schedule.kind {
            KindDraft::FixedRate { .. } => self.remark("@every counts from the job's creation here"),
            KindDraft::UnixCron(cron) if !is_without_changes(&cron.timezone) => {
                self.remark("in the hour that is repeated when clocks go back, Kubernetes starts a job twice, and Carillon once");
            }
            _ => {}
        }
        Ok(())
    }
}

fn number(name: &str, text: Option<&str>) -> Result<Option<i64>, String> {
    text.map(|text| text.parse().map_err(|_| format!("{name}: `{text}` is no whole number"))).transpose()
}

//! The same for people: sentences, in the order of what happened.

use carillon_scheduler::{Cause, Millis};
use chrono::{DateTime, SecondsFormat};

use crate::audit::difference::GapReason;
use crate::explain::explanation::{ExplainedRun, Explanation, Verdict};
use carillon_store::job::history::Change;
use carillon_store::{Misfire, RunParams, RunView};

impl Explanation {
    /// One sentence a line.
    pub fn sentences(&self) -> Vec<String> {
        let mut lines = vec![self.head()];
        lines.extend(self.definition());
        lines.extend(self.misfire.as_ref().map(misfire));
        lines.extend(self.why());
        let of_schedule = |run: &ExplainedRun| matches!(run.run.cause, Cause::Schedule | Cause::Backfill);
        if !self.runs.iter().any(of_schedule) {
            lines.extend(self.neighbours());
        }
        for explained in &self.runs {
            lines.extend(run(explained));
        }
        lines
    }

    fn head(&self) -> String {
        let job = match &self.job {
            Some(name) => format!("job {} `{name}`", self.job_id),
            None => format!("job {}, which is deleted,", self.job_id),
        };
        let at = time(self.at);
        match self.verdict {
            Verdict::Recorded => format!("{at} is an instant of {job}, and it has a run."),
            Verdict::Skipped => format!("{at} is an instant of {job} that was skipped."),
            Verdict::Missing(GapReason::Unknown | GapReason::Unplannable) => {
                format!("Whether {at} was an instant of {job} cannot be said.")
            }
            Verdict::Missing(GapReason::NotPlanned) if self.at > self.now => {
                format!("{at} will be an instant of {job}.")
            }
            Verdict::Missing(_) => format!("{at} is an instant of {job} without a record."),
            Verdict::BeforeJob => format!("At {at} there was no {job} yet."),
            _ => format!("{at} is no instant of {job}."),
        }
    }

    fn definition(&self) -> Option<String> {
        let revision = self.revision?;
        Some(match &self.begun_by {
            Some(Change { at, actor, action }) => {
                format!("In force then: version {revision}, since {} ({action} by {actor}).", time(*at))
            }
            None => format!("In force then: version {revision}."),
        })
    }

    fn why(&self) -> Option<String> {
        Some(match self.verdict {
            Verdict::Excluded => format!("Its day is excluded by {}.", self.nearby.excluded_by.join(", ")),
            Verdict::Invalid => "It lies outside the job's validity (start_at, end_at).".to_owned(),
            Verdict::FixedDelay => "Its fires are counted from the ends of its runs, and none fell on it.".to_owned(),
            Verdict::Missing(GapReason::Unexplained) => "Nothing explains that: the instant was lost.".to_owned(),
            Verdict::Missing(reason) => format!("Why: {}.", reason.sentence()),
            Verdict::Recorded | Verdict::Skipped | Verdict::NoInstant | Verdict::BeforeJob => {
                return None;
            }
        })
    }

    fn neighbours(&self) -> Option<String> {
        let time_or_none = |at: Option<Millis>| at.map_or_else(|| "none".to_owned(), time);
        let nearby = &self.nearby;
        (nearby.before.is_some() || nearby.after.is_some()).then(|| {
            format!(
                "By that definition the instant before it is {}, the one after it {}.",
                time_or_none(nearby.before),
                time_or_none(nearby.after)
            )
        })
    }
}

fn misfire(range: &Misfire) -> String {
    let by = match range.epoch {
        0 => "by a change of the job".to_owned(),
        epoch => format!("under epoch {epoch}"),
    };
    let why = match range.reason.as_str() {
        "coalesced" => "late, and only the latest was wanted (catch_up latest)".to_owned(),
        _ => format!("reached later than the misfire threshold, policy {}", range.policy.as_str()),
    };
    format!(
        "It lies in a range of {} skipped instants, {} to {}, recorded {by}: {why}.",
        range.count,
        time(range.from_at),
        time(range.to_at)
    )
}

fn run(explained: &ExplainedRun) -> Vec<String> {
    let run = &explained.run;
    let mut lines = vec![recorded(run)];
    lines.extend(explained.choice.as_ref().map(|choice| {
        let among = match choice.candidates.len() {
            0 => String::new(),
            1 => ", the only candidate".to_owned(),
            count => format!(", one of {count} candidates"),
        };
        let chosen = choice.chosen.as_deref().unwrap_or("no executor");
        let why = choice.why.trim_end_matches('.');
        let mut line = format!("  Chosen: {chosen}{among} ({why}).");
        let story = &choice.story;
        for (what, list) in
            [("answered", &story.answers), ("passed over", &story.skipped), ("not reached", &story.hops)]
        {
            for it in list {
                line.push_str(&format!(" {what}: {} ({}).", it.address, it.what));
            }
        }
        line
    }));
    lines.extend(sent(run));
    lines.push(params(explained));
    lines.push(ended(run));
    lines
}

fn recorded(run: &RunView) -> String {
    let mut line = format!("Run {}", run.id);
    line.push_str(match run.cause {
        Cause::Schedule => "",
        Cause::Manual => ", started by hand at that time",
        Cause::Api => ", started over the API at that time",
        Cause::Child => ", started by a parent job at that time",
        Cause::Backfill => ", by a backfill",
    });
    if run.parts > 1 {
        line.push_str(&format!(", part {} of {}", run.part, run.parts));
    }
    if run.attempt > 1 {
        line.push_str(&format!(", attempt {}, due {}", run.attempt, time(run.due_at)));
    }
    // The shard is the one of now: another number of shards moves what is open, and leaves the epoch as it was.
    let shard = run.shard;
    line.push_str(&match (run.epoch, &run.owner) {
        (0, _) if run.marked_at.is_none() => {
            format!(": no holder of shard {shard} has taken it up.")
        }
        (0, Some(node)) => format!(": held by node {node}; in shard {shard}."),
        (0, None) => format!(": in shard {shard}."),
        (epoch, Some(node)) => {
            format!(": held by node {node} under epoch {epoch}; in shard {shard}.")
        }
        (epoch, None) => format!(": held under epoch {epoch}; in shard {shard}."),
    });
    line
}

fn sent(run: &RunView) -> Option<String> {
    let marked = run.marked_at?;
    let to = run.address.as_deref().unwrap_or("no executor");
    let times = match run.sends {
        1 => "once".to_owned(),
        sends => format!("{sends} times"),
    };
    Some(match run.sent_at {
        Some(sent) => {
            format!("  Marked {}, sent {times} to {to}, {} ms after it was due.", time(marked), sent - run.due_at)
        }
        None => format!("  Marked {}, for {to}; sends: {}.", time(marked), run.sends),
    })
}

fn params(explained: &ExplainedRun) -> String {
    let shown = |text: &str| match text.is_empty() {
        true => "none".to_owned(),
        false => format!("`{:.300}`", text.replace(['\n', '\r'], " ")),
    };
    match &explained.params {
        RunParams::Own(text) => format!("  Parameters, of this run alone: {}.", shown(text)),
        RunParams::Sent(text) => match explained.run.revision {
            Some(revision) => {
                format!("  Parameters, of the job's version {revision}: {}.", shown(text))
            }
            None => format!("  Parameters: {}.", shown(text)),
        },
        RunParams::Waiting(text) => {
            format!("  Not sent yet; the job's parameters are now: {}.", shown(text))
        }
        RunParams::NeverSent => "  It was never sent, so it was given no parameters.".to_owned(),
        RunParams::NotOnRecord => "  Its parameters are not on record.".to_owned(),
    }
}

fn ended(run: &RunView) -> String {
    let state = run.state.as_str();
    let reason = run.reason.as_deref().map_or_else(String::new, |reason| format!(" ({reason})"));
    let message = match run.message() {
        message if message.is_empty() => String::new(),
        message => format!(" {:.300}", message.replace(['\n', '\r'], " ")),
    };
    match run.finished_at {
        Some(at) => format!("  {state}{reason} at {}.{message}", time(at)),
        None => format!("  It is {state}{reason}.{message}"),
    }
}

fn time(at: Millis) -> String {
    let time = DateTime::from_timestamp_millis(at).unwrap_or_default();
    let digits = match at.rem_euclid(1000) {
        0 => SecondsFormat::Secs,
        _ => SecondsFormat::Millis,
    };
    time.to_rfc3339_opts(digits, true)
}

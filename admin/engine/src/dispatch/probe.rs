//! Routes that ask first: `/beat` or `/idleBeat`, one candidate after the other, until one says yes.
//!
//! A run whose candidates are being asked is in a task of its own, so an executor that hangs delays nobody else. Its row
//! stays `claimed`; if the process dies meanwhile, nothing was sent. When its answer is there it comes back to be marked,
//! together with all others that have come back in the meantime.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use carillon_scheduler::route::Probe;

use crate::Pipeline;
use crate::dispatch::route::router;
use crate::dispatch::route::router::{Verdict, has_patience};
use crate::dispatch::trace::{Choice, told};
use crate::executor::directory::Candidate;
use crate::executor::outcome::Outcome;
use crate::plan::job_cache::Job;
use crate::store::run::adopt::Waiting;

/// Runs that may be asked about at once; more wait in the ring.
const LIMIT: usize = 1_000;
/// An answer to `/beat` counts so long for all runs.
const BEAT_COUNTS_FOR: Duration = Duration::from_secs(1);
/// While all executors are busy, a run asks again after this.
const ASK_AGAIN_MS: i64 = 1_000;

/// A run and those who are to be asked about it.
pub struct Question {
    pub run: Waiting,
    pub probe: Probe,
    pub candidates: Vec<Candidate>,
    pub choice: Choice,
}

/// A run that comes back, and the definition by which its candidates were asked.
pub struct Answered {
    pub run: Waiting,
    pub job: Arc<Job>,
    pub verdict: Verdict,
}

/// What a candidate said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Yes,
    /// Not alive, by its own words; or busy.
    No(String),
    /// It was asked, and nothing came.
    Nothing(String),
    /// It was not asked: it has not answered lately.
    NotAsked,
}

#[derive(Default)]
pub struct Probes {
    runs: Mutex<HashSet<i64>>,
    answered: Mutex<Vec<Answered>>,
    /// Held by the one who takes the answered ones to their mark; those that come meanwhile go together.
    marking: tokio::sync::Mutex<()>,
}

impl Probes {
    fn runs(&self) -> MutexGuard<'_, HashSet<i64>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answered(&self) -> MutexGuard<'_, Vec<Answered>> {
        self.answered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nobody is being asked.
    pub fn is_empty(&self) -> bool {
        self.runs().is_empty()
    }
}

/// Asks in a task of its own; gives the run back if there are too many already.
pub fn spawn(pipeline: &Arc<Pipeline>, question: Question) {
    {
        let mut runs = pipeline.probes.runs();
        // The audit of its shard has found it again: it is on its way already.
        if runs.contains(&question.run.run_id) {
            return;
        }
        if runs.len() >= LIMIT {
            drop(runs);
            return crate::dispatch::dispatcher::wait(pipeline, question.run);
        }
        runs.insert(question.run.run_id);
    }
    tokio::spawn(work(pipeline.clone(), question));
}

async fn work(pipeline: Arc<Pipeline>, question: Question) {
    let run_id = question.run.run_id;
    let job = question.choice.job.clone();
    let (run, verdict) = ask(&pipeline, question).await;
    pipeline.probes.answered().push(Answered { run, job, verdict });
    let marking = pipeline.probes.marking.lock().await;
    let answered = std::mem::take(&mut *pipeline.probes.answered());
    if !answered.is_empty() {
        crate::dispatch::dispatcher::answered(&pipeline, answered).await;
    }
    drop(marking);
    pipeline.probes.runs().remove(&run_id);
}

async fn ask(pipeline: &Pipeline, mut question: Question) -> (Waiting, Verdict) {
    let (mut busy, mut asked) = (false, false);
    for index in 0..question.candidates.len() {
        let candidate = &question.candidates[index];
        let answer = ask_one(pipeline, &question, candidate).await;
        let what = words(question.probe, &answer);
        let address = candidate.address.clone();
        question.choice.story().answers.push(told(&address, &what));
        match answer {
            Answer::Yes => {
                let list = question.candidates.split_off(index);
                let verdict = router::with_room(pipeline, &question.run, list, question.choice);
                return (question.run, verdict);
            }
            Answer::No(_) => (busy, asked) = (busy || question.probe == Probe::IdleBeat, true),
            Answer::Nothing(_) => asked = true,
            Answer::NotAsked => {}
        }
    }
    let verdict = nobody(pipeline, &question.run, question.choice, busy, asked);
    (question.run, verdict)
}

/// Nobody said yes. Who is busy is waited for; when nobody answered the run fails at once, with what was said.
fn nobody(pipeline: &Pipeline, run: &Waiting, choice: Choice, busy: bool, asked: bool) -> Verdict {
    if has_patience(pipeline, &choice.job, run) && (busy || !asked) {
        pipeline.metrics.saturated.inc();
        return match busy {
            true => Verdict::WaitFor(ASK_AGAIN_MS),
            false => Verdict::Wait,
        };
    }
    let what = if busy { "every executor was busy with the job" } else { "no executor answered" };
    let story = choice.unmarked();
    let answers = story.answers.iter();
    let lines: Vec<String> = answers.map(|told| format!("{}: {}", told.address, told.what)).collect();
    Verdict::NoExecutor(format!("{what}: {}", lines.join("; ")), Box::new(story))
}

async fn ask_one(pipeline: &Pipeline, question: &Question, candidate: &Candidate) -> Answer {
    let address = pipeline.addresses.get(&candidate.address);
    let now = || pipeline.clock.monotonic();
    let limit = pipeline.settings.connect_limit;
    let (name, app) = (&candidate.address, &question.choice.job.stored.app);
    if question.probe == Probe::Beat {
        // One at a time asks; who has waited for it takes the same answer.
        let mut last = address.last_beat.lock().await;
        if let Some((at, answer)) = &*last
            && now().saturating_sub(*at) < BEAT_COUNTS_FOR
        {
            return answer.clone();
        }
        if address.is_closed(now()) {
            return Answer::NotAsked;
        }
        let outcome = pipeline.client.beat(name, app, limit).await;
        address.note(&outcome, now(), pipeline.settings.breaker);
        let answer = read(outcome);
        *last = Some((now(), answer.clone()));
        return answer;
    }
    let _slot = address.idle_beats.acquire().await;
    if address.is_closed(now()) {
        return Answer::NotAsked;
    }
    let job_id = i32::try_from(question.run.job_id).unwrap_or(i32::MAX);
    let outcome = pipeline.client.idle_beat(name, app, job_id, limit).await;
    address.note(&outcome, now(), pipeline.settings.breaker);
    read(outcome)
}

fn read(outcome: Outcome) -> Answer {
    match outcome {
        Outcome::Accepted => Answer::Yes,
        Outcome::Refused { message, .. } => Answer::No(message),
        Outcome::NotSent { why } | Outcome::Unknown { why, .. } => Answer::Nothing(why),
    }
}

fn words(probe: Probe, answer: &Answer) -> String {
    match (probe, answer) {
        (Probe::Beat, Answer::Yes) => "alive".into(),
        (Probe::IdleBeat, Answer::Yes) => "idle".into(),
        (Probe::Beat, Answer::No(message)) => format!("refused: {message}"),
        (Probe::IdleBeat, Answer::No(message)) => format!("busy: {message}"),
        (_, Answer::Nothing(why)) => why.clone(),
        (_, Answer::NotAsked) => "not asked: it did not answer lately".into(),
    }
}

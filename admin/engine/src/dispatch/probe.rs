//! Routes that ask first: `/beat` or `/idleBeat`, one candidate after the other, until one agrees.
//!
//! A run whose candidates are being asked is in a task of its own, so an executor that hangs delays no other run. Its row
//! stays `claimed`; if the process dies meanwhile, nothing was sent. When its answer is there the dispatcher takes it up,
//! together with all others that have come back in the meantime.

use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::route::Probe;
use foldhash::{HashMap, HashSet};
use parking_lot::Mutex;

use crate::context::Context;
use crate::dispatch::route::decision::note;
use crate::dispatch::route::router::Router;
use crate::dispatch::stages::{AdmittedRun, OrderedRun, RouteStep};
use crate::executor::address::gate::ProbeAnswer;
use crate::executor::client::ExecutorClient;
use crate::executor::directory::Candidate;
use crate::executor::outcome::Outcome;
use crate::plan::due_queue::DueQueue;

/// Runs that may be asked about at once, in all and of one app; more wait in memory. Slow executors of one app leave places for
/// the others.
const MAX_CONCURRENT: usize = 10_000;
const OF_ONE_APP: usize = 500;
/// An answer to `/beat` counts for this time, for all runs.
const BEAT_COUNTS_FOR: Duration = Duration::from_secs(1);
/// While all executors are busy, a run asks again after this.
const ASK_AGAIN_MS: i64 = 1_000;

pub struct Prober {
    pub(crate) cx: Arc<Context>,
    pub(crate) client: Arc<ExecutorClient>,
    pub(crate) router: Arc<Router>,
    pub(crate) queue: Arc<DueQueue>,
    pub(crate) runs: Mutex<AskedRuns>,
    pub(crate) answered: Mutex<Vec<(RouteStep, ProbeGuard)>>,
}

/// The runs that are asked about.
#[derive(Default)]
pub(crate) struct AskedRuns {
    ids: HashSet<i64>,
    of_app: HashMap<i64, usize>,
}

impl AskedRuns {
    fn has_room(&self, app_id: i64) -> bool {
        self.ids.len() < MAX_CONCURRENT && self.of_app.get(&app_id).is_none_or(|count| *count < OF_ONE_APP)
    }

    fn add(&mut self, run_id: i64, app_id: i64) {
        self.ids.insert(run_id);
        *self.of_app.entry(app_id).or_default() += 1;
    }

    fn remove(&mut self, run_id: i64, app_id: i64) {
        self.ids.remove(&run_id);
        if let Some(count) = self.of_app.get_mut(&app_id) {
            *count -= 1;
            if *count == 0 {
                self.of_app.remove(&app_id);
            }
        }
    }
}

/// A run that is asked about, until the dispatcher has done what follows from the answer. A guard, so that a task that
/// panics leaves no run behind that is never asked about again.
pub struct ProbeGuard {
    prober: Arc<Prober>,
    run_id: i64,
    app_id: i64,
}

impl Drop for ProbeGuard {
    fn drop(&mut self) {
        self.prober.runs.lock().remove(self.run_id, self.app_id);
    }
}

impl Prober {
    /// No run is asked about.
    pub fn is_empty(&self) -> bool {
        self.runs.lock().ids.is_empty()
    }

    /// Asks in a task of its own; gives the run back if there are too many already, of its app or in all.
    pub fn spawn(self: &Arc<Self>, probe: Probe, ordered: OrderedRun) -> Option<AdmittedRun> {
        let run_id = ordered.admitted.run.run_id;
        let app_id = ordered.admitted.job.stored.app_id;
        {
            let mut runs = self.runs.lock();
            // The audit of its shard has found it again: it is on its way already.
            if runs.ids.contains(&run_id) {
                return None;
            }
            if !runs.has_room(app_id) {
                return Some(ordered.admitted);
            }
            runs.add(run_id, app_id);
        }
        let guard = ProbeGuard { prober: self.clone(), run_id, app_id };
        tokio::spawn(async move {
            let prober = guard.prober.clone();
            let step = prober.ask(probe, ordered).await;
            prober.answered.lock().push((step, guard));
            prober.queue.wake.notify_one();
        });
        None
    }

    pub fn has_answered(&self) -> bool {
        !self.answered.lock().is_empty()
    }

    /// What has come back; each run counts as asked about as long as its guard lives.
    pub fn take_answered(&self) -> Vec<(RouteStep, ProbeGuard)> {
        std::mem::take(&mut *self.answered.lock())
    }

    async fn ask(&self, probe: Probe, mut ordered: OrderedRun) -> RouteStep {
        let (mut busy, mut asked) = (false, false);
        for index in 0..ordered.candidates.len() {
            let candidate = &ordered.candidates[index];
            let answer = self.ask_one(probe, &ordered, candidate).await;
            let answer_note = note(&candidate.address, &words(probe, &answer));
            ordered.decision.trace().answers.push(answer_note);
            match answer {
                ProbeAnswer::Yes => {
                    ordered.candidates.drain(..index);
                    return RouteStep::Ordered(ordered);
                }
                ProbeAnswer::No(_) => (busy, asked) = (busy || probe == Probe::IdleBeat, true),
                ProbeAnswer::NoReply(_) => asked = true,
                ProbeAnswer::NotAsked => {}
            }
        }
        self.none_accepted(ordered, busy, asked)
    }

    /// An executor that is busy is waited for; when none answered the run fails at once, with all answers.
    fn none_accepted(&self, ordered: OrderedRun, busy: bool, asked: bool) -> RouteStep {
        let OrderedRun { admitted, decision, .. } = ordered;
        if (busy || !asked) && self.router.may_still_wait(&admitted) {
            self.cx.metrics.saturated.inc();
            return match busy {
                true => RouteStep::WaitFor(admitted, ASK_AGAIN_MS),
                false => RouteStep::Wait(admitted),
            };
        }
        let what = if busy { "every executor was busy with the job" } else { "no executor answered" };
        let trace = decision.into_trace();
        let answers = trace.answers.iter();
        let lines: Vec<String> = answers.map(|note| format!("{}: {}", note.address, note.what)).collect();
        RouteStep::NoExecutor(admitted, format!("{what}: {}", lines.join("; ")), Box::new(trace))
    }

    async fn ask_one(&self, probe: Probe, ordered: &OrderedRun, candidate: &Candidate) -> ProbeAnswer {
        let address = self.router.addresses.get(&candidate.app, &candidate.address);
        let now = || self.cx.clock.monotonic();
        let (limit, breaker) = (self.cx.settings.connect_timeout, self.cx.settings.breaker);
        let (name, job) = (&candidate.address, &ordered.admitted.job.stored);
        if probe == Probe::Beat {
            // One at a time asks; the others that wait for it take the same answer.
            let mut last = address.last_beat.lock().await;
            if let Some((at, answer)) = &*last
                && now().saturating_sub(*at) < BEAT_COUNTS_FOR
            {
                return answer.clone();
            }
            if address.is_closed(now()) {
                return ProbeAnswer::NotAsked;
            }
            let outcome = self.client.beat(name, &job.app, limit).await;
            address.record_outcome(&outcome, now(), breaker);
            let was_asked = !matches!(outcome, Outcome::Withheld { .. });
            let answer = read(outcome);
            if was_asked {
                *last = Some((now(), answer.clone()));
            }
            return answer;
        }
        let _slot = address.idle_beats.acquire().await;
        if address.is_closed(now()) {
            return ProbeAnswer::NotAsked;
        }
        let outcome = self.client.idle_beat(name, &job.app, job.job_id, limit).await;
        address.record_outcome(&outcome, now(), breaker);
        read(outcome)
    }
}

fn read(outcome: Outcome) -> ProbeAnswer {
    match outcome {
        Outcome::Accepted => ProbeAnswer::Yes,
        Outcome::Refused { message, .. } => ProbeAnswer::No(message),
        Outcome::NotSent { why } | Outcome::Withheld { why } | Outcome::Unknown { why, .. } => {
            ProbeAnswer::NoReply(why)
        }
    }
}

fn words(probe: Probe, answer: &ProbeAnswer) -> String {
    match (probe, answer) {
        (Probe::Beat, ProbeAnswer::Yes) => "alive".into(),
        (Probe::IdleBeat, ProbeAnswer::Yes) => "idle".into(),
        (Probe::Beat, ProbeAnswer::No(message)) => format!("refused: {message}"),
        (Probe::IdleBeat, ProbeAnswer::No(message)) => format!("busy: {message}"),
        (_, ProbeAnswer::NoReply(why)) => why.clone(),
        (_, ProbeAnswer::NotAsked) => "not asked: it did not answer lately".into(),
    }
}

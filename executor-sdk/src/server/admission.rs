//! The decision about a request to run: seen before, refused with a reason, or accepted.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use carillon_protocol::{EXPIRED, GLUE_BEAN, RunRequest};
use tokio::sync::mpsc;

use crate::admin::OutboxMessage;
use crate::handler::BoxedHandler;
use crate::journal::{CompletionSink, Journal};
use crate::lane::{EnqueueResult, Lanes};
use crate::run::{MOST_OPEN, Phase, Run, RunMeta, SeenRuns, wall_clock};
use crate::script::ScriptType;

/// By how much the clocks of admin and executor may differ.
const CLOCK_ERROR_MS: i64 = 5_000;
const NO_JOURNAL: &str = "the executor cannot write its journal";

/// The answer to a request to run.
pub(super) enum Reply {
    /// It will run.
    Accepted,
    /// An earlier request was accepted; the word is its phase.
    AlreadyHere(&'static str),
    /// It will not run.
    Refused(String),
    /// It was sent to another journal before, and is unknown here.
    OtherJournal,
}

pub(crate) struct Admission {
    pub(crate) handlers: Arc<HashMap<String, Arc<dyn BoxedHandler>>>,
    /// Empty if this executor takes no scripts.
    pub(crate) scripts: BTreeMap<ScriptType, Arc<dyn BoxedHandler>>,
    pub(crate) lanes: Arc<Lanes>,
    pub(crate) seen_runs: Arc<SeenRuns>,
    pub(crate) journal: Journal,
    pub(crate) outbox: mpsc::UnboundedSender<OutboxMessage>,
}

impl Admission {
    pub(super) async fn admit(&self, request: RunRequest, meta: RunMeta, sink: &CompletionSink) -> Reply {
        let log_id = request.log_id;
        if log_id <= 0 {
            return Reply::Refused(format!("logId {log_id} is not a run"));
        }
        let handler = self.check(&request, &meta);
        match self.lanes.enqueue(Run::new(request, meta), handler, sink) {
            EnqueueResult::Refused(reason) => Reply::Refused(reason),
            EnqueueResult::Seen(phase) => self.repeat(log_id, phase).await,
            EnqueueResult::New(is_written) => match is_written.await {
                Ok(true) => Reply::Accepted,
                _ => Reply::Refused(NO_JOURNAL.to_owned()),
            },
        }
    }

    /// The handler, or the reason for a refusal. The reason does not apply to a run that was seen before.
    fn check(&self, request: &RunRequest, meta: &RunMeta) -> Result<Arc<dyn BoxedHandler>, String> {
        let late = meta.not_after.map(|at| (wall_clock::now_ms() - CLOCK_ERROR_MS).saturating_sub(at));
        if let Some(late) = late.filter(|late| *late > 0) {
            return Err(format!("{EXPIRED}{late} ms too late for this run"));
        }
        if self.seen_runs.is_full() {
            return Err(format!("{MOST_OPEN} results wait for an admin that cannot be reached from here"));
        }
        if let Some(key) = &meta.fire_key
            && let Some(higher) = self.seen_runs.higher_attempt(key, meta.attempt)
        {
            return Err(format!("attempt {higher} of this fire was here already"));
        }
        if !matches!(request.glue_type.as_str(), GLUE_BEAN | "") {
            let kind = &request.glue_type;
            let handler = ScriptType::from_wire(kind).and_then(|kind| self.scripts.get(&kind)).cloned();
            let handler = handler.ok_or_else(|| format!("glueType[{kind}] is not valid."))?;
            return with_phase(handler, "of scripts", meta);
        }
        if self.handlers.is_empty() {
            return Err("this executor runs scripts only, no handlers (glueType[BEAN])".to_owned());
        }
        let handler = self.handlers.get(&request.handler).cloned();
        let handler = handler.ok_or_else(|| format!("job handler [{}] not found.", request.handler))?;
        with_phase(handler, &format!("[{}]", request.handler), meta)
    }

    /// Answers for a run that was seen before, once its line is written; the result of a finished run is sent again.
    async fn repeat(&self, log_id: i64, phase: Phase) -> Reply {
        if !self.journal.barrier().await {
            return Reply::Refused(NO_JOURNAL.to_owned());
        }
        let word = phase.word();
        if let Phase::Finished(item) = phase {
            tracing::debug!(run.id = log_id, "the result is sent again");
            let _ = self.outbox.send(OutboxMessage::Results(vec![item]));
        }
        Reply::AlreadyHere(word)
    }
}

/// The handler, if it takes runs of this phase.
fn with_phase(handler: Arc<dyn BoxedHandler>, name: &str, meta: &RunMeta) -> Result<Arc<dyn BoxedHandler>, String> {
    let refusal = meta.phase.as_deref().and_then(|phase| handler.refuses_phase(phase));
    refusal.map_or(Ok(handler), |reason| Err(format!("job handler {name} {reason}")))
}

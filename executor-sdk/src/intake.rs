//! The decision about a request to run: seen before, refused with a reason, or taken.

use std::collections::HashMap;
use std::sync::Arc;

use carillon_protocol::{GLUE_BEAN, RunRequest};
use tokio::sync::mpsc;

use crate::handler::BoxedHandler;
use crate::journal::{Home, Journal};
use crate::lane::{Admission, Lanes};
use crate::ledger::{Ledger, Phase};
use crate::outbox::Mail;
use crate::run::{Meta, Run};
use crate::wall_clock;

/// What the clocks of admin and executor may differ.
const CLOCK_ERROR_MS: i64 = 5_000;

/// The answer to a request to run.
pub(crate) enum Reply {
    /// It will run.
    Accepted,
    /// It was taken by an earlier request, and stands there.
    Already(&'static str),
    /// It was not taken, certainly.
    Refused(String),
    /// It was sent to another journal before, and is not known here.
    OtherJournal,
}

pub(crate) struct Intake {
    pub(crate) handlers: HashMap<String, Arc<dyn BoxedHandler>>,
    pub(crate) lanes: Arc<Lanes>,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) journal: Journal,
    pub(crate) outbox: mpsc::UnboundedSender<Mail>,
}

impl Intake {
    pub(crate) async fn run(&self, request: RunRequest, meta: Meta, home: &Home) -> Reply {
        if request.log_id <= 0 {
            return Reply::Refused(format!("logId {} is not a run", request.log_id));
        }
        let log_id = request.log_id;
        let handler = self.check(&request, &meta);
        match self.lanes.admit(Run::new(request, meta), handler, home) {
            Admission::Refused(reason) => Reply::Refused(reason),
            Admission::Seen(phase) => self.repeat(log_id, phase).await,
            Admission::New(written) => match written.await {
                Ok(true) => Reply::Accepted,
                _ => Reply::Refused("the executor cannot write its journal".to_owned()),
            },
        }
    }

    /// The handler, or why there is none. A run that was seen before is not refused for that.
    fn check(&self, request: &RunRequest, meta: &Meta) -> Result<Arc<dyn BoxedHandler>, String> {
        let late = meta.not_after.map(|at| (wall_clock::now() - CLOCK_ERROR_MS).saturating_sub(at));
        if let Some(late) = late.filter(|late| *late > 0) {
            return Err(format!("expired: {late} ms too late for this run"));
        }
        if let Some(key) = &meta.fire_key
            && let Some(higher) = self.ledger.higher_attempt(key, meta.attempt)
        {
            return Err(format!("attempt {higher} of this fire was here already"));
        }
        if !matches!(request.glue_type.as_str(), GLUE_BEAN | "") {
            let kind = &request.glue_type;
            return Err(format!("glueType[{kind}] is not valid."));
        }
        let handler = self.handlers.get(&request.handler).cloned();
        handler.ok_or_else(|| format!("job handler [{}] not found.", request.handler))
    }

    /// Answers for a run that was seen before, once its line is safe; the result of a finished one is sent again.
    async fn repeat(&self, log_id: i64, phase: Phase) -> Reply {
        if !self.journal.barrier().await {
            return Reply::Refused("the executor cannot write its journal".to_owned());
        }
        let word = phase.word();
        if let Phase::Finished(item) = phase {
            tracing::debug!(run.id = log_id, "the result is sent again");
            let _ = self.outbox.send(Mail::Results(vec![item]));
        }
        Reply::Already(word)
    }
}

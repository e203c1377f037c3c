//! Services that HTTP jobs call, inside the suite. They write down each request before they answer it, as executors do.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use carillon_testkit::{Call, HttpStub, Reply};
use tokio::net::TcpListener;

use crate::record::event::EventLog;
use crate::record::{Event, What};

/// The executor in whose name they keep their books.
const NAME: &str = "s1";

pub struct Services {
    answering: HttpStub,
    /// An origin of its own: a node leaves it alone for a while after some requests without an answer.
    cutting: HttpStub,
    last: LastRun,
}

/// The path and the run of the last request.
type LastRun = Arc<Mutex<(String, i64)>>;

impl Services {
    pub async fn start(folder: &Path) -> anyhow::Result<Self> {
        let events = Arc::new(EventLog::open(&folder.join(format!("events-{NAME}.jsonl")), NAME)?);
        let last = LastRun::default();
        let answering = HttpStub::start(TcpListener::bind(("127.0.0.1", 0)).await?, book(&events, &last));
        answering.reply_to("/failing", Reply::Status(500));
        let cutting = HttpStub::start(TcpListener::bind(("127.0.0.1", 0)).await?, book(&events, &last));
        cutting.reply(Reply::Cut);
        Ok(Self { answering, cutting, last })
    }

    pub fn answered(&self, number: usize) -> String {
        format!("{}{}", self.answering.address, path(number))
    }

    pub fn failing(&self) -> String {
        format!("{}/failing", self.answering.address)
    }

    pub fn cut(&self) -> String {
        format!("{}/cut", self.cutting.address)
    }

    /// Requests of this job are read and get no answer.
    pub fn hold(&self, number: usize) {
        self.set_last((String::new(), 0));
        self.answering.reply_to(&path(number), Reply::Never);
    }

    /// Requests of this job are answered again; those that are held stay so.
    pub fn answer(&self, number: usize) {
        self.answering.reply_to(&path(number), Reply::Accept);
    }

    /// The run of the last request of this job.
    pub fn last_run(&self, number: usize) -> Option<i64> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        (last.0 == path(number)).then_some(last.1)
    }

    fn set_last(&self, last: (String, i64)) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = last;
    }
}

fn path(number: usize) -> String {
    format!("/answered/{number}")
}

/// Writes down that a request was read and that it is not refused; keeps no request in memory.
fn book(events: &Arc<EventLog>, last: &LastRun) -> impl Fn(&Call, &Reply) -> bool + Send + Sync + 'static {
    let (events, last) = (events.clone(), last.clone());
    move |call, reply| {
        let number =
            |name: &str| call.header(name).and_then(|text| text.trim().parse::<i64>().ok()).unwrap_or_default();
        let key = call.header("carillon-fire-key").unwrap_or_default().trim().to_owned();
        let event = |what, code| Event {
            what,
            code,
            run: number("carillon-run-id"),
            job: key.split(':').next().and_then(|job| job.parse().ok()).unwrap_or_default(),
            attempt: number("carillon-attempt"),
            key: key.clone(),
            ..Event::default()
        };
        events.write(event(What::Receive, 0));
        if !matches!(reply, Reply::Never | Reply::Cut) {
            // Whatever the status: the service has done what it was asked for.
            events.write(event(What::Answer, 200));
        }
        *last.lock().unwrap_or_else(PoisonError::into_inner) = (call.path.clone(), number("carillon-run-id"));
        false
    }
}

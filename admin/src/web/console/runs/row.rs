//! A run as a row of a list.

use carillon_scheduler::{Cause, RunState};
use carillon_store::RunView;

use crate::web::console::badge::{Badge, KILL_ASKED, run_badge};
use crate::web::locale::Message;
use crate::web::page::PageContext;
use crate::web::text::format::duration;
use crate::web::text::names::cause_text;

pub struct RunRow {
    pub run: RunView,
    pub badge: Badge,
    pub cause: Message,
    /// Its duration, so far if it has not ended.
    pub duration: Option<String>,
    /// In English, or as the executor wrote it.
    pub message: String,
    /// How late it was sent, if more than a second.
    pub late: Option<String>,
    /// The last name of its job, which is deleted.
    pub deleted_job: Option<String>,
    /// Whether it can be selected in a list.
    pub has_box: bool,
}

impl RunRow {
    pub fn new(context: &PageContext, run: RunView) -> Self {
        let (language, now) = (context.language, context.now);
        let end = run.finished_at.or((run.state == RunState::Running).then_some(now));
        let badge = match run.kill_asked_at {
            Some(_) if run.state.is_open() => KILL_ASKED,
            _ => run_badge(run.state),
        };
        let late = run.sent_at.map(|sent| sent - run.due_at).filter(|late| *late > 1000);
        Self {
            badge,
            cause: cause_text(language, run.cause),
            duration: run.sent_at.zip(end).map(|(sent, end)| duration(language, end - sent)),
            message: run.message(),
            late: late.map(|late| duration(language, late)),
            deleted_job: None,
            has_box: false,
            run,
        }
    }

    /// It is for an instant of the past, which a list has to name.
    pub fn is_backfill(&self) -> bool {
        self.run.cause == Cause::Backfill
    }
}

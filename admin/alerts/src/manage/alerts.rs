use carillon_accounts::policy::Action;
use carillon_engine::manage::{BulkOutcome, Error, Refusal, require};
use carillon_store::Actor;
use carillon_store::alert::alerts::AlertStep;

use crate::manage::channels::invalid;
use crate::manage::entry_points::{Alerts, object_of};

const MOST_NOTE: usize = 500;
/// Alerts of one request.
const MOST_ALERTS: usize = 1_000;
const DAY: i64 = 86_400;

/// What a person does with open alerts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlertAction {
    /// A person looks after the alert: no reminder, no escalation, and nothing of further events until it is over.
    Acknowledge { note: String },
    /// No message for this time.
    Silence { seconds: i64 },
}

impl Alerts {
    /// # Errors
    /// `Missing`, `Forbidden`, `Invalid`; `Changed`, if it is over already
    pub async fn handle(&self, id: i64, action: &AlertAction, by: &Actor) -> Result<(), Error> {
        let missing = || Error::Missing(format!("alert {id}"));
        let app_id = self.store().alerts().app_of(id).await?.ok_or_else(missing)?;
        require(by, Action::Operate, object_of(app_id), || format!("alert {id}"))?;
        let now = self.now();
        let step = match action {
            AlertAction::Acknowledge { note } => AlertStep::Acknowledge { note: checked_note(note)? },
            AlertAction::Silence { seconds } if (60..=30 * DAY).contains(seconds) => {
                AlertStep::Silence { until: now + seconds * 1000 }
            }
            AlertAction::Silence { .. } => return Err(invalid("seconds", "write seconds from 60 to 2592000")),
        };
        Ok(self.store().alerts().handle(id, step, now, by).await?)
    }

    /// Each alert by itself: one that is over, or that the caller may not handle, keeps the others from nothing.
    ///
    /// # Errors
    /// `Invalid`; those of the database.
    pub async fn handle_all(&self, ids: &[i64], action: &AlertAction, by: &Actor) -> Result<BulkOutcome, Error> {
        if ids.is_empty() || ids.len() > MOST_ALERTS {
            return Err(invalid("ids", "name 1 to 1000 alerts"));
        }
        let (mut done, mut refused) = (0, vec![]);
        for id in ids {
            match self.handle(*id, action, by).await {
                Ok(()) => done += 1,
                Err(error @ (Error::Missing(_) | Error::Changed(_) | Error::Forbidden(_))) => {
                    refused.push(Refusal { id: *id, reason: error.to_string() });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(BulkOutcome { matched: ids.len(), done, refused })
    }
}

fn checked_note(note: &str) -> Result<&str, Error> {
    let note = note.trim();
    if note.chars().count() > MOST_NOTE || note.contains('\0') {
        return Err(invalid("note", &format!("has more than {MOST_NOTE} characters, or the character NUL")));
    }
    Ok(note)
}

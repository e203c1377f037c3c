use carillon_accounts::policy::Action;
use carillon_engine::manage::{Error, require};
use carillon_scheduler::FieldError;
use carillon_store::Actor;

use crate::manage::entry_points::{Alerts, object_of};

const MOST_NOTE: usize = 500;

impl Alerts {
    /// A person has acknowledged the alert: no reminder, no escalation, and nothing of further events until it is over.
    ///
    /// # Errors
    /// `Missing`, `Forbidden`, `Invalid`; `Changed`, if it is over already
    pub async fn acknowledge(&self, id: i64, note: &str, by: &Actor) -> Result<(), Error> {
        let missing = || Error::Missing(format!("alert {id}"));
        let app_id = self.store().app_of_alert(id).await?.ok_or_else(missing)?;
        require(by, Action::Operate, object_of(app_id), || format!("alert {id}"))?;
        let note = note.trim();
        if note.chars().count() > MOST_NOTE || note.contains('\0') {
            let message = format!("has more than {MOST_NOTE} characters, or the character NUL");
            return Err(Error::Invalid(vec![FieldError::new("note", message)]));
        }
        Ok(self.store().acknowledge_alert(id, note, self.now(), by).await?)
    }
}

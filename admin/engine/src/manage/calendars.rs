use carillon_accounts::policy::{Action, Object};
use carillon_scheduler::{Calendar, FieldError};
use carillon_store::{Actor, NamedCalendar};

use crate::manage::authorize::require;
use crate::manage::entry_points::Calendars;
use crate::manage::error::Error;

impl Calendars<'_> {
    /// # Errors
    /// `Forbidden`, `Invalid`, `Taken`
    pub async fn create(&self, calendar: Calendar, by: &Actor) -> Result<NamedCalendar, Error> {
        must_edit(by)?;
        let calendar = checked(calendar)?;
        Ok(self.engine.cx.store.calendars().create(&calendar, self.engine.cx.clock.now(), by).await?)
    }

    /// Gives a calendar another version. Every job that uses it is planned again before this returns. `expected`: the version that the
    /// caller has read.
    ///
    /// # Errors
    /// `Forbidden`, `Missing`, `Invalid`, `Changed`
    pub async fn update(&self, calendar: Calendar, expected: Option<i64>, by: &Actor) -> Result<NamedCalendar, Error> {
        must_edit(by)?;
        let engine = self.engine;
        let name = calendar.name.clone();
        self.get(&name).await?;
        engine.cx.store.calendars().update(&checked(calendar)?, expected, engine.cx.clock.now(), by).await?;
        // The calendar is changed already: jobs that cannot be planned now are planned by the next round of the service.
        if let Err(error) = engine.services.calendar_follower.follow(by).await {
            tracing::warn!(%error, calendar.name = name, "the jobs of a changed calendar could not be read");
        }
        self.get(&name).await
    }

    /// # Errors
    /// `Forbidden`; `Missing`; `InUse`, with the first of the jobs that use it
    pub async fn delete(&self, name: &str, by: &Actor) -> Result<(), Error> {
        must_edit(by)?;
        Ok(self.engine.cx.store.calendars().delete(name, self.engine.cx.clock.now(), by).await?)
    }

    /// # Errors
    /// `Missing`
    pub async fn get(&self, name: &str) -> Result<NamedCalendar, Error> {
        let found = self.engine.cx.store.calendars().get(name).await?;
        found.ok_or_else(|| Error::Missing(format!("calendar {name:?}")))
    }
}

/// The jobs of all apps may use a calendar.
fn must_edit(by: &Actor) -> Result<(), Error> {
    require(by, Action::Edit, Object::Shared, String::new)
}

fn checked(calendar: Calendar) -> Result<Calendar, Error> {
    if calendar.name.contains('/') {
        let message = "must not contain a `/`: it stands in addresses";
        return Err(Error::Invalid(vec![FieldError::new("name", message)]));
    }
    calendar.validate().map_err(Error::Invalid)
}

use carillon_accounts::policy::{Action, Object};
use carillon_scheduler::{FieldError, Millis};
use carillon_store::Actor;
use carillon_store::app::maintenance_windows::{MOST, MOST_TOGETHER, MaintenanceWindow};

use crate::dispatch::maintenance::Maintenance;
use crate::manage::authorize::require;
use crate::manage::entry_points::MaintenanceWindows;
use crate::manage::error::Error;
use crate::manage::pauses::{check_note, operated_app, reached};

/// Longest window: a week.
pub const MAX_WINDOW_MINUTES: i64 = 7 * 24 * 60;
/// Begins of which each must be after the end of the one before.
const COMPARED: usize = 200;
/// Times that a list names.
const LISTED: usize = 3;

/// A window that is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WindowRequest {
    /// None: all apps.
    pub app_id: Option<i64>,
    pub note: String,
    /// When it begins: a cron expression.
    pub expression: String,
    /// The zone of the expression.
    pub timezone: String,
    pub minutes: i64,
}

/// A window with the begins and ends of the one in force, if there is one, and of those ahead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedWindow {
    pub window: MaintenanceWindow,
    pub times: Vec<(Millis, Millis)>,
}

impl PlannedWindow {
    fn new(maintenance: &Maintenance, now: Millis) -> Self {
        Self { window: maintenance.window.clone(), times: maintenance.times(now).take(LISTED).collect() }
    }

    pub fn is_in_force(&self, now: Millis) -> bool {
        self.times.first().is_some_and(|(begin, end)| *begin <= now && now < *end)
    }
}

impl MaintenanceWindows<'_> {
    /// Those of apps that the actor sees, oldest first.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn list(&self, by: &Actor) -> Result<Vec<PlannedWindow>, Error> {
        let cx = &self.engine.cx;
        let now = cx.clock.now();
        let mut windows = cx.store.apps().maintenance_windows().await?;
        windows.retain(|window| window.app_id.is_none_or(|id| by.grants.role_for(id).is_some()));
        // A rule that this version cannot read has no times.
        let planned = windows.into_iter().map(|window| match Maintenance::parse(window.clone()) {
            Ok(maintenance) => PlannedWindow::new(&maintenance, now),
            Err(_) => PlannedWindow { window, times: vec![] },
        });
        Ok(planned.collect())
    }

    /// Pauses an app, or all apps, again and again: from each instant of a cron expression for the same time.
    ///
    /// # Errors
    /// `Forbidden`, `Missing` (the app), `Invalid`
    pub async fn create(&self, request: WindowRequest, by: &Actor) -> Result<PlannedWindow, Error> {
        let cx = &self.engine.cx;
        let app = operated_app(self.engine, request.app_id, by).await?;
        let now = cx.clock.now();
        let app_id = request.app_id;
        let (maintenance, wrong) = parse(request, app, by, now);
        let Some(mut maintenance) = maintenance.filter(|_| wrong.is_empty()) else {
            return Err(Error::Invalid(wrong));
        };
        let others = cx.store.apps().maintenance_windows().await?;
        let alike = others.iter().filter(|other| other.app_id == app_id).count();
        if let Some(most) = reached((alike, MOST), (others.len(), MOST_TOGETHER)) {
            return Err(Error::field("app", format!("there are {most} windows already; delete some of them first")));
        }
        maintenance.window = cx.store.apps().create_maintenance_window(maintenance.window, by).await?;
        self.engine.pauses.follow_change().await;
        Ok(PlannedWindow::new(&maintenance, now))
    }

    /// What is wrong with the members of a window other than its app.
    pub fn check(&self, request: WindowRequest, by: &Actor) -> Vec<FieldError> {
        parse(request, None, by, self.engine.cx.clock.now()).1
    }

    /// Ends the window that is in force; the next one begins at its time.
    ///
    /// # Errors
    /// `Forbidden`. `Missing`: there is no such window, or none of its times is now
    pub async fn end(&self, id: i64, by: &Actor) -> Result<(), Error> {
        let cx = &self.engine.cx;
        let (window, now) = (self.operated(id, by).await?, cx.clock.now());
        let planned = Maintenance::parse(window).ok().map(|maintenance| PlannedWindow::new(&maintenance, now));
        let Some(planned) = planned.filter(|planned| planned.is_in_force(now)) else {
            return Err(Error::Missing(format!("maintenance window {id} in force now")));
        };
        if !cx.store.apps().end_maintenance(&planned.window, now, by).await? {
            return Err(Error::missing("maintenance window", id));
        }
        self.engine.pauses.follow_change().await;
        Ok(())
    }

    /// Deletes a window; if one is in force, it ends.
    ///
    /// # Errors
    /// `Forbidden`, `Missing`
    pub async fn delete(&self, id: i64, by: &Actor) -> Result<(), Error> {
        let cx = &self.engine.cx;
        let window = self.operated(id, by).await?;
        if !cx.store.apps().delete_maintenance_window(&window, cx.clock.now(), by).await? {
            return Err(Error::missing("maintenance window", id));
        }
        self.engine.pauses.follow_change().await;
        Ok(())
    }

    async fn operated(&self, id: i64, by: &Actor) -> Result<MaintenanceWindow, Error> {
        let window = self.engine.cx.store.apps().maintenance_window(id).await?;
        let window = window.ok_or_else(|| Error::missing("maintenance window", id))?;
        let object = window.app_id.map_or(Object::Installation, Object::App);
        require(by, Action::Operate, object, || format!("maintenance window {id}"))?;
        Ok(window)
    }
}

/// The window that is asked for, if its rule can be read, and all that is wrong with it.
fn parse(
    request: WindowRequest,
    app: Option<String>,
    by: &Actor,
    now: Millis,
) -> (Option<Maintenance>, Vec<FieldError>) {
    let WindowRequest { app_id, note, expression, timezone, minutes } = request;
    let mut wrong: Vec<FieldError> = check_note(note.trim()).into_iter().collect();
    if !(1..=MAX_WINDOW_MINUTES).contains(&minutes) {
        let message = format!("{minutes} is not allowed; 1 to {MAX_WINDOW_MINUTES}");
        wrong.push(FieldError::new("minutes", message));
    }
    let window = MaintenanceWindow {
        id: 0,
        app_id,
        app,
        note: note.trim().to_owned(),
        author: by.name.clone(),
        expression: expression.trim().to_owned(),
        timezone: timezone.trim().to_owned(),
        minutes: minutes.clamp(1, MAX_WINDOW_MINUTES) as i32,
        ended_at: None,
        created_at: now,
    };
    let parsed = Maintenance::parse(window).and_then(|it| check_times(&it, now).map(|()| it));
    match parsed {
        Ok(maintenance) => (Some(maintenance), wrong),
        Err(error) => {
            wrong.push(error);
            (None, wrong)
        }
    }
}

/// A window that never ends, or never begins, is a mistake.
fn check_times(maintenance: &Maintenance, now: Millis) -> Result<(), FieldError> {
    let begins: Vec<Millis> = maintenance.begins_after(now).take(COMPARED).collect();
    if begins.is_empty() {
        return Err(FieldError::new("expression", "never starts in the next 100 years; see its day, month and year"));
    }
    let lasts = Millis::from(maintenance.window.minutes) * 60_000;
    match begins.windows(2).map(|pair| pair[1] - pair[0]).min() {
        Some(apart) if apart <= lasts => {
            let message = format!("the window would start again after {} min, before it ends", apart / 60_000);
            Err(FieldError::new("minutes", message))
        }
        _ => Ok(()),
    }
}

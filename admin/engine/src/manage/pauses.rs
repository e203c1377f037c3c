use carillon_accounts::policy::{Action, Object};
use carillon_scheduler::{FieldError, Millis};
use carillon_store::Actor;
use carillon_store::app::pauses::{MOST, MOST_TOGETHER, Pause};

use crate::engine::Engine;
use crate::manage::authorize::require;
use crate::manage::entry_points::Pauses;
use crate::manage::error::Error;

/// Longest note, in characters.
pub const PAUSE_NOTE_CHARS: usize = 500;
/// A pause may begin and end this late: a year ahead.
const FURTHEST_MS: Millis = 366 * 86_400_000;

/// A pause that is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PauseRequest {
    /// None: all apps.
    pub app_id: Option<i64>,
    pub note: String,
    /// None: now.
    pub from: Option<Millis>,
    /// None: until it is ended.
    pub until: Option<Millis>,
}

impl Pauses<'_> {
    /// Those in force and ahead of apps that the actor sees, in the order of their starts.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn list(&self, by: &Actor) -> Result<Vec<Pause>, Error> {
        let cx = &self.engine.cx;
        let mut pauses = cx.store.apps().pauses_from(cx.clock.now()).await?;
        pauses.retain(|pause| is_visible(pause, by));
        Ok(pauses)
    }

    /// Those in force that this node knows; asks no database.
    pub fn in_force(&self, by: &Actor) -> Vec<Pause> {
        let mut pauses = self.engine.pauses.in_force(self.engine.cx.clock.now());
        pauses.retain(|pause| is_visible(pause, by));
        pauses
    }

    /// Pauses an app or all apps: no fire of a schedule is sent meanwhile, and retries, children and backfills wait. Runs that
    /// are asked for are sent, and runs under way go on. Counts on all nodes within two seconds.
    ///
    /// # Errors
    /// `Forbidden`, `Missing` (the app), `Invalid`
    pub async fn create(&self, request: PauseRequest, by: &Actor) -> Result<Pause, Error> {
        let cx = &self.engine.cx;
        let app = operated_app(self.engine, request.app_id, by).await?;
        let now = cx.clock.now();
        let note = request.note.trim().to_owned();
        let starts_at = request.from.unwrap_or(now).max(now);
        let wrong = wrong_members(&note, &request, now);
        if !wrong.is_empty() {
            return Err(Error::Invalid(wrong));
        }
        let others = cx.store.apps().pauses_from(now).await?;
        let alike = others.iter().filter(|other| other.app_id == request.app_id).count();
        if let Some(most) = reached((alike, MOST), (others.len(), MOST_TOGETHER)) {
            return Err(Error::field("app", format!("there are {most} pauses already; end some of them first")));
        }
        let author = by.name.clone();
        let PauseRequest { app_id, until, .. } = request;
        let pause = Pause { id: 0, app_id, app, note, author, starts_at, ends_at: until, created_at: now };
        let pause = cx.store.apps().create_pause(pause, by).await?;
        self.engine.pauses.follow_change().await;
        Ok(pause)
    }

    /// What is wrong with the members of a pause other than its app.
    pub fn check(&self, request: &PauseRequest) -> Vec<FieldError> {
        wrong_members(request.note.trim(), request, self.engine.cx.clock.now())
    }

    /// Ends a pause; one that is ahead is given up. What its jobs missed is not made up for.
    ///
    /// # Errors
    /// `Forbidden`. `Missing`: there is no such pause, or it has ended
    pub async fn end(&self, id: i64, by: &Actor) -> Result<(), Error> {
        let cx = &self.engine.cx;
        let missing = || Error::missing("pause", id);
        let pause = cx.store.apps().pause(id).await?.ok_or_else(missing)?;
        let object = pause.app_id.map_or(Object::Installation, Object::App);
        require(by, Action::Operate, object, || format!("pause {id}"))?;
        if !cx.store.apps().end_pause(&pause, cx.clock.now(), by).await? {
            return Err(missing());
        }
        self.engine.pauses.follow_change().await;
        Ok(())
    }
}

/// The name of the app that is to be paused, if the actor may pause it; None: all apps.
pub(super) async fn operated_app(engine: &Engine, app_id: Option<i64>, by: &Actor) -> Result<Option<String>, Error> {
    let Some(id) = app_id else {
        require(by, Action::Operate, Object::Installation, String::new)?;
        return Ok(None);
    };
    require(by, Action::Operate, Object::App(id), || format!("app {id}"))?;
    Ok(Some(engine.apps().get(id).await?.name))
}

/// A pause of all apps is visible to every actor that sees an app.
fn is_visible(pause: &Pause, by: &Actor) -> bool {
    pause.app_id.is_none_or(|id| by.grants.role_for(id).is_some())
}

/// The limit that is reached: that of one app, or that of all together.
pub(super) fn reached(one: (usize, usize), together: (usize, usize)) -> Option<usize> {
    [one, together].into_iter().find(|(count, most)| count >= most).map(|(_, most)| most)
}

/// What is wrong with the note of a pause, which must not be empty.
pub(super) fn check_note(note: &str) -> Option<FieldError> {
    match note.is_empty() {
        true => Some(FieldError::new("note", "must say why, so that others know whether it may be ended")),
        false => wrong_note(note),
    }
}

fn wrong_members(note: &str, request: &PauseRequest, now: Millis) -> Vec<FieldError> {
    let mut wrong: Vec<FieldError> = check_note(note).into_iter().collect();
    let begin = request.from.unwrap_or(now).max(now);
    if begin > now + FURTHEST_MS {
        wrong.push(FieldError::new("from", "is more than a year ahead"));
    } else if request.until.is_some_and(|until| until <= begin) {
        wrong.push(FieldError::new("until", "must be later than now and later than the start"));
    } else if request.until.is_some_and(|until| until > now + FURTHEST_MS) {
        wrong.push(FieldError::new("until", "is more than a year ahead"));
    }
    wrong
}

/// What is wrong with the note of a pause; it may be empty.
pub(super) fn wrong_note(note: &str) -> Option<FieldError> {
    match note.chars().count() {
        count if count > PAUSE_NOTE_CHARS => {
            let message = format!("has {count} characters; at most {PAUSE_NOTE_CHARS} are allowed");
            Some(FieldError::new("note", message))
        }
        _ if note.contains('\0') => Some(FieldError::new("note", "must not contain the character NUL")),
        _ => None,
    }
}

/// What is wrong with the end of a pause that begins now.
pub(super) fn wrong_end(field: &str, end: Millis, now: Millis) -> Option<FieldError> {
    match end {
        end if end <= now => Some(FieldError::new(field, "must be later than now")),
        end if end > now + FURTHEST_MS => Some(FieldError::new(field, "is more than a year ahead")),
        _ => None,
    }
}

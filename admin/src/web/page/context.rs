//! The context of a page: its viewer, colours and time zone, and how it writes times and durations.

use actix_web::{HttpMessage, HttpRequest, web};
use carillon_accounts::policy::{self, Action, Object};
use carillon_scheduler::zone::ZoneSource;
use carillon_scheduler::{Millis, Zone, zone_data};
use carillon_store::app::pauses::Pause;
use carillon_store::{Actor, Grants, Role, VisibleApps};

use crate::web::from_request::from_request;
use crate::web::guard::request_id::RequestId;
use crate::web::guard::session_cookie::Viewer;
use crate::web::guard::{cookies, csrf};
use crate::web::locale::{Count, Language, Message, grouped, language_of, script_words};
use crate::web::page::assets;
use crate::web::page::flash::{self, Flash};
use crate::web::state::State;
use crate::web::text::format::{from_now, period, relative, utc};
use crate::web::text::names::role_name;

/// Pauses in force that each page names.
const SHOWN_PAUSES: usize = 3;

pub const THEME: &str = "carillon_theme";
pub const ZONE: &str = "carillon_zone";

/// What the layout of a page needs.
#[derive(Clone, Debug)]
pub struct PageContext {
    pub viewer: Option<Viewer>,
    /// The viewer as the policy knows it; may do nothing where there is none.
    pub actor: Actor,
    /// The form token for this answer.
    pub csrf: String,
    /// `system`, `light` or `dark`.
    pub theme: &'static str,
    pub language: Language,
    pub zone: Zone,
    pub now: Millis,
    pub flash: Option<Flash>,
    /// Redis is set and cannot be reached from this node.
    pub degraded: bool,
    /// Pauses in force of what the viewer sees.
    pub pauses: Vec<Pause>,
    /// The requested address with its query; preferences lead back to it.
    pub here: String,
    pub request_id: String,
}

impl PageContext {
    pub fn new(request: &HttpRequest) -> Self {
        let viewer = request.extensions().get::<Viewer>().cloned();
        let now = request.app_data::<web::Data<State>>().map_or(0, |state| state.clock.now());
        let actor = request.extensions().get::<Actor>().cloned();
        let here = request.uri().path_and_query();
        let degraded = request.app_data::<web::Data<State>>().is_some_and(|state| state.engine.is_degraded());
        let actor = actor.unwrap_or_else(|| Actor::new("", "", Grants::default()));
        let state = request.app_data::<web::Data<State>>().filter(|_| viewer.is_some());
        Self {
            pauses: state.map_or_else(Vec::new, |state| state.engine.pauses().in_force(&actor)),
            degraded: degraded && viewer.is_some(),
            csrf: viewer.as_ref().map_or_else(String::new, |v| csrf::masked(&v.csrf)),
            actor,
            theme: theme(cookies::read(request, THEME).as_ref().map_or("", |c| c.value())),
            language: language_of(request, viewer.as_ref().and_then(|viewer| viewer.language.as_deref())),
            zone: zone(request),
            now,
            flash: flash::read(request),
            here: here.map_or_else(|| "/".to_owned(), ToString::to_string),
            request_id: request.extensions().get::<RequestId>().map_or_else(String::new, |id| id.0.clone()),
            viewer,
        }
    }

    /// A text of the catalogue.
    pub fn t(&self, key: &'static str) -> Message {
        self.language.text(key)
    }

    /// A sentence that was written in English, such as an error.
    pub fn say(&self, text: &str) -> String {
        self.language.say(text).into_owned()
    }

    /// An error beside the label of its field.
    pub fn fault(&self, label: impl ToString, message: &str) -> Message {
        self.t("field-fault").with("field", label).with("message", self.language.say(message))
    }

    pub fn role(&self, role: &Role) -> Message {
        role_name(self.language, *role)
    }

    /// `24 hours`, `7 days`.
    pub fn span(&self, hours: &u32) -> Message {
        match hours {
            0..=24 => self.t("span-hours").count("count", hours),
            _ => self.t("span-days").count("count", hours / 24),
        }
    }

    /// Those that are named on each page; that of all apps first.
    pub fn shown_pauses(&self) -> Vec<&Pause> {
        let mut pauses: Vec<&Pause> = self.pauses.iter().collect();
        pauses.sort_by_key(|pause| pause.app.is_some());
        pauses.truncate(SHOWN_PAUSES);
        pauses
    }

    /// The pause in force of an app that lasts longest.
    pub fn pause_of(&self, app_id: i64) -> Option<&Pause> {
        let of_app = self.pauses.iter().filter(|pause| pause.concerns(app_id));
        of_app.max_by_key(|pause| pause.ends_at.unwrap_or(Millis::MAX))
    }

    pub fn further_pauses(&self) -> usize {
        self.pauses.len().saturating_sub(SHOWN_PAUSES)
    }

    /// The page to come back to after a choice: a step of signing in has no address of its own.
    pub fn way_back(&self) -> &str {
        if self.here.starts_with("/login/") { "/login" } else { &self.here }
    }

    /// All languages, for the choice among them.
    pub fn languages(&self) -> &'static [Language] {
        &Language::ALL
    }

    /// What the scripts write, as JSON: the messages with the names of their arguments in braces.
    pub fn script_words(&self) -> &'static str {
        script_words(self.language)
    }

    /// The apps of which lists show the objects.
    pub fn visible(&self) -> VisibleApps {
        self.actor.grants.visible_apps()
    }

    /// Whether the viewer sees what is of no app, such as the nodes.
    pub fn may_see_installation(&self) -> bool {
        policy::may(&self.actor, Action::View, Object::Installation)
    }

    /// Whether the viewer sees what all apps share, such as calendars.
    pub fn may_see_shared(&self) -> bool {
        policy::may(&self.actor, Action::View, Object::Shared)
    }

    pub fn may_see(&self, app_id: &i64) -> bool {
        policy::may(&self.actor, Action::View, Object::App(*app_id))
    }

    pub fn may_operate_installation(&self) -> bool {
        policy::may(&self.actor, Action::Operate, Object::Installation)
    }

    pub fn may_administer_installation(&self) -> bool {
        policy::may(&self.actor, Action::Administer, Object::Installation)
    }

    /// Whether there is an app whose audit the viewer sees.
    pub fn may_see_audit(&self) -> bool {
        policy::may(&self.actor, Action::Administer, Object::AnyApp)
    }

    pub fn may_administer(&self, app_id: &i64) -> bool {
        policy::may(&self.actor, Action::Administer, Object::App(*app_id))
    }

    pub fn may_edit(&self, app_id: &i64) -> bool {
        policy::may(&self.actor, Action::Edit, Object::App(*app_id))
    }

    pub fn may_write_scripts(&self, app_id: &i64) -> bool {
        policy::may(&self.actor, Action::Script, Object::App(*app_id))
    }

    pub fn may_operate(&self, app_id: &i64) -> bool {
        policy::may(&self.actor, Action::Operate, Object::App(*app_id))
    }

    /// Whether the viewer may change what all apps share, such as calendars.
    pub fn may_edit_shared(&self) -> bool {
        policy::may(&self.actor, Action::Edit, Object::Shared)
    }

    /// Whether there is an app in which the viewer may create jobs.
    pub fn may_create_jobs(&self) -> bool {
        policy::may(&self.actor, Action::Edit, Object::AnyApp)
    }

    pub fn asset(&self, name: &str) -> String {
        assets::url(name)
    }

    /// Whether the page is below this address, for the mark in the side bar.
    pub fn is_in(&self, section: &str) -> bool {
        let path = self.here.split('?').next().unwrap_or("");
        path == section || (section != "/" && path.strip_prefix(section).is_some_and(|rest| rest.starts_with('/')))
    }

    /// A whole number: `63,358`.
    pub fn number(&self, number: impl Count) -> String {
        grouped(number)
    }

    /// Seconds in the largest unit that they are a multiple of: `5 minutes`.
    pub fn period(&self, seconds: impl Count) -> String {
        period(self.language, seconds.count())
    }

    /// For `datetime` attributes.
    pub fn iso(&self, at: &Millis) -> String {
        utc(*at).format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
    }

    /// In the viewer's zone.
    fn local(&self, at: &Millis, format: &str) -> String {
        utc(*at).with_timezone(&self.zone).format(format).to_string()
    }

    /// In full, in the viewer's zone: `2026-11-21 09:56:12 UTC+1`.
    pub fn full(&self, at: &Millis) -> String {
        self.local(at, "%Y-%m-%d %H:%M:%S %Z")
    }

    /// The time of day alone, for a chart.
    pub fn clock(&self, at: &Millis) -> String {
        self.local(at, "%H:%M:%S")
    }

    /// With milliseconds, for the timeline of a run.
    pub fn exact(&self, at: &Millis) -> String {
        self.local(at, "%Y-%m-%d %H:%M:%S%.3f")
    }

    /// `in 3 min`, `2 h ago`; a date when it is more than a day away.
    pub fn relative(&self, at: &Millis) -> String {
        relative(self.language, *at, self.now).unwrap_or_else(|| self.local(at, "%Y-%m-%d %H:%M"))
    }

    /// The same for a fire that is still to come. One whose instant has passed is due.
    pub fn next_fire(&self, at: &Millis) -> String {
        if *at < self.now { self.t("due-now").to_string() } else { self.relative(at) }
    }

    /// The distance from now, in days where it is more than one.
    pub fn away(&self, at: &Millis) -> String {
        from_now(self.language, *at, self.now)
    }

    /// Edition and source of the time zone data: `tzdata 2026f (compiled in)`.
    pub fn zone_data(&self) -> String {
        let data = zone_data();
        let source = match data.source() {
            ZoneSource::CompiledIn => self.t("zones-compiled-in").to_string(),
            ZoneSource::Folder(folder) => folder.display().to_string(),
        };
        format!("tzdata {} ({source})", data.version())
    }

    pub fn zone_name(&self) -> &'static str {
        self.zone.name()
    }
}

from_request!(PageContext: actix_web::Error, |request| Ok(Self::new(request)));

/// One of the three themes; any other text means the system's.
pub fn theme(text: &str) -> &'static str {
    match text {
        "light" => "light",
        "dark" => "dark",
        _ => "system",
    }
}

fn zone(request: &HttpRequest) -> Zone {
    cookies::read(request, ZONE).and_then(|cookie| cookie.value().parse().ok()).unwrap_or(Zone::UTC)
}

//! The form of a calendar: a new one, and changes of one that is there.

use actix_web::web::Path;
use askama::Template;
use carillon_engine::manage::Error;
use carillon_scheduler::{Calendar, Weekday};
use carillon_store::NamedCalendar;

use crate::web::access::Caller;
use crate::web::console::calendars::preview::{CalendarPreview, preview};
use crate::web::forms::Form;
use crate::web::forms::calendar_form::{LABELS, calendar_of, filled};
use crate::web::locale::Message;
use crate::web::page::{PageContext, PageResult, done, render};
use crate::web::state::{Shared, State};
use crate::web::text::names::weekday_name;

#[derive(Template)]
#[template(path = "calendars/form.html")]
struct Page {
    context: PageContext,
    /// The one that is changed.
    before: Option<NamedCalendar>,
    form: Form,
    preview: Option<CalendarPreview>,
}

impl Page {
    fn label(&self, name: &str) -> &'static str {
        LABELS.iter().find(|(field, _)| *field == name).map_or("", |(_, label)| label)
    }

    fn target(&self, name: &str) -> &'static str {
        match name {
            "weekdays" => "weekday-MON",
            "title" => "title",
            "days" => "days",
            "extra" => "extra",
            _ => "name",
        }
    }

    /// The words of the form, and the names of the days.
    fn weekdays(&self) -> impl Iterator<Item = (&'static str, Message)> {
        Weekday::ALL.iter().map(|day| (day.as_str(), weekday_name(self.context.language, *day)))
    }
}

async fn page(state: &State, context: PageContext, before: Option<NamedCalendar>, mut form: Form) -> PageResult {
    // The preview is of what is typed, even where another field is wrong.
    let calendar = calendar_of(&mut form.clone());
    form.sort_errors(LABELS);
    let is_empty = calendar.weekdays.is_empty() && calendar.days.is_empty() && before.is_none();
    let preview = match is_empty {
        true => None,
        false => Some(preview(&state.store, &context, calendar, before.is_some()).await?),
    };
    let status = form.status();
    Ok(render(&Page { context, before, form, preview }, status))
}

/// `GET /calendars/new`
pub async fn new(state: Shared, context: PageContext) -> PageResult {
    page(&state, context, None, Form::default()).await
}

/// `POST /calendars`
pub async fn create(state: Shared, by: Caller, context: PageContext, form: Form) -> PageResult {
    save(&state, by, context, None, form).await
}

/// `GET /calendars/{name}/edit`
pub async fn edit(state: Shared, context: PageContext, name: Path<String>) -> PageResult {
    let before = state.engine.calendars().get(&name).await?;
    let form = filled(context.language, &before.calendar).with("version", before.version.to_string());
    page(&state, context, Some(before), form).await
}

/// `POST /calendars/{name}/edit`
pub async fn update(state: Shared, by: Caller, context: PageContext, name: Path<String>, form: Form) -> PageResult {
    let before = state.engine.calendars().get(&name).await?;
    save(&state, by, context, Some(before), form).await
}

async fn save(
    state: &State,
    by: Caller,
    context: PageContext,
    before: Option<NamedCalendar>,
    form: Form,
) -> PageResult {
    let (mut form, calendar) = read(form, before.as_ref());
    let seen = before.as_ref().map(|before| form.number("version", before.version));
    if form.is_valid() && !form.is("step", "preview") {
        let calendars = state.engine.calendars();
        let saved = match seen {
            Some(_) => calendars.update(calendar, seen, &by.0).await,
            None => calendars.create(calendar, &by.0).await,
        };
        if let Err(Error::Changed(_)) = &saved {
            form.add_error("version", "Another user has changed this calendar since you opened it.");
        } else if let Some(saved) = form.accept_named("There is a calendar of this name already.", saved)? {
            let text = context.t("calendar-is-saved").with("name", &saved.calendar.name);
            return Ok(done("/calendars", text));
        }
    }
    page(state, context, before, form).await
}

/// The name of a calendar does not change.
fn read(mut form: Form, before: Option<&NamedCalendar>) -> (Form, Calendar) {
    if let Some(before) = before {
        form.set("name", &before.calendar.name);
    }
    let calendar = calendar_of(&mut form);
    if !form.is_valid() {
        form.add_errors(calendar.clone().validate().err().unwrap_or_default());
    }
    (form, calendar)
}

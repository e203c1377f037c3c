//! `GET /calendars`: the list.

use std::collections::BTreeSet;

use actix_web::web::Query;
use askama::Template;
use carillon_inspect::preview;
use carillon_store::NamedCalendar;
use chrono::NaiveDate;
use serde::Deserialize;

use crate::web::locale::Language;
use crate::web::page::{PageContext, PageResult, show};
use crate::web::state::Shared;
use crate::web::text::names::{day_text, weekday_name};

const PAGE: u32 = 50;
/// Days that are named of each calendar.
const DAYS: usize = 8;

/// A calendar as a card.
struct Card {
    calendar: NamedCalendar,
    weekdays: String,
    days: Days,
    extra: Days,
}

impl Card {
    /// With the key of the name of each.
    fn lists(&self) -> [(&'static str, &Days); 2] {
        [("calendar-days", &self.days), ("calendar-extra", &self.extra)]
    }
}

/// The next days of a list.
struct Days {
    next: Vec<String>,
    more: usize,
    past: usize,
}

#[derive(Template)]
#[template(path = "calendars/list.html")]
struct Page {
    context: PageContext,
    cards: Vec<Card>,
    next: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct ListQuery {
    after: Option<String>,
}

/// `GET /calendars`
pub async fn list(state: Shared, context: PageContext, query: Query<ListQuery>) -> PageResult {
    let page = state.store.calendars().list(query.after.as_deref(), PAGE).await?;
    let today = preview::local(context.now, context.zone).date_naive();
    let card = |calendar: NamedCalendar| Card {
        weekdays: weekdays(context.language, &calendar),
        days: days(context.language, &calendar.calendar.days, today),
        extra: days(context.language, &calendar.calendar.extra, today),
        calendar,
    };
    let page = Page { cards: page.items.into_iter().map(card).collect(), next: page.next, context };
    Ok(show(&page))
}

fn weekdays(language: Language, calendar: &NamedCalendar) -> String {
    let days = calendar.calendar.weekdays.iter();
    days.map(|day| weekday_name(language, *day).to_string()).collect::<Vec<_>>().join(", ")
}

fn days(language: Language, all: &BTreeSet<NaiveDate>, today: NaiveDate) -> Days {
    let ahead = all.range(today..).count();
    let next = all.range(today..).take(DAYS);
    Days {
        next: next.map(|day| day_text(language, *day)).collect(),
        more: ahead.saturating_sub(DAYS),
        past: all.len() - ahead,
    }
}

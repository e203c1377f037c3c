//! `GET /calendars`: the list.

use actix_web::web;
use askama::Template;
use carillon_inspect::preview;
use carillon_scheduler::Weekday;
use carillon_store::NamedCalendar;
use chrono::NaiveDate;
use serde::Deserialize;

use crate::web::locale::Language;
use crate::web::page::{PageContext, PageResult, show};
use crate::web::state::Shared;

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
pub async fn list(state: Shared, context: PageContext, query: web::Query<ListQuery>) -> PageResult {
    let page = state.store.calendars(query.after.as_deref(), PAGE).await?;
    let today = preview::local(context.now, context.zone).date_naive();
    let card = |calendar: NamedCalendar| Card {
        weekdays: weekdays(context.language, &calendar),
        days: days(&calendar.calendar.days, today),
        extra: days(&calendar.calendar.extra, today),
        calendar,
    };
    let page = Page { cards: page.items.into_iter().map(card).collect(), next: page.next, context };
    Ok(show(&page))
}

fn weekdays(language: Language, calendar: &NamedCalendar) -> String {
    let days = calendar.calendar.weekdays.iter();
    let words: Vec<String> = days
        .map(|day| match day {
            Weekday::Mon => "day-mon",
            Weekday::Tue => "day-tue",
            Weekday::Wed => "day-wed",
            Weekday::Thu => "day-thu",
            Weekday::Fri => "day-fri",
            Weekday::Sat => "day-sat",
            Weekday::Sun => "day-sun",
        })
        .map(|key| language.text(key).to_string())
        .collect();
    words.join(", ")
}

fn days(all: &std::collections::BTreeSet<NaiveDate>, today: NaiveDate) -> Days {
    let ahead = all.range(today..).count();
    let next = all.range(today..).take(DAYS);
    Days {
        next: next.map(|day| day.format("%a %Y-%m-%d").to_string()).collect(),
        more: ahead.saturating_sub(DAYS),
        past: all.len() - ahead,
    }
}

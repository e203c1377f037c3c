//! The next fires of a schedule, saved or not, or the first error in it.

use actix_web::HttpRequest;
use askama::Template;
use carillon_engine::manage::{Error, PreviewRequest};
use carillon_inspect::preview;
use carillon_scheduler::{FieldError, JobDraft, Millis, Zone};
use carillon_store::Job;

use crate::web::forms::job_form::filled;
use crate::web::forms::moment::zone_of;
use crate::web::forms::schedule_form::{LABELS, is_blank, schedule_of};
use crate::web::forms::{Fields, Form, field_of};
use crate::web::locale::Language;
use crate::web::page::{PageContext, PageError, PageResult, show};
use crate::web::state::{Shared, State};
use crate::web::text::names::day_text;

const COUNT: usize = 5;
/// Days that are named; the API lists all of them.
const DAYS: usize = 6;

/// The next fires of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Preview {
    /// There is no schedule.
    Never,
    /// The form's field, and the message for it.
    Wrong { field: String, message: String },
    Fires {
        zone: &'static str,
        fires: Vec<Instant>,
        /// The zone's clocks change between these fires.
        clock_change: bool,
        /// There are no more than these.
        ends: bool,
        /// Sentences: the spread, excluded days, clock changes.
        notes: Vec<String>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instant {
    pub at: Millis,
    /// `Sat 2026-11-21 03:00:00`, in the job's zone.
    pub local: String,
    /// `02:00:00`, or with its date where that is another one.
    pub utc: String,
    /// `+01:00`
    pub offset: String,
}

impl Preview {
    fn of(language: Language, looked: preview::Preview) -> Self {
        let zone = looked.zone;
        let fires: Vec<Instant> = looked.fires.iter().map(|at| instant(language, *at, zone)).collect();
        let say = |note: &String| language.say(note).into_owned();
        let mut notes: Vec<String> = looked.spread.iter().map(|it| say(&it.why)).collect();
        notes.extend(excluded(language, &looked.excluded));
        notes.extend(looked.notes.iter().map(say));
        Self::Fires {
            zone: zone.name(),
            clock_change: fires.iter().any(|fire| fire.offset != fires[0].offset),
            fires,
            ends: looked.ends,
            notes,
        }
    }
}

/// Of a stored job: the fires after the pauses that have an end.
pub fn of_job(context: &PageContext, job: &Job) -> Preview {
    let own_end = job.pause.as_ref().and_then(|pause| pause.ends_at);
    let end_of_app = context.pause_of(job.app_id).and_then(|pause| pause.ends_at);
    let from = [own_end, end_of_app].into_iter().flatten().fold(context.now, Millis::max);
    if job.draft.schedule.kind() == "none" {
        return Preview::Never;
    }
    match preview::of_job(job, from, COUNT, context.now) {
        Ok(looked) => Preview::of(context.language, looked),
        Err(error) => wrong(&error),
    }
}

fn wrong(error: &FieldError) -> Preview {
    let field = field_of(&error.field);
    Preview::Wrong { field: field.to_owned(), message: error.message.clone() }
}

fn instant(language: Language, at: Millis, zone: Zone) -> Instant {
    let (utc, local) = (preview::local(at, Zone::UTC), preview::local(at, zone));
    let same_day = local.date_naive() == utc.date_naive();
    // Parts of a second are shown where there are any.
    let format = if same_day { "%H:%M:%S%.f" } else { "%m-%d %H:%M:%S%.f" };
    Instant {
        at,
        local: format!("{} {}", day_text(language, local.date_naive()), local.format("%H:%M:%S%.f")),
        utc: utc.format(format).to_string(),
        offset: local.offset().to_string(),
    }
}

/// `Left out by bank: Thu 2026-12-24, Fri 2026-12-25.`
fn excluded(language: Language, days: &[preview::ExcludedDay]) -> Option<String> {
    let first = days.first()?;
    let day = |excluded: &preview::ExcludedDay| {
        let day = day_text(language, excluded.day);
        let moved = |to| language.text("preview-moved-day").with("day", &day).with("target", day_text(language, to));
        excluded.moved_to.map_or_else(|| day.clone(), |to| moved(to).to_string())
    };
    let mut named: Vec<String> = days.iter().take(DAYS).map(day).collect();
    if days.len() > DAYS {
        named.push(language.text("days-and-more").with("count", days.len() - DAYS).to_string());
    }
    let mut calendars: Vec<String> = days.iter().flat_map(|day| day.calendars.iter().cloned()).collect();
    calendars.sort_unstable();
    calendars.dedup();
    let both = |first: String, second: String| {
        language.text("calendars-and").with("first", first).with("second", second).to_string()
    };
    let key = match first.moved_to {
        Some(_) => "preview-moved",
        None => "preview-left-out",
    };
    let calendars = calendars.into_iter().reduce(both).unwrap_or_default();
    Some(language.text(key).with("calendars", calendars).with("days", named.join(", ")).to_string())
}

/// Of a form; `before` is the job that it changes.
pub async fn of_form(
    state: &State,
    form: &Form,
    before: Option<&Job>,
    context: &PageContext,
) -> Result<Preview, PageError> {
    if is_blank(form) {
        return Ok(Preview::Never);
    }
    let mut form = form.clone();
    form.forget_errors();
    let Some(schedule) = schedule_of(&mut form, context.zone) else {
        form.sort_errors(LABELS);
        let first = form.errors().first();
        return Ok(first.map_or(Preview::Never, |(name, message)| wrong(&FieldError::new(name, message))));
    };
    let durability = form.word("durability");
    let named = |name: &str| match form.value(name).trim() {
        "" => "preview".to_owned(),
        text => text.chars().take(64).collect(),
    };
    let draft = JobDraft { schedule, durability, ..JobDraft::new(named("app"), named("name"), named("handler")) };
    let ask = PreviewRequest { draft: &draft, before, needs_app: false, from: None, count: COUNT };
    match state.engine.jobs().preview(&ask, &context.actor).await {
        Ok(looked) => Ok(Preview::of(context.language, looked)),
        Err(Error::Invalid(errors)) => {
            let of_schedule = |error: &&FieldError| error.field.starts_with("schedule");
            Ok(errors.iter().find(of_schedule).map_or(Preview::Never, wrong))
        }
        Err(error) => Err(error.into()),
    }
}

#[derive(Template)]
#[template(path = "jobs/preview.html")]
struct PreviewFragment {
    context: PageContext,
    preview: Preview,
}

/// `GET /jobs/preview`: a part of the form's page. The query has the form's fields and the id of the job that it changes.
pub async fn fragment(state: Shared, request: HttpRequest, context: PageContext) -> PageResult {
    let fields = url::form_urlencoded::parse(request.query_string().as_bytes());
    let mut form = Form::from(Fields(fields.into_owned().collect()));
    let before = match form.value("job").parse() {
        Ok(id) => state.store.jobs().get(id).await?.filter(|job| context.may_see(&job.app_id)),
        Err(_) => None,
    };
    if let Some(job) = &before {
        form.keep_locked(&filled(&job.draft, zone_of(&form, context.zone)));
    }
    let preview = of_form(&state, &form, before.as_ref(), &context).await?;
    Ok(show(&PreviewFragment { context, preview }))
}

#[cfg(test)]
mod tests {
    use carillon_scheduler::{Schedule, ScheduleContext, ScheduleDraft};

    use super::*;
    use carillon_store::Calendars;

    /// 2026-03-28T00:00:00Z
    const NOW: Millis = 1_774_656_000_000;

    fn cron(expression: &str, zone: &str) -> Preview {
        let draft = ScheduleDraft::cron(expression, zone);
        let schedule = Schedule::parse(&draft, &ScheduleContext::from_anchor(NOW)).unwrap();
        let span = preview::Span { from: NOW, count: COUNT, fires_left: None, now: NOW };
        Preview::of(Language::English, preview::preview(&schedule, &Calendars::default(), None, span))
    }

    #[test]
    fn five_fires_in_the_zone_of_the_job_and_in_utc() {
        let Preview::Fires { zone, fires, clock_change, ends, notes } = cron("0 0 3 * * ?", "Europe/Berlin") else {
            panic!("no fires");
        };
        assert_eq!((zone, fires.len(), clock_change, ends), ("Europe/Berlin", 5, true, false));
        assert_eq!((fires[0].local.as_str(), fires[0].utc.as_str()), ("Sat 2026-03-28 03:00:00", "02:00:00"));
        assert_eq!((fires[2].utc.as_str(), fires[2].offset.as_str()), ("01:00:00", "+02:00"));
        assert_eq!(notes, Vec::<String>::new());
    }

    #[test]
    fn utc_says_its_date_where_it_is_another_one() {
        let Preview::Fires { fires, .. } = cron("0 0 3 * * ?", "Asia/Shanghai") else {
            panic!("no fires");
        };
        assert_eq!((fires[0].local.as_str(), fires[0].utc.as_str()), ("Sun 2026-03-29 03:00:00", "03-28 19:00:00"));
    }

    #[test]
    fn excluded_days_make_one_sentence() {
        let excluded = |days: &[_]| excluded(Language::English, days);
        let day = |day: &str, to: Option<&str>| preview::ExcludedDay {
            day: day.parse().unwrap(),
            moved_to: to.map(|to| to.parse().unwrap()),
            calendars: vec!["bank".into()],
        };
        let text = excluded(&[day("2026-12-24", None), day("2026-12-25", None)]);
        assert_eq!(text.unwrap(), "Left out by bank: Thu 2026-12-24, Fri 2026-12-25.");
        let moved = excluded(&[day("2026-12-25", Some("2026-12-28"))]);
        assert_eq!(moved.unwrap(), "Moved by bank: Fri 2026-12-25 to Mon 2026-12-28.");
        let many: Vec<_> = (1..=9).map(|number| day(&format!("2026-12-0{number}"), None)).collect();
        assert!(excluded(&many).unwrap().ends_with("Sun 2026-12-06, and 3 more."));
        assert_eq!(excluded(&[]), None);
    }
}

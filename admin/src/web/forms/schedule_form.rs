//! The fields of a schedule: how a stored one fills them, and the draft that they describe.

use carillon_scheduler::{ClockChanges, CronDraft, DailyDraft, Excluded, KindDraft, ScheduleDraft, Weekday, Zone};

use crate::web::forms::form::{Form, milliseconds};
use crate::web::forms::moment::{self, moment};
use crate::web::forms::time_zone;

/// The form's fields and the keys of their labels.
pub const LABELS: &[(&str, &str)] = &[
    ("kind", "schedule"),
    ("expression", "cron-expression"),
    ("seconds", "interval"),
    ("at", "schedule-at"),
    ("every_seconds", "interval"),
    ("from", "from"),
    ("to", "to"),
    ("weekdays", "schedule-days"),
    ("timezone", "time-zone"),
    ("clock_changes", "clock-changes"),
    ("start_at", "not-before"),
    ("end_at", "not-after"),
    ("max_fires", "most-fires"),
    ("spread_seconds", "spread"),
    ("calendars", "nav-calendars"),
    ("on_excluded", "on-excluded"),
];

/// Fills the fields; those of the other kinds get what a new job would have. Times are in the viewer's zone.
pub fn fill(form: Form, draft: &ScheduleDraft, zone: Zone) -> Form {
    let days: Vec<&str> = Weekday::ALL.iter().map(|day| day.as_str()).collect();
    let count = |count: u32| match count {
        0 => String::new(),
        count => count.to_string(),
    };
    let form = form
        .with("kind", draft.kind())
        .with("timezone", "UTC")
        .with("from", "08:00")
        .with("to", "18:00")
        .with("weekdays", days.join("\n"))
        .with("max_fires", count(draft.max_fires.unwrap_or(0)))
        .with("spread_seconds", count(draft.spread_seconds))
        .with("calendars", draft.calendars.join("\n"))
        .with("on_excluded", draft.excluded.as_str());
    let form = moment::fill(form, "start_at", draft.start_at, zone);
    let form = moment::fill(form, "end_at", draft.end_at, zone);
    match &draft.kind {
        KindDraft::None => form,
        KindDraft::Cron(cron) | KindDraft::UnixCron(cron) => form
            .with("expression", &cron.expression)
            .with("timezone", &cron.timezone)
            .with("clock_changes", cron.clock_changes.as_str()),
        KindDraft::FixedRate { seconds } | KindDraft::FixedDelay { seconds } => {
            form.with("seconds", seconds.to_string())
        }
        KindDraft::FixedPeriod { milliseconds } => {
            form.with("kind", "fixed_rate").with("seconds", format!("{milliseconds}ms"))
        }
        KindDraft::Once { at } => moment::fill(form, "at", Some(*at), zone),
        KindDraft::Daily(daily) => form
            .with("every_seconds", daily.every_seconds.to_string())
            .with("from", &daily.from)
            .with("to", &daily.to)
            .with("weekdays", words(&daily.weekdays))
            .with("timezone", &daily.timezone)
            .with("clock_changes", daily.clock_changes.as_str()),
    }
}

fn words(days: &[Weekday]) -> String {
    let words: Vec<&str> = days.iter().map(|day| day.as_str()).collect();
    words.join("\n")
}

/// Whether nothing has been typed yet: an empty field is not an error until the form is saved.
pub fn is_blank(form: &Form) -> bool {
    let needed = match form.value("kind") {
        "cron" | "unix_cron" => "expression",
        "fixed_rate" | "fixed_delay" => "seconds",
        "once" => "at",
        "daily" => "every_seconds",
        _ => return true,
    };
    form.value(needed).trim().is_empty()
}

/// The chosen schedule; None: a field cannot be read, and the form has the error.
pub fn schedule_of(form: &mut Form, zone: Zone) -> Option<ScheduleDraft> {
    let wrong = form.errors().len();
    let draft = read(form, zone);
    draft.filter(|_| form.errors().len() == wrong)
}

/// The chosen schedule, with the default of each field that cannot be read, so that the rules can judge the others. None: its kind
/// or its only instant cannot be read.
pub fn read(form: &mut Form, zone: Zone) -> Option<ScheduleDraft> {
    let mut draft = ScheduleDraft::from(kind_of(form, zone)?);
    if draft.kind != KindDraft::None {
        draft.start_at = moment(form, "start_at", zone);
        draft.end_at = moment(form, "end_at", zone);
        draft.max_fires = form.optional_number("max_fires", 1);
        draft.spread_seconds = form.seconds("spread_seconds", 0);
        draft.calendars = form.items("calendars");
        draft.excluded = form.word::<Excluded>("on_excluded");
    }
    Some(draft)
}

fn kind_of(form: &mut Form, zone: Zone) -> Option<KindDraft> {
    Some(match form.value("kind") {
        "none" | "" => KindDraft::None,
        "cron" => {
            refuse_unix_expression(form);
            KindDraft::Cron(cron(form))
        }
        "unix_cron" => KindDraft::UnixCron(cron(form)),
        "fixed_rate" => match milliseconds(form.value("seconds").trim()) {
            Some(milliseconds) => KindDraft::FixedPeriod { milliseconds },
            None => KindDraft::FixedRate { seconds: form.seconds("seconds", 0) },
        },
        "fixed_delay" => KindDraft::FixedDelay { seconds: form.seconds("seconds", 0) },
        "once" => match moment(form, "at", zone) {
            Some(at) => KindDraft::Once { at },
            None => {
                form.add_error("at", "Choose the day and the time.");
                return None;
            }
        },
        "daily" => KindDraft::Daily(daily(form)),
        other => {
            let text = format!("`{other:.64}` is no kind of schedule");
            form.add_error("kind", text);
            return None;
        }
    })
}

/// Five fields are the most common slip: a Unix expression under the kind that begins with seconds.
fn refuse_unix_expression(form: &mut Form) {
    let fields: Vec<&str> = form.value("expression").split_whitespace().collect();
    if fields.len() == 5 {
        let text =
            format!("has 5 fields: choose Unix cron above, or put the seconds in front: `0 {:.255}`", fields.join(" "));
        form.add_error("expression", text);
    }
}

/// The name as it was typed; a near miss is named here, anything else by the rules.
fn timezone(form: &mut Form) -> String {
    let name = form.value("timezone").trim().to_owned();
    if name.parse::<Zone>().is_err()
        && let Some(meant) = time_zone::suggestion(&name)
    {
        form.add_error("timezone", format!("`{name:.64}` is not a time zone; did you mean {meant}?"));
    }
    name
}

fn cron(form: &mut Form) -> CronDraft {
    CronDraft {
        expression: form.value("expression").to_owned(),
        timezone: timezone(form),
        clock_changes: form.word::<ClockChanges>("clock_changes"),
    }
}

fn daily(form: &mut Form) -> DailyDraft {
    DailyDraft {
        every_seconds: form.seconds("every_seconds", 0),
        from: form.value("from").to_owned(),
        to: form.value("to").to_owned(),
        weekdays: form.words("weekdays"),
        timezone: timezone(form),
        clock_changes: form.word::<ClockChanges>("clock_changes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn back(draft: &ScheduleDraft, zone: Zone) -> ScheduleDraft {
        let mut form = fill(Form::default(), draft, zone);
        schedule_of(&mut form, zone).unwrap()
    }

    #[test]
    fn every_kind_comes_back_from_its_form_as_it_was() {
        let daily = DailyDraft {
            every_seconds: 90,
            from: "22:00:00".into(),
            to: "02:00:00".into(),
            weekdays: vec![Weekday::Fri, Weekday::Sat],
            timezone: "Asia/Tokyo".into(),
            clock_changes: ClockChanges::Xxl,
        };
        let kinds = [
            ScheduleDraft::none(),
            ScheduleDraft::cron("0 0 3 * * ?", "Europe/Berlin"),
            ScheduleDraft::unix_cron("0 3 * * 1-5", "UTC"),
            ScheduleDraft::fixed_rate(7),
            KindDraft::FixedPeriod { milliseconds: 50 }.into(),
            KindDraft::FixedPeriod { milliseconds: 2_000 }.into(),
            ScheduleDraft::fixed_delay(7),
            ScheduleDraft::once(1_768_435_200_000),
            KindDraft::Daily(daily).into(),
        ];
        for mut draft in kinds {
            assert_eq!(back(&draft, "Europe/Berlin".parse().unwrap()), draft);
            if draft.kind != KindDraft::None {
                draft.start_at = Some(1_768_435_200_000);
                draft.end_at = Some(1_768_435_201_000);
                draft.max_fires = Some(9);
                draft.spread_seconds = 600;
                draft.calendars = vec!["bank".into(), "Öffentlich & mehr".into()];
                draft.excluded = Excluded::NextWorkingDay;
                assert_eq!(back(&draft, "Asia/Kathmandu".parse().unwrap()), draft);
            }
        }
    }
}

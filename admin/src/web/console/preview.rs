//! The next fires of a schedule that may not be saved yet, and what is wrong with it.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use askama::Template;
use carillon_scheduler::{
    ClockChanges, CronDraft, Facts, KindDraft, Millis, Schedule, ScheduleDraft,
};
use chrono::{DateTime, Offset, TimeZone};
use chrono_tz::Tz;
use serde::Deserialize;

use super::problem::Problem;
use crate::web::html::{self, Frame};

const COUNT: usize = 5;

/// What a schedule will do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Preview {
    /// There is nothing to show: it has no schedule.
    Never,
    /// The form's field, and the message for it.
    Wrong { field: String, message: String },
    Fires {
        zone: String,
        fires: Vec<Instant>,
        /// The zone's clocks change between these fires.
        clock_change: bool,
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

pub fn preview(draft: &ScheduleDraft, anchor_at: Millis, now: Millis) -> Preview {
    let zone: Tz = match &draft.kind {
        KindDraft::None => return Preview::Never,
        KindDraft::Cron(cron) | KindDraft::UnixCron(cron) => {
            cron.timezone.trim().parse().unwrap_or(Tz::UTC)
        }
        KindDraft::Daily(daily) => daily.timezone.trim().parse().unwrap_or(Tz::UTC),
        _ => Tz::UTC,
    };
    let wrong = |field: &str, message: String| Preview::Wrong {
        field: field.rsplit('.').next().unwrap_or(field).to_owned(),
        message,
    };
    let schedule = match Schedule::parse(
        draft,
        &Facts::anchored(anchor_at - anchor_at.rem_euclid(1000)),
    ) {
        Ok(schedule) => schedule,
        Err(error) => return wrong(&error.field, error.message),
    };
    let instants = schedule.following(now, COUNT);
    if instants.is_empty() {
        return wrong(
            "expression",
            "It never fires: see its day, month and year.".to_owned(),
        );
    }
    let fires: Vec<Instant> = instants.iter().map(|at| instant(*at, zone)).collect();
    Preview::Fires {
        zone: zone.name().to_owned(),
        clock_change: fires.iter().any(|fire| fire.offset != fires[0].offset),
        fires,
    }
}

fn instant(at: Millis, zone: Tz) -> Instant {
    let utc = DateTime::from_timestamp_millis(at).unwrap_or_default();
    let local = zone.from_utc_datetime(&utc.naive_utc());
    let same_day = local.date_naive() == utc.date_naive();
    Instant {
        at,
        local: local.format("%a %Y-%m-%d %H:%M:%S").to_string(),
        utc: utc
            .format(if same_day {
                "%H:%M:%S"
            } else {
                "%m-%d %H:%M:%S"
            })
            .to_string(),
        offset: local.offset().fix().to_string(),
    }
}

/// A schedule as the form sends it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Asked {
    kind: String,
    expression: String,
    timezone: String,
    clock_changes: String,
    seconds: String,
}

impl Asked {
    /// Nothing has been typed yet: an empty field is no error before it is left or saved.
    fn is_blank(&self) -> bool {
        match self.kind.as_str() {
            "cron" => self.expression.trim().is_empty(),
            "fixed_rate" => self.seconds.trim().is_empty(),
            _ => true,
        }
    }

    fn preview(&self, now: Millis) -> Preview {
        let draft = match self.kind.as_str() {
            _ if self.is_blank() => ScheduleDraft::none(),
            "cron" => KindDraft::Cron(CronDraft {
                expression: self.expression.clone(),
                timezone: self.timezone.clone(),
                clock_changes: self
                    .clock_changes
                    .parse::<ClockChanges>()
                    .unwrap_or_default(),
            })
            .into(),
            _ => match self.seconds.trim().parse() {
                Ok(seconds) => ScheduleDraft::fixed_rate(seconds),
                Err(_) => {
                    return Preview::Wrong {
                        field: "seconds".to_owned(),
                        message: "must be a whole number of seconds".to_owned(),
                    };
                }
            },
        };
        preview(&draft, now, now)
    }
}

#[derive(Template)]
#[template(path = "jobs/preview.html")]
struct Fragment {
    frame: Frame,
    preview: Preview,
}

/// `GET /jobs/preview`: a part of the form's page.
pub async fn fragment(frame: Frame, asked: web::Query<Asked>) -> Result<HttpResponse, Problem> {
    let preview = asked.preview(frame.now);
    Ok(html::page(&Fragment { frame, preview }, StatusCode::OK))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-03-28T00:00:00Z
    const NOW: Millis = 1_774_656_000_000;

    fn cron(expression: &str, zone: &str) -> Preview {
        preview(&ScheduleDraft::cron(expression, zone), NOW, NOW)
    }

    #[test]
    fn five_fires_in_the_zone_of_the_job_and_in_utc() {
        let Preview::Fires {
            zone,
            fires,
            clock_change,
        } = cron("0 0 3 * * ?", "Europe/Berlin")
        else {
            panic!("no fires");
        };
        assert_eq!(
            (zone.as_str(), fires.len(), clock_change),
            ("Europe/Berlin", 5, true)
        );
        assert_eq!(
            (fires[0].local.as_str(), fires[0].utc.as_str()),
            ("Sat 2026-03-28 03:00:00", "02:00:00")
        );
        assert_eq!(
            (fires[2].utc.as_str(), fires[2].offset.as_str()),
            ("01:00:00", "+02:00")
        );
    }

    #[test]
    fn utc_says_its_date_where_it_is_another_one() {
        let Preview::Fires { fires, .. } = cron("0 0 3 * * ?", "Asia/Shanghai") else {
            panic!("no fires");
        };
        assert_eq!(
            (fires[0].local.as_str(), fires[0].utc.as_str()),
            ("Sun 2026-03-29 03:00:00", "03-28 19:00:00")
        );
    }

    #[test]
    fn what_is_wrong_is_told_with_its_field() {
        let field = |preview: Preview| match preview {
            Preview::Wrong { field, .. } => field,
            other => panic!("{other:?}"),
        };
        assert_eq!(field(cron("0 0 25 * * ?", "UTC")), "expression");
        assert_eq!(field(cron("0 0 0 30 2 ?", "UTC")), "expression");
        assert_eq!(field(cron("0 0 3 * * ?", "Mars/Olympus")), "timezone");
        assert_eq!(
            field(preview(&ScheduleDraft::fixed_rate(0), NOW, NOW)),
            "seconds"
        );
    }
}

//! Schedules as JSON. One flat object and not serde's tagged enum: inside a tagged enum the path of an error is lost, and a
//! member of another kind would be reported as unknown.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::draft::{CronDraft, DailyDraft, KindDraft, ScheduleDraft};
use crate::calendar::{ClockChanges, Excluded, Weekday};
use crate::field_error::FieldError;
use crate::time::Rfc3339;

/// The members of all kinds of schedules, as they are in JSON. Converted to a [`ScheduleDraft`], which has only the members of
/// its kind.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "schedule as an object such as {\"kind\":\"none\"}")]
pub struct ScheduleInput {
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    expression: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    milliseconds: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Rfc3339>,
    #[serde(skip_serializing_if = "Option::is_none")]
    every_seconds: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weekdays: Option<Vec<Weekday>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timezone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clock_changes: Option<ClockChanges>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_at: Option<Rfc3339>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_at: Option<Rfc3339>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_fires: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spread_seconds: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spread_offset_seconds: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    anchor_at: Option<Rfc3339>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calendars: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    on_excluded: Option<Excluded>,
}

/// The members that every kind but `none` may have.
const COMMON: [&str; 7] =
    ["start_at", "end_at", "max_fires", "spread_seconds", "spread_offset_seconds", "calendars", "on_excluded"];

impl<'de> Deserialize<'de> for ScheduleDraft {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ScheduleInput::deserialize(deserializer)?.try_into().map_err(D::Error::custom)
    }
}

impl Serialize for ScheduleDraft {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ScheduleInput::from_draft(self).serialize(serializer)
    }
}

impl TryFrom<ScheduleInput> for ScheduleDraft {
    type Error = FieldError;

    /// The error names the member without the prefix `schedule.`.
    fn try_from(input: ScheduleInput) -> Result<Self, FieldError> {
        let own: &[&str] = match input.kind.as_str() {
            "none" => &[],
            "cron" | "unix_cron" => &["expression", "timezone", "clock_changes"],
            "fixed_rate" if input.milliseconds.is_some() => &["milliseconds", "anchor_at"],
            "fixed_rate" => &["seconds", "anchor_at"],
            "fixed_delay" => &["seconds"],
            "once" => &["at"],
            "daily" => &["every_seconds", "from", "to", "weekdays", "timezone", "clock_changes"],
            other => {
                let allowed = KindDraft::WORDS.join(", ");
                return Err(FieldError::new("kind", format!("`{other}` is not a kind; allowed: {allowed}")));
            }
        };
        input.refuse_others(own)?;
        Ok(Self {
            kind: input.kind_draft()?,
            start_at: input.start_at.map(Rfc3339::into),
            end_at: input.end_at.map(Rfc3339::into),
            max_fires: input.max_fires,
            spread_seconds: input.spread_seconds.unwrap_or_default(),
            spread_offset_seconds: input.spread_offset_seconds,
            anchor_at: input.anchor_at.map(Rfc3339::into),
            calendars: input.calendars.unwrap_or_default(),
            excluded: input.on_excluded.unwrap_or_default(),
        })
    }
}

impl ScheduleInput {
    fn kind_draft(&self) -> Result<KindDraft, FieldError> {
        Ok(match self.kind.as_str() {
            "cron" => KindDraft::Cron(self.cron()?),
            "unix_cron" => KindDraft::UnixCron(self.cron()?),
            "fixed_rate" => match self.milliseconds {
                Some(milliseconds) => KindDraft::FixedPeriod { milliseconds },
                None => KindDraft::FixedRate { seconds: self.required("seconds", self.seconds)? },
            },
            "fixed_delay" => KindDraft::FixedDelay { seconds: self.required("seconds", self.seconds)? },
            "once" => KindDraft::Once { at: self.required("at", self.at)?.into() },
            "daily" => KindDraft::Daily(DailyDraft {
                every_seconds: self.required("every_seconds", self.every_seconds)?,
                from: self.required("from", self.from.clone())?,
                to: self.required("to", self.to.clone())?,
                weekdays: self.weekdays.clone().unwrap_or_else(|| Weekday::ALL.to_vec()),
                timezone: self.timezone(),
                clock_changes: self.clock_changes.unwrap_or_default(),
            }),
            _ => KindDraft::None,
        })
    }

    fn cron(&self) -> Result<CronDraft, FieldError> {
        Ok(CronDraft {
            expression: self.required("expression", self.expression.clone())?,
            timezone: self.timezone(),
            clock_changes: self.clock_changes.unwrap_or_default(),
        })
    }

    fn timezone(&self) -> String {
        self.timezone.clone().unwrap_or_else(|| "UTC".to_owned())
    }

    fn required<T>(&self, member: &str, value: Option<T>) -> Result<T, FieldError> {
        value.ok_or_else(|| FieldError::new(member, format!("missing; kind {} needs it", self.kind)))
    }

    /// Refuses members that this kind does not have.
    fn refuse_others(&self, own: &[&str]) -> Result<(), FieldError> {
        let given = [
            ("expression", self.expression.is_some()),
            ("seconds", self.seconds.is_some()),
            ("milliseconds", self.milliseconds.is_some()),
            ("at", self.at.is_some()),
            ("every_seconds", self.every_seconds.is_some()),
            ("from", self.from.is_some()),
            ("to", self.to.is_some()),
            ("weekdays", self.weekdays.is_some()),
            ("timezone", self.timezone.is_some()),
            ("clock_changes", self.clock_changes.is_some()),
            ("start_at", self.start_at.is_some()),
            ("end_at", self.end_at.is_some()),
            ("max_fires", self.max_fires.is_some()),
            ("spread_seconds", self.spread_seconds.is_some()),
            ("spread_offset_seconds", self.spread_offset_seconds.is_some()),
            ("anchor_at", self.anchor_at.is_some()),
            ("calendars", self.calendars.is_some()),
            ("on_excluded", self.on_excluded.is_some()),
        ];
        let has = |name: &str| own.contains(&name) || self.kind != "none" && COMMON.contains(&name);
        match given.iter().find(|(name, given)| *given && !has(name)) {
            Some((name, _)) => {
                Err(FieldError::new(*name, format!("a schedule of kind {} does not have it", self.kind)))
            }
            None => Ok(()),
        }
    }

    fn from_draft(draft: &ScheduleDraft) -> Self {
        let mut members = Self {
            kind: draft.kind().to_owned(),
            start_at: draft.start_at.map(Rfc3339::from),
            end_at: draft.end_at.map(Rfc3339::from),
            max_fires: draft.max_fires,
            spread_seconds: (draft.spread_seconds > 0).then_some(draft.spread_seconds),
            spread_offset_seconds: draft.spread_offset_seconds,
            anchor_at: draft.anchor_at.map(Rfc3339::from),
            calendars: (!draft.calendars.is_empty()).then(|| draft.calendars.clone()),
            on_excluded: (draft.excluded != Excluded::default()).then_some(draft.excluded),
            ..Self::default()
        };
        match &draft.kind {
            KindDraft::None => {}
            KindDraft::Cron(cron) | KindDraft::UnixCron(cron) => {
                members.expression = Some(cron.expression.clone());
                members.timezone = Some(cron.timezone.clone());
                members.clock_changes = Some(cron.clock_changes);
            }
            KindDraft::FixedRate { seconds } | KindDraft::FixedDelay { seconds } => {
                members.seconds = Some(*seconds);
            }
            KindDraft::FixedPeriod { milliseconds } => members.milliseconds = Some(*milliseconds),
            KindDraft::Once { at } => members.at = Some(Rfc3339::from(*at)),
            KindDraft::Daily(daily) => members.fill_daily(daily),
        }
        members
    }

    fn fill_daily(&mut self, daily: &DailyDraft) {
        self.every_seconds = Some(daily.every_seconds);
        self.from = Some(daily.from.clone());
        self.to = Some(daily.to.clone());
        self.weekdays = Some(daily.weekdays.clone());
        self.timezone = Some(daily.timezone.clone());
        self.clock_changes = Some(daily.clock_changes);
    }
}

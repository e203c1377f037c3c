//! The settings of a job as lines of its page. A setting without effect is left out.

use carillon_scheduler::{CatchUp, Excluded, HttpAuth, JobDraft, Millis, MisfirePolicy, Overlap};
use carillon_store::Job;

use crate::web::locale::Language;
use crate::web::page::PageContext;
use crate::web::text::format::{duration, period};
use crate::web::text::strategies;

/// The key of a label, and a text. Times are in the viewer's zone.
pub type SettingLine = (&'static str, String);

pub fn settings_lines(context: &PageContext, job: &Job) -> Vec<SettingLine> {
    let mut lines: Vec<SettingLine> = parts(context, &job.draft).into_iter().collect();
    if job.draft.schedule.kind() != "none" {
        lines.extend(limits(context, job));
    }
    // Rules for runs: the fires of a best-effort job are none.
    if job.draft.is_best_effort() {
        lines.push(("durability", strategies::durability(context.language, job.draft.durability)));
        return lines;
    }
    if job.draft.schedule.kind() != "none" {
        lines.extend(late(context.language, &job.draft));
    }
    lines.extend(overlap(context.language, &job.draft));
    lines
}

/// What an HTTP job expects, and how its request proves where it comes from.
pub fn request_lines(context: &PageContext, draft: &JobDraft) -> Vec<SettingLine> {
    let Some(request) = &draft.http else { return vec![] };
    let status = if request.expect.status.is_empty() { "200-299" } else { request.expect.status.as_str() };
    let test = request.expect.body.as_ref().map(|test| serde_json::json!(test).to_string());
    let auth = request.auth.as_ref().map(|auth| match auth {
        HttpAuth::Bearer(secret) => format!("{}: {secret}", context.t("http-auth-bearer")),
        HttpAuth::Basic(basic) => format!("{}: {}, {}", context.t("http-auth-basic"), basic.user, basic.password),
        HttpAuth::Oauth2(client) => {
            format!("{}: {}, {}, {}", context.t("http-auth-oauth2"), client.token_url, client.client_id, client.secret)
        }
        HttpAuth::Hmac(secrets) => format!("{}: {}", context.t("http-auth-hmac"), secrets.names().join(", ")),
    });
    let pattern = Some(request.expect.pattern.clone()).filter(|pattern| !pattern.is_empty());
    let callback = request.callback_seconds.map(|seconds| duration(context.language, i64::from(seconds) * 1000));
    let lines = [
        ("http-expect-status", Some(status.to_owned())),
        ("http-expect-body", test),
        ("http-expect-pattern", pattern),
        ("http-callback", callback),
        ("http-auth", auth),
    ];
    lines.into_iter().filter_map(|(label, text)| Some((label, text?))).collect()
}

/// The texts of a list are shown beside the parameters.
fn parts(context: &PageContext, draft: &JobDraft) -> Option<SettingLine> {
    let text = if draft.parts.texts().is_some() { "parts-of-list" } else { "parts-of-number" };
    let count = draft.parts.count();
    (!draft.parts.is_one()).then(|| ("parts", context.t(text).with("count", count).to_string()))
}

fn limits(context: &PageContext, job: &Job) -> Vec<SettingLine> {
    let schedule = &job.draft.schedule;
    let moment = |at: Millis| context.full(&at);
    let valid = match (schedule.start_at.map(moment), schedule.end_at.map(moment)) {
        (Some(start), Some(end)) => Some(context.t("valid-from-to").with("start", start).with("end", end)),
        (Some(start), None) => Some(context.t("valid-from").with("start", start)),
        (None, Some(end)) => Some(context.t("valid-until").with("end", end)),
        (None, None) => None,
    };
    let most = schedule
        .max_fires
        .map(|most| context.t("most-fires-left").with("most", most).with("left", job.fires_left.unwrap_or_default()));
    let then = match schedule.excluded {
        Excluded::Skip => "calendars-skip",
        Excluded::NextWorkingDay => "calendars-move",
    };
    let calendars =
        (!schedule.calendars.is_empty()).then(|| context.t(then).with("calendars", schedule.calendars.join(", ")));
    let spread = (schedule.spread_seconds > 0).then(|| {
        let span = period(context.language, schedule.spread_seconds.into());
        context.t("spread-over").with("period", span).with("seconds", job.spread_offset)
    });
    let lines = [("valid", valid), ("most-fires", most), ("nav-calendars", calendars), ("spread", spread)];
    lines.into_iter().filter_map(|(label, text)| Some((label, text?.to_string()))).collect()
}

fn late(language: Language, draft: &JobDraft) -> Vec<SettingLine> {
    let catch_up = match draft.catch_up {
        CatchUp::All => "catch-up-all",
        CatchUp::Latest => "catch-up-latest",
    };
    let misfire = match draft.misfire {
        MisfirePolicy::FireOnce => language.text("misfire-fire-once"),
        MisfirePolicy::Skip => language.text("misfire-skip"),
        MisfirePolicy::FireAll => language.text("misfire-fire-all").with("count", draft.misfire_limit),
        MisfirePolicy::FireWithin => {
            language.text("misfire-fire-within").with("period", period(language, draft.misfire_window_seconds))
        }
    };
    let threshold = period(language, draft.misfire_threshold_seconds);
    let misfire = language.text("misfire-late").with("misfire", misfire).with("period", threshold);
    vec![("catch-up", language.text(catch_up).to_string()), ("misfire", misfire.to_string())]
}

fn overlap(language: Language, draft: &JobDraft) -> Vec<SettingLine> {
    let text = strategies::overlap(language, draft.overlap);
    let overlap = match draft.overlap {
        Overlap::Wait => {
            language.text("overlap-waiting").with("overlap", text).with("count", draft.overlap_queue).to_string()
        }
        _ => text,
    };
    let mut lines = vec![("overlap", overlap)];
    if draft.max_concurrent > 1 {
        lines.push(("max-concurrent", draft.max_concurrent.to_string()));
    }
    if !draft.limits.is_empty() {
        lines.push(("job-limits", draft.limits.join(", ")));
    }
    if draft.priority != 0 {
        lines.push(("priority", language.text("priority-seconds").with("seconds", draft.priority).to_string()));
    }
    // Neither is sent to an executor.
    if draft.workflow.is_none() && draft.http.is_none() {
        lines.push(("block-strategy", strategies::block(language, draft.block)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_are_not_in_force_are_left_out() {
        let late = |draft: &JobDraft| late(Language::English, draft);
        let overlap = |draft: &JobDraft| overlap(Language::English, draft);
        let labels = |draft: &JobDraft| late(draft).len() + overlap(draft).len();
        let mut draft = JobDraft::new("billing", "n", "h");
        assert_eq!(labels(&draft), 4);
        (draft.misfire, draft.misfire_limit) = (MisfirePolicy::FireAll, 7);
        assert_eq!(late(&draft)[1].1, "fire all, the latest 7 at most; for fires more than 1 minute late");
        (draft.overlap, draft.overlap_queue) = (Overlap::Wait, 3);
        assert!(overlap(&draft)[0].1.ends_with("at most 3 wait, further fires are skipped"));
    }
}

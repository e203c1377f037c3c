//! An explanation as sentences of the catalogue, in the order of what happened. The API and the command line show the English ones.

use carillon_locale::{Language, Message};
use carillon_scheduler::{Cause, Millis, RunState};
use carillon_store::app::limits::line::LimitPlace;
use carillon_store::job::history::Change;
use carillon_store::run::route::RouteDecision;
use carillon_store::{Misfire, RunParams, RunView};
use chrono::{DateTime, SecondsFormat};

use crate::audit::difference::GapReason;
use crate::explain::action_words::action_text;
use crate::explain::explanation::{ExplainedRun, Explanation, LocalGrant, Verdict};

/// Characters of parameters and messages that are shown.
const SHOWN: usize = 300;
/// Runs with slots of a limit that are named.
const SHOWN_HOLDERS: usize = 10;

impl Explanation {
    /// One sentence each.
    pub fn sentences(&self, language: Language) -> Vec<String> {
        let of_schedule = |run: &ExplainedRun| matches!(run.run.cause, Cause::Schedule | Cause::Backfill);
        let nearby = (!self.runs.iter().any(of_schedule)).then(|| neighbours(language, self)).flatten();
        let skipped = self.misfire.as_ref().map(|range| misfire(language, range));
        let lines = [Some(head(language, self)), definition(language, self), skipped, why(language, self), nearby];
        let lines = lines.into_iter().flatten().map(|line| line.to_string());
        lines.chain(self.runs.iter().flat_map(|it| run(language, self, it))).collect()
    }
}

fn head(language: Language, found: &Explanation) -> Message {
    let job = match &found.job {
        Some(name) => language.text("explain-job").with("id", found.job_id).with("name", name),
        None => language.text("explain-job-deleted").with("id", found.job_id),
    };
    let key = match found.verdict {
        Verdict::Recorded => "explain-recorded",
        Verdict::Skipped => "explain-skipped",
        Verdict::Missing(GapReason::Unknown | GapReason::Unplannable) => "explain-not-known",
        Verdict::Missing(GapReason::NotPlanned) if found.at > found.now => "explain-ahead",
        Verdict::Missing(_) => "explain-missing",
        Verdict::Local if found.at > found.now => "explain-ahead",
        Verdict::Local => "explain-local",
        Verdict::BeforeJob => "explain-before-job",
        Verdict::NoInstant | Verdict::Excluded | Verdict::Invalid | Verdict::FixedDelay => "explain-no-instant",
    };
    language.text(key).with("at", time(found.at)).with("job", job)
}

fn definition(language: Language, found: &Explanation) -> Option<Message> {
    let revision = found.revision?;
    Some(match &found.begun_by {
        Some(Change { at, actor, action }) => language
            .text("explain-revision-since")
            .with("revision", revision)
            .with("at", time(*at))
            .with("action", action_text(language, action))
            .with("actor", actor),
        None => language.text("explain-revision").with("revision", revision),
    })
}

fn why(language: Language, found: &Explanation) -> Option<Message> {
    Some(match found.verdict {
        Verdict::Excluded => language.text("explain-excluded").with("calendars", found.nearby.excluded_by.join(", ")),
        Verdict::Invalid => language.text("explain-invalid"),
        Verdict::FixedDelay => language.text("explain-fixed-delay"),
        Verdict::Local if found.at > found.now => language.text("explain-local-ahead"),
        Verdict::Local => local(language, found.local.as_ref()),
        Verdict::Missing(GapReason::Unexplained) => language.text("explain-lost"),
        Verdict::Missing(reason) => language.text("explain-why").with("reason", reason.text(language)),
        Verdict::Recorded | Verdict::Skipped | Verdict::NoInstant | Verdict::BeforeJob => return None,
    })
}

fn local(language: Language, grant: Option<&LocalGrant>) -> Message {
    match grant {
        Some(LocalGrant { epoch, address }) => {
            language.text("explain-local-grant").with("epoch", *epoch).with("address", address)
        }
        None => language.text("explain-local-unknown"),
    }
}

fn neighbours(language: Language, found: &Explanation) -> Option<Message> {
    let (before, after) = (found.nearby.before, found.nearby.after);
    let shown = |at: Option<Millis>| at.map_or_else(|| language.text("none").to_string(), time);
    let text = language.text("explain-neighbours").with("before", shown(before)).with("after", shown(after));
    (before.is_some() || after.is_some()).then_some(text)
}

fn misfire(language: Language, range: &Misfire) -> Message {
    let by = match range.epoch {
        0 => language.text("explain-by-change"),
        epoch => language.text("explain-by-epoch").with("epoch", epoch),
    };
    let why = match range.reason.as_str() {
        "coalesced" => language.text("explain-coalesced"),
        _ => language.text("explain-late").with("policy", range.policy.as_str()),
    };
    let text = language.text("explain-range").with("count", range.count);
    text.with("from", time(range.from_at)).with("to", time(range.to_at)).with("by", by).with("why", why)
}

fn run(language: Language, found: &Explanation, explained: &ExplainedRun) -> Vec<String> {
    let run = &explained.run;
    let chosen = explained.choice.as_ref().map(|choice| chosen(language, choice));
    let sent = sent(language, run).map(|text| text.to_string());
    let params = params(language, explained).to_string();
    let late = late(language, found, run).map(|text| text.to_string());
    let lines = [Some(recorded(language, run)), chosen, sent, late, Some(params), Some(ended(language, run))];
    let since = time(run.due_at);
    let waits = explained.places.iter().map(|place| waits_for(language, place, &since).to_string());
    lines.into_iter().flatten().chain(waits).collect()
}

/// What a run waits for at a limit since a time, as it is shown.
pub fn waits_for(language: Language, place: &LimitPlace, since: &str) -> Message {
    let runs: Vec<String> = place.holders.iter().take(SHOWN_HOLDERS).map(i64::to_string).collect();
    let more = if place.taken > runs.len() { " …" } else { "" };
    let key = if runs.is_empty() { "explain-waits-for-unseen" } else { "explain-waits-for" };
    language
        .text(key)
        .with("since", since)
        .with("limit", &place.rule.name)
        .with("taken", place.taken)
        .with("max", place.rule.max_runs)
        .with("runs", format!("{}{more}", runs.join(", ")))
        .with("place", place.place)
}

fn recorded(language: Language, run: &RunView) -> String {
    let key = match run.cause {
        Cause::Schedule => "explain-run",
        Cause::Manual => "explain-run-manual",
        Cause::Api => "explain-run-api",
        Cause::Child => "explain-run-child",
        Cause::Backfill => "explain-run-backfill",
        Cause::Node => "explain-run-node",
        Cause::Item => "explain-run-item",
        Cause::Delayed => "explain-run-delayed",
    };
    let part = language.text("explain-part").with("part", run.part).with("parts", run.parts);
    let due = language.text("explain-attempt").with("attempt", run.attempt).with("due", time(run.due_at));
    let optional = [(run.parts > 1).then_some(part), (run.attempt > 1).then_some(due)];
    let optional: String = optional.into_iter().flatten().map(|text| text.to_string()).collect();
    format!("{}{optional}{}", language.text(key).with("run", run.id), held(language, run))
}

/// The shard is the one of now: another number of shards moves what is open, and leaves the epoch as it was.
fn held(language: Language, run: &RunView) -> Message {
    let text = match (run.epoch, &run.owner) {
        (0, _) if run.marked_at.is_none() => language.text("explain-not-taken"),
        (0, Some(node)) => language.text("explain-node").with("node", node),
        (0, None) => language.text("explain-shard"),
        (epoch, Some(node)) => language.text("explain-node-epoch").with("node", node).with("epoch", epoch),
        (epoch, None) => language.text("explain-epoch").with("epoch", epoch),
    };
    text.with("shard", run.shard)
}

fn chosen(language: Language, choice: &RouteDecision) -> String {
    let text = match choice.candidates.len() {
        0 => language.text("explain-chosen"),
        1 => language.text("explain-chosen-only"),
        count => language.text("explain-chosen-of").with("count", count),
    };
    let text = text.with("chosen", executor(language, choice.chosen.as_deref()));
    let mut parts = vec![text.with("why", language.say(choice.why.trim_end_matches('.')))];
    let story = &choice.story;
    let lists = [
        ("explain-answered", &story.answers),
        ("explain-passed-over", &story.skipped),
        ("explain-not-reached", &story.hops),
    ];
    for (key, list) in lists {
        let note =
            |address: &str, what: &str| language.text(key).with("address", address).with("what", language.say(what));
        parts.extend(list.iter().map(|it| note(&it.address, &it.what)));
    }
    parts.iter().map(Message::to_string).collect::<Vec<_>>().join(" ")
}

fn executor(language: Language, address: Option<&str>) -> String {
    address.map_or_else(|| language.text("explain-no-executor").to_string(), str::to_owned)
}

fn sent(language: Language, run: &RunView) -> Option<Message> {
    let marked = run.marked_at?;
    let text = match run.sent_at {
        Some(sent) => language.text("explain-sent").with("late", sent - run.due_at),
        None => language.text("explain-marked"),
    };
    let to = executor(language, run.address.as_deref());
    Some(text.with("at", time(marked)).with("to", to).count("count", run.sends))
}

/// The run has missed the objective of its job.
fn late(language: Language, found: &Explanation, run: &RunView) -> Option<Message> {
    let (key, started_at) = match run.sent_at {
        Some(sent_at) => ("explain-late-start", sent_at),
        None if run.state == RunState::Claimed => ("explain-late-waiting", found.now),
        None => return None,
    };
    let (late, within) = (started_at - run.due_at, found.start_within_seconds);
    let is_missed = within > 0 && late > Millis::from(within) * 1_000;
    is_missed.then(|| language.text(key).with("seconds", late / 1_000).with("within", within))
}

fn params(language: Language, explained: &ExplainedRun) -> Message {
    let (text, params) = match (&explained.params, explained.run.revision) {
        (RunParams::Own(params) | RunParams::Repeated(params) | RunParams::OfPart(params), _) => {
            (language.text("explain-params-own"), params)
        }
        (RunParams::Sent(params), Some(revision)) => {
            (language.text("explain-params-revision").with("revision", revision), params)
        }
        (RunParams::Sent(params), None) => (language.text("explain-params"), params),
        (RunParams::Waiting(params), _) => (language.text("explain-params-waiting"), params),
        (RunParams::Items, _) => return language.text("explain-params-items"),
        (RunParams::NeverSent, _) => return language.text("explain-params-never"),
        (RunParams::NotOnRecord, _) => return language.text("explain-params-unknown"),
    };
    match params.is_empty() {
        true => text.with("params", language.text("none")),
        false => text.with("params", format!("`{}`", cut(params))),
    }
}

fn ended(language: Language, run: &RunView) -> String {
    let state = language.text(match run.state {
        RunState::Unknown => "outcome-unknown",
        state => state.as_str(),
    });
    let state = run.reason.as_deref().map_or_else(|| state.to_string(), |reason| format!("{state} ({reason})"));
    let text = match run.finished_at {
        Some(at) => language.text("explain-ended").with("state", state).with("at", time(at)),
        None => language.text("explain-open").with("state", state),
    };
    format!("{text} {}", cut(&language.say(&run.message()))).trim_end().to_owned()
}

/// On one line.
fn cut(text: &str) -> String {
    text.chars().take(SHOWN).map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }).collect()
}

fn time(at: Millis) -> String {
    let time = DateTime::from_timestamp_millis(at).unwrap_or_default();
    let digits = match at.rem_euclid(1000) {
        0 => SecondsFormat::Secs,
        _ => SecondsFormat::Millis,
    };
    time.to_rfc3339_opts(digits, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(verdict: Verdict) -> Explanation {
        let mut found = Explanation {
            job_id: 7,
            job: Some("Close the day".into()),
            start_within_seconds: 0,
            at: 1_774_656_000_000,
            now: 0,
            verdict,
            revision: Some(3),
            begun_by: Some(Change { at: 5, actor: "mia".into(), action: "update".into() }),
            nearby: Default::default(),
            misfire: None,
            local: None,
            runs: vec![],
        };
        found.nearby.before = Some(1_774_652_400_000);
        found.nearby.excluded_by = vec!["bank".into()];
        found
    }

    #[test]
    fn every_verdict_has_its_sentences() {
        let english = |found: &Explanation| found.sentences(Language::English);
        let skipped = english(&found(Verdict::Skipped));
        assert_eq!(
            skipped,
            [
                "2026-03-28T00:00:00Z is an instant of job 7 `Close the day` that was skipped.",
                "In force then: version 3, since 1970-01-01T00:00:00.005Z (update by mia).",
                "By that definition the instant before it is 2026-03-27T23:00:00Z, the one after it none.",
            ]
        );
        let excluded = english(&found(Verdict::Excluded));
        assert_eq!(excluded[0], "2026-03-28T00:00:00Z is no instant of job 7 `Close the day`.");
        assert_eq!(excluded[2], "Its day is excluded by bank.");
        let lost = english(&found(Verdict::Missing(GapReason::Unexplained)));
        assert_eq!(lost[2], "Nothing explains that: the instant was lost.");
        let mut local = found(Verdict::Local);
        local.now = local.at;
        assert_eq!(english(&local)[2], "Fired locally, if an executor had the loop then; not recorded singly.");
        local.local = Some(LocalGrant { epoch: 7, address: "http://a:9999/".into() });
        assert_eq!(
            [&english(&local)[0], &english(&local)[2]],
            [
                "At 2026-03-28T00:00:00Z job 7 `Close the day` was to be fired in the loop of one executor.",
                "The loop was on http://a:9999/, epoch 7; single calls are not recorded.",
            ]
        );
        let used_up = english(&found(Verdict::Missing(GapReason::UsedUp)));
        assert_eq!(used_up[2], "Why: its schedule had had all its fires.");
        let deleted = Explanation { job: None, begun_by: None, ..found(Verdict::Recorded) };
        assert_eq!(english(&deleted)[0], "2026-03-28T00:00:00Z is an instant of the deleted job 7, and it has a run.");
    }

    #[test]
    fn the_story_is_told_in_chinese() {
        let story = found(Verdict::Missing(GapReason::Disabled)).sentences(Language::Chinese);
        assert_eq!(story[0], "2026-03-28T00:00:00Z 是任务 7（Close the day）的触发时刻，但没有记录。");
        assert_eq!(story[2], "原因：任务当时已暂停，之后才恢复或一直没有恢复。");
    }
}

//! The words of xxl-job for what a job says, in both directions: for the import, the export, and the console's HTTP API.

use carillon_scheduler::{
    BlockStrategy, CatchUp, ClockChanges, CronDraft, JobDraft, KindDraft, MisfirePolicy, RetryDelay, RouteStrategy,
};

use super::unix_cron::quartz;

pub const ROUTES: [(&str, RouteStrategy); 10] = [
    ("FIRST", RouteStrategy::First),
    ("LAST", RouteStrategy::Last),
    ("ROUND", RouteStrategy::RoundRobin),
    ("RANDOM", RouteStrategy::Random),
    ("CONSISTENT_HASH", RouteStrategy::ConsistentHash),
    ("LEAST_FREQUENTLY_USED", RouteStrategy::LeastFrequentlyUsed),
    ("LEAST_RECENTLY_USED", RouteStrategy::LeastRecentlyUsed),
    ("FAILOVER", RouteStrategy::Failover),
    ("BUSYOVER", RouteStrategy::BusyOver),
    ("SHARDING_BROADCAST", RouteStrategy::Broadcast),
];
pub const BLOCKS: [(&str, BlockStrategy); 3] = [
    ("SERIAL_EXECUTION", BlockStrategy::Serial),
    ("DISCARD_LATER", BlockStrategy::DiscardLater),
    ("COVER_EARLY", BlockStrategy::CoverEarly),
];
pub const MISFIRES: [(&str, MisfirePolicy); 2] =
    [("DO_NOTHING", MisfirePolicy::Skip), ("FIRE_ONCE_NOW", MisfirePolicy::FireOnce)];

/// What a word stands for. None: it is unknown.
pub fn meaning_of<T: Copy>(words: &[(&str, T)], word: &str) -> Option<T> {
    words.iter().find(|(known, _)| *known == word).map(|(_, meaning)| *meaning)
}

/// None: xxl-job has no word for it.
pub fn word_for<T: PartialEq>(words: &[(&'static str, T)], meaning: &T) -> Option<&'static str> {
    words.iter().find(|(_, known)| known == meaning).map(|(word, _)| *word)
}

/// The longest period, in seconds.
const LONGEST: i64 = 31_536_000;

/// The period of a fixed rate. None: it cannot be one here.
pub fn fixed_rate_seconds(conf: &str) -> Option<i64> {
    // As Java's `Integer.parseInt`: a sign and leading zeros, no blanks.
    conf.parse().ok().filter(|seconds| (1..=LONGEST).contains(seconds))
}

/// A cron expression by the rules of xxl-job.
pub fn cron_kind(expression: &str, zone: &str) -> KindDraft {
    KindDraft::Cron(CronDraft { clock_changes: ClockChanges::Xxl, ..CronDraft::new(expression, zone) })
}

/// Type and configuration of a schedule, without its time zone.
///
/// # Errors
/// Names the kind, or the expression, that xxl-job cannot hold.
pub fn schedule_words(kind: &KindDraft) -> Result<(&'static str, String), String> {
    match kind {
        KindDraft::None => Ok(("NONE", String::new())),
        KindDraft::FixedRate { seconds } => Ok(("FIX_RATE", seconds.to_string())),
        KindDraft::Cron(cron) => Ok(("CRON", cron.expression.clone())),
        KindDraft::UnixCron(cron) => Ok(("CRON", quartz(cron)?)),
        other => Err(format!("schedule {}", other.as_str())),
    }
}

/// A job that does what xxl-job's own default does where Carillon's is another one. It is paused.
pub fn new_job(app: &str, name: String, handler: &str) -> JobDraft {
    JobDraft {
        takes_result: false,
        catch_up: CatchUp::Latest,
        misfire: MisfirePolicy::Skip,
        route: RouteStrategy::First,
        block: BlockStrategy::Serial,
        retry_delay: RetryDelay::Exponential { base_seconds: 0, cap_seconds: 300 },
        enabled: false,
        ..JobDraft::new(app, name, handler)
    }
}

//! The entry points of the engine: one method, and one type with the engine in it, for each subject. Each subject's own file adds its methods.

use crate::engine::Engine;

macro_rules! entry_points {
    ($($(#[$doc:meta])* $name:ident: $subject:ident;)+) => {
        $($(#[$doc])* pub struct $subject<'a> { pub(crate) engine: &'a Engine })+

        impl Engine {
            $(pub fn $name(&self) -> $subject<'_> { $subject { engine: self } })+
        }
    };
}

entry_points! {
    /// Groups of executors under one name.
    apps: Apps;
    /// Secrets of apps, for the requests of HTTP jobs.
    app_secrets: AppSecrets;
    /// The tokens of an app's executors.
    app_tokens: AppTokens;
    /// Backfills of jobs.
    backfills: Backfills;
    /// Named lists of days on which jobs do not run.
    calendars: Calendars;
    /// Registrations of executors, addresses that people enter, and what operators set for both.
    executors: Executors;
    /// Definitions of jobs.
    jobs: Jobs;
    /// Recurring pauses of apps, and of all apps.
    maintenance_windows: MaintenanceWindows;
    /// Pauses of apps, and of all apps.
    pauses: Pauses;
    /// How long runs are kept: for all jobs, for those of an app, for one job.
    retention: Retentions;
    /// Limits of how many runs are at work together.
    run_limits: RunLimits;
    /// Runs, as people act on them.
    runs: Runs;
}

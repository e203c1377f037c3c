//! What the audit records of a change, and of what.

use crate::words::words;

words! {
    /// What was done to an object.
    pub enum AuditAction: "recorded action" {
        /// It was made.
        Create = 0 "create",
        /// It was given another definition.
        Update = 1 "update",
        /// A job or an account was enabled.
        Enable = 2 "enable",
        /// A job or an account was disabled.
        Disable = 3 "disable",
        /// It was deleted.
        Delete = 4 "delete",
        /// A job was planned with newer versions of its calendars.
        Calendars = 5 "calendars",
        /// The engine has paused a job that it cannot plan, or a person an app.
        Pause = 6 "pause",
        /// Runs for instants of the past were requested.
        Backfill = 7 "backfill",
        /// A backfill was cancelled.
        CancelBackfill = 8 "cancel_backfill",
        /// The settings of an executor were changed.
        UpdateExecutor = 9 "update_executor",
        /// A retention rule was set.
        Retention = 10 "retention",
        /// Epochs and ids were raised after a restored database.
        Resync = 11 "resync",
        /// The end of a run was requested.
        Kill = 12 "kill",
        /// The outcome of a run was set by hand.
        Resolve = 13 "resolve",
        /// A person signed in.
        SignIn = 14 "sign_in",
        /// A person signed out.
        SignOut = 15 "sign_out",
        /// A result was reported by an executor that does not have the run.
        RefuseResult = 50 "refuse_result",
        /// A pause of an app was ended or given up.
        Resume = 60 "resume",
        /// A run was requested.
        Run = 16 "run",
        /// Sessions were ended, other than by signing out.
        EndSessions = 17 "end_sessions",
        /// A sign-in failed.
        RefuseSignIn = 18 "refuse_sign_in",
        /// The policy, or a check of the request, did not allow it.
        Deny = 19 "deny",
        /// A token was used from an address for the first time.
        UseToken = 20 "use_token",
        /// An actor has sent more requests than its limit allows.
        Limit = 21 "limit",
        /// A job was planned with other time zone data.
        ZoneData = 22 "zone_data",
        /// A run of a workflow, or one of its nodes, was decided by hand.
        Workflow = 23 "workflow",
    }
}

words! {
    /// What an entry of the audit is about.
    pub enum AuditObjectKind: "kind of object" {
        /// A definition.
        Job = 0 "job",
        /// One run.
        Run = 1 "run",
        /// A group of executors, or one of them.
        App = 2 "app",
        /// A list of days.
        Calendar = 3 "calendar",
        /// A person's account; 0: a name that no account has.
        Account = 4 "account",
        /// A personal token; 0: the one of the settings.
        ApiToken = 5 "api_token",
        /// What counts for all apps.
        Cluster = 6 "cluster",
        /// The division of the jobs.
        Shards = 7 "shards",
        /// A backfill, where a request for it was denied.
        Backfill = 8 "backfill",
        /// A path, of a denied request that names no object.
        Path = 9 "path",
        /// A token of an app's executors.
        ExecutorToken = 10 "executor_token",
        /// What a rule has made of alarms.
        Alert = 11 "alert",
        /// Which alarms become messages.
        AlertRule = 12 "alert_rule",
        /// Where messages go.
        AlertChannel = 13 "alert_channel",
        /// How many runs may be at work together.
        Limit = 14 "limit",
    }
}

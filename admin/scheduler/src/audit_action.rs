//! What the audit records of a change.

use crate::words::words;

words! {
    /// What was done to an object.
    pub enum AuditAction: "audit action" {
        /// It was made.
        Create = 0 "create",
        /// It was given another definition.
        Update = 1 "update",
        /// A job was enabled.
        Enable = 2 "enable",
        /// A job was disabled.
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
        /// A pause of an app was ended or given up.
        Resume = 60 "resume",
    }
}

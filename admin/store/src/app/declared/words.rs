use carillon_scheduler::words;

words! {
    /// What becomes of the jobs that the programs of an app declare.
    pub enum DeclarationSetting: "setting of declarations" {
        /// Differences are shown, and nothing is written.
        Report = 0 "report",
        /// Jobs are made and changed as the code says.
        Apply = 1 "apply",
        /// Executors are not asked for them.
        Off = 2 "off",
    }
}

words! {
    /// What has become of a declared job.
    pub enum DeclaredState: "state of a declared job" {
        /// It is as the code says.
        Applied = 0 "applied",
        /// It would be made or changed if the app's setting allowed it.
        Pending = 1 "pending",
        /// Members were changed here, and stay as they are.
        Overridden = 2 "overridden",
        /// Members were changed here, and the code asks only for a report.
        Drift = 3 "drift",
        /// There is a job that is not of the code: of this key, or of this name and handler.
        Twin = 4 "twin",
        /// A set of files defines it.
        OfFiles = 5 "of_files",
        /// It was deleted here, and is not made again.
        Deleted = 6 "deleted",
        /// No live build declares it any more.
        Orphan = 7 "orphan",
        /// What the code says was refused.
        Failed = 8 "failed",
    }
}

impl Default for DeclarationSetting {
    fn default() -> Self {
        Self::ALL[0]
    }
}

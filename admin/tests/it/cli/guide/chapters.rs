//! The documents with commands, and what each of them needs before its first block.

/// What the services of the tests have for a chapter.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// `POSTGRES`: the URL of an empty database.
    Postgres,
    /// `MARIADB`: the URL of an empty database.
    Mariadb,
    /// `REDIS`: its URL.
    Redis,
    /// `PYTHON`: an interpreter that has pyxxl.
    Python,
    /// `XXL_JOB` and `XXL_NAME`: the URL and the name of a database of xxl-job 3.4 with the jobs that the document shows.
    XxlJob,
}

pub struct Chapter {
    /// Below the root of the repository.
    pub path: &'static str,
    /// Commands before its first block: what its reader has already. `$NAME` of a service is set.
    pub stage: &'static str,
    /// What its placeholders are; `$NAME` of a service becomes its URL.
    pub fills: &'static [(&'static str, &'static str)],
    pub services: &'static [Service],
    /// A line of a block, and what happens before it that is none of the document's commands.
    pub before: &'static [(&'static str, &'static str)],
}

/// Ports that documents name. Each becomes a free one.
pub const PORTS: &[&str] = &["8080", "8081", "8082", "8083", "9997", "9999"];

const fn chapter(path: &'static str, stage: &'static str) -> Chapter {
    Chapter { path, stage, fills: &[], services: &[], before: &[] }
}

impl Chapter {
    const fn filled(self, fills: &'static [(&'static str, &'static str)]) -> Self {
        Self { fills, ..self }
    }

    const fn before(self, before: &'static [(&'static str, &'static str)]) -> Self {
        Self { before, ..self }
    }

    const fn with(self, services: &'static [Service]) -> Self {
        Self { services, ..self }
    }
}

pub const FIRST_HOUR: Chapter = chapter("admin/docs/guide/first-hour.md", include_str!("stages/first_hour.sh"))
    .with(&[Service::Python])
    .filled(&[("$HOME/carillon", "$CHECKOUT")]);
pub const WORKFLOWS: Chapter = chapter("admin/docs/guide/workflows.md", "");
pub const THREE_NODES: Chapter = chapter("admin/docs/guide/three-nodes.md", include_str!("stages/three_nodes.sh"))
    .with(&[Service::Postgres, Service::Redis])
    .filled(&[
        ("postgres://carillon:PASSWORD@db.example.org/carillon", "$POSTGRES"),
        ("redis://:PASSWORD@redis.example.org/0", "$REDIS"),
    ]);
pub const UPGRADE: Chapter = chapter("admin/docs/guide/upgrade.md", "");
pub const BACKUP: Chapter = chapter("admin/docs/guide/backup.md", include_str!("stages/backup.sh"))
    .with(&[Service::Postgres, Service::Mariadb])
    .filled(&[
        ("postgres://carillon:PASSWORD@db.example.org/carillon", "$POSTGRES"),
        ("mysql://carillon:PASSWORD@db.example.org/carillon", "$MARIADB"),
    ]);
pub const SIZE: Chapter = chapter("admin/docs/guide/size.md", include_str!("stages/size.sh"))
    .with(&[Service::Postgres])
    .filled(&[("postgres://carillon:PASSWORD@db.example.org/carillon", "$POSTGRES")]);
pub const XXL_JOB: Chapter = chapter("admin/docs/xxl-job.md", include_str!("stages/xxl_job.sh"))
    .with(&[Service::XxlJob])
    .filled(&[
        ("mysql://carillon:PASSWORD@db.example.org:3306/xxl_job", "$XXL_JOB"),
        ("(xxl_job)", "($XXL_NAME)"),
        ("--source xxl_job", "--source $XXL_NAME"),
    ])
    .before(&[("carillon cutover billing", "sql 'UPDATE xxl_job_info SET trigger_status = 0'")]);
pub const CRONTAB: Chapter = chapter("admin/docs/crontab.md", include_str!("stages/crontab.sh"));
pub const FILES: Chapter = chapter("admin/docs/files.md", include_str!("stages/files.sh"))
    .before(&[("carillon drift jobs || echo \"exit code $?\"", include_str!("stages/files_drift.sh"))]);
pub const TROUBLESHOOTING: Chapter =
    chapter("admin/docs/troubleshooting.md", include_str!("stages/troubleshooting.sh"));
pub const WORKER: Chapter = chapter("admin/docs/worker.md", include_str!("stages/worker.sh"))
    .filled(&[("/etc/carillon/worker-token", "worker-token")]);
pub const OPERATIONS: Chapter = chapter("admin/docs/operations.md", include_str!("stages/operations.sh"))
    .before(&[("carillon user add ben --role editor --app billing", include_str!("stages/operations_app.sh"))])
    .filled(&[("/run/secrets/oidc", "oidc-secret")]);
pub const API: Chapter = chapter("admin/docs/api.md", include_str!("stages/api.sh"));
pub const DELAYED: Chapter = chapter("admin/docs/delayed.md", include_str!("stages/delayed.sh"));
pub const DIAGNOSIS: Chapter = chapter("admin/docs/diagnosis.md", include_str!("stages/diagnosis.sh"));

pub const ALL: &[&Chapter] = &[
    &FIRST_HOUR,
    &WORKFLOWS,
    &THREE_NODES,
    &UPGRADE,
    &BACKUP,
    &SIZE,
    &XXL_JOB,
    &CRONTAB,
    &FILES,
    &TROUBLESHOOTING,
    &WORKER,
    &OPERATIONS,
    &API,
    &DELAYED,
    &DIAGNOSIS,
];

/// A block that needs root and Debian, containers or a build.
pub struct Elsewhere {
    pub path: &'static str,
    /// A line of the block.
    pub line: &'static str,
    /// The file that runs it, and what it has for it.
    pub target: (&'static str, &'static str),
}

const fn elsewhere(path: &'static str, line: &'static str, target: (&'static str, &'static str)) -> Elsewhere {
    Elsewhere { path, line, target }
}

/// Blocks that are run by other targets.
pub const ELSEWHERE: &[Elsewhere] = &[
    elsewhere(
        "README.md",
        "make check                     # all checks; installs what it needs and leaves nothing running",
        (".ci/run", "make check"),
    ),
    elsewhere(
        "admin/docs/declared.md",
        "carillon drift --app orders || echo \"exit code $?\"",
        ("admin/tests/it/files/drift.rs", "drift_of_declared_jobs_is_printed_without_a_file"),
    ),
    elsewhere(
        "admin/docs/http-jobs.md",
        "curl -X POST \"$CARILLON_CALLBACK\" -d '{\"code\": 200, \"result\": {\"rows\": 7}}'",
        ("admin/tests/it/flow/dispatch/http/callbacks.rs", "a_callback_ends_the_run_and_counts_once"),
    ),
    elsewhere(
        "admin/docs/install.md",
        "systemctl enable --now carillon",
        (".ci/package-test", "block 'systemctl enable --now carillon'"),
    ),
    elsewhere(
        "admin/docs/install.md",
        "runuser -u carillon -- carillon user --help",
        (".ci/package-test", "block 'runuser -u carillon'"),
    ),
    elsewhere(
        "admin/docs/install.md",
        "docker load -i target/packages/carillon-*-image.tar",
        (".ci/image-test", "install.md 'docker load'"),
    ),
    elsewhere("admin/docs/loops.md", "api /jobs/1/loop", ("admin/tests/it/api/runs/loops.rs", "/loop")),
];

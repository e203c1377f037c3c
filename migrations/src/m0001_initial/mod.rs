//! The schema of the first release, by subject.

mod alerts;
mod apps;
mod cluster;
mod jobs;
mod people;
mod reports;
mod runs;

pub const STATEMENTS: &[&[&str]] = &[
    cluster::TABLES,
    apps::TABLES,
    jobs::TABLES,
    jobs::NOTES,
    jobs::CALENDARS,
    jobs::BACKFILLS,
    runs::TABLES,
    runs::ROUTING,
    reports::TABLES,
    alerts::ALARMS,
    alerts::ALERTS,
    people::ACCOUNTS,
    people::SIGN_IN,
    people::AUDIT,
];

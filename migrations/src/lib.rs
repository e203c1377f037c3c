#![doc = include_str!("../README.md")]

mod addition;
mod dialect;
mod m0001_first;
mod m0002_rules;
mod m0003_routes;
mod m0004_calendars;
mod m0005_backfill;
mod m0006_retries;
mod m0008_retention;
mod m0009_attention;
mod m0010_journal;
mod m0012_size;
mod m0013_params;
mod m0014_chain;
mod m0015_grants;
mod m0016_lists;
mod m0017_tokens;
mod m0019_audit;
mod m0020_sign_in;
mod m0021_alerts;
mod m0022_pauses;
mod m0023_labels;
mod m0024_reports;
mod m0025_apps;
mod m0028_language;
mod m0029_candidates;
mod m0030_failing;
mod m0031_credentials;

use sea_orm_migration::prelude::*;

/// All steps, oldest first.
pub struct Migrator;

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(m0001_first::Migration),
            Box::new(m0002_rules::Migration),
            Box::new(m0003_routes::Migration),
            Box::new(m0004_calendars::Migration),
            Box::new(m0005_backfill::Migration),
            Box::new(m0006_retries::Migration),
            Box::new(m0008_retention::Migration),
            Box::new(m0009_attention::Migration),
            Box::new(m0010_journal::Migration),
            Box::new(m0012_size::Migration),
            Box::new(m0013_params::Migration),
            Box::new(m0014_chain::Migration),
            Box::new(m0015_grants::Migration),
            Box::new(m0016_lists::Migration),
            Box::new(m0017_tokens::Migration),
            Box::new(m0019_audit::Migration),
            Box::new(m0020_sign_in::Migration),
            Box::new(m0021_alerts::Migration),
            Box::new(m0022_pauses::Migration),
            Box::new(m0023_labels::Migration),
            Box::new(m0024_reports::Migration),
            Box::new(m0025_apps::Migration),
            Box::new(m0028_language::Migration),
            Box::new(m0029_candidates::Migration),
            Box::new(m0030_failing::Migration),
            Box::new(m0031_credentials::Migration),
        ]
    }
}

/// The names of all steps that this program knows, oldest first, as the database records them.
pub fn names() -> Vec<String> {
    Migrator::migrations().iter().map(|step| step.name().to_owned()).collect()
}

//! Steps 1 to 9.

mod m0001_first;
mod m0002_rules;
mod m0003_routes;
mod m0004_calendars;
mod m0005_backfill;
mod m0006_retries;
mod m0008_retention;
mod m0009_attention;

use sea_orm_migration::MigrationTrait;

pub fn steps() -> Vec<Box<dyn MigrationTrait>> {
    vec![
        Box::new(m0001_first::Migration),
        Box::new(m0002_rules::Migration),
        Box::new(m0003_routes::Migration),
        Box::new(m0004_calendars::Migration),
        Box::new(m0005_backfill::Migration),
        Box::new(m0006_retries::Migration),
        Box::new(m0008_retention::Migration),
        Box::new(m0009_attention::Migration),
    ]
}

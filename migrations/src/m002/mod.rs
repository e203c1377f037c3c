//! Steps 20 to 29.

mod m0020_sign_in;
mod m0021_alerts;
mod m0022_pauses;
mod m0023_labels;
mod m0024_reports;
mod m0025_apps;
mod m0028_language;
mod m0029_candidates;

use sea_orm_migration::MigrationTrait;

pub fn steps() -> Vec<Box<dyn MigrationTrait>> {
    vec![
        Box::new(m0020_sign_in::Migration),
        Box::new(m0021_alerts::Migration),
        Box::new(m0022_pauses::Migration),
        Box::new(m0023_labels::Migration),
        Box::new(m0024_reports::Migration),
        Box::new(m0025_apps::Migration),
        Box::new(m0028_language::Migration),
        Box::new(m0029_candidates::Migration),
    ]
}

#![doc = include_str!("../README.md")]

mod addition;
mod dialect;
mod m000;
mod m001;
mod m002;
mod m003;

use sea_orm_migration::prelude::*;

/// All steps, oldest first.
pub struct Migrator;

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        [m000::steps(), m001::steps(), m002::steps(), m003::steps()].into_iter().flatten().collect()
    }
}

/// The names of all steps that this program knows, oldest first, as the database records them.
pub fn names() -> Vec<String> {
    Migrator::migrations().iter().map(|step| step.name().to_owned()).collect()
}

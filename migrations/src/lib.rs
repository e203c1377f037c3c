#![doc = include_str!("../README.md")]

mod dialect;
mod m0001_initial;
mod m0002_scripts;
mod m0003_follow_up;
mod m0004_workflows;
mod m0005_parts;
mod m0006_map;
mod m0007_http;
mod m0008_delayed;
mod m0009_limits;
mod m0010_declared;
mod m0011_receipt;
mod m0012_refused;
mod m0013_loops;
mod m0014_objective;
mod m0015_former_texts;
mod m0016_secret_params;
mod step;

use sea_orm_migration::prelude::*;

use crate::step::Step;

/// All steps, oldest first. A released step is never edited.
const STEPS: &[Step] = &[
    Step { name: "m0001_initial", statements: m0001_initial::STATEMENTS },
    Step { name: "m0002_scripts", statements: m0002_scripts::STATEMENTS },
    Step { name: "m0003_follow_up", statements: m0003_follow_up::STATEMENTS },
    Step { name: "m0004_workflows", statements: m0004_workflows::STATEMENTS },
    Step { name: "m0005_parts", statements: m0005_parts::STATEMENTS },
    Step { name: "m0006_map", statements: m0006_map::STATEMENTS },
    Step { name: "m0007_http", statements: m0007_http::STATEMENTS },
    Step { name: "m0008_delayed", statements: m0008_delayed::STATEMENTS },
    Step { name: "m0009_limits", statements: m0009_limits::STATEMENTS },
    Step { name: "m0010_declared", statements: m0010_declared::STATEMENTS },
    Step { name: "m0011_receipt", statements: m0011_receipt::STATEMENTS },
    Step { name: "m0012_refused", statements: m0012_refused::STATEMENTS },
    Step { name: "m0013_loops", statements: m0013_loops::STATEMENTS },
    Step { name: "m0014_objective", statements: m0014_objective::STATEMENTS },
    Step { name: "m0015_former_texts", statements: m0015_former_texts::STATEMENTS },
    Step { name: "m0016_secret_params", statements: m0016_secret_params::STATEMENTS },
];

pub struct Migrator;

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        STEPS.iter().map(|step| Box::new(*step) as Box<dyn MigrationTrait>).collect()
    }
}

/// The names of all steps that this program knows, oldest first, as the database records them.
pub fn names() -> Vec<String> {
    STEPS.iter().map(|step| step.name.to_owned()).collect()
}

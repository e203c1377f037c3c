//! Steps 30 to 39.

mod m0030_failing;
mod m0031_credentials;

use sea_orm_migration::MigrationTrait;

pub fn steps() -> Vec<Box<dyn MigrationTrait>> {
    vec![Box::new(m0030_failing::Migration), Box::new(m0031_credentials::Migration)]
}

//! Steps 10 to 19.

mod m0010_journal;
mod m0012_size;
mod m0013_params;
mod m0014_chain;
mod m0015_grants;
mod m0016_lists;
mod m0017_tokens;
mod m0019_audit;

use sea_orm_migration::MigrationTrait;

pub fn steps() -> Vec<Box<dyn MigrationTrait>> {
    vec![
        Box::new(m0010_journal::Migration),
        Box::new(m0012_size::Migration),
        Box::new(m0013_params::Migration),
        Box::new(m0014_chain::Migration),
        Box::new(m0015_grants::Migration),
        Box::new(m0016_lists::Migration),
        Box::new(m0017_tokens::Migration),
        Box::new(m0019_audit::Migration),
    ]
}

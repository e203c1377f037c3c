//! xxl-job 2.2 to 3.5.
//!
//! `source` reads its database by the columns that it has (`shape`); `apps`, `jobs` and `children` map rows to what Carillon has, by the
//! `words` that both have for the same, and write each difference to the `report`; `zone_proof` compares the instants with those that
//! xxl-job has planned; `plan` compares with what was imported before, `import` stores it. `cutover` lets an app run here once xxl-job has stopped it.

mod apps;
mod children;
mod cron_rewrite;
mod cutover;
mod error;
mod export;
mod import;
mod jobs;
mod plan;

mod report;
mod rows;
mod schedules;
mod shadow;
mod shape;
mod source;
mod unix_cron;
mod users;
pub mod words;
mod zone_proof;

pub use cutover::{Cutover, cut_over, go_back};
pub use error::Error;
pub use export::{Exported, Known, export};
pub use import::{Imported, import};
pub use jobs::RAN;
pub use plan::{ImportOptions, ImportPlan};
pub use report::record::{ImportRecord, RecordedCode, RecordedRow};
pub use report::{Finding, Report, meaning};
pub use shadow::{Observation, Shadow, Verdict};
pub use shape::Shape;
pub use source::{Source, SourceDatabase};

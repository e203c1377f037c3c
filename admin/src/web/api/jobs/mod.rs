//! `/jobs` and what belongs to one job.

pub mod backfills;
mod bulk;
mod bulk_outcome;
mod definition;
mod explain;
mod filter;
mod history;
mod list;
mod local_loop;
mod preview;
mod request;
mod run;
mod run_later;
mod scripts;
mod write;

pub use bulk::bulk;
pub use bulk_outcome::{BulkView, action_schema, carry_out, needed, refuse_others, selection, unknown_action};
pub use explain::explain;
pub use filter::check_texts;
pub use history::{history, restore};
pub use list::{get, list};
pub use local_loop::local_loop;
pub use preview::{MAX_INSTANTS, NEXT_INSTANTS, next, preview};
pub use run::{disable, enable, run};
pub use run_later::{run_many, scheduled};
pub use scripts::{script, scripts};
pub use write::{create, create_batch, delete, get_by_key, put_by_key, update};

//! Forms of the console: each module fills the fields of one subject and reads them back. The rules themselves are those of
//! the scheduler crate; here their errors find their fields.

pub mod calendar_form;
pub mod child_jobs;
pub mod curl_form;
mod fields;
mod form;
pub mod http_form;
pub mod job_form;
pub mod line_ends;
pub mod merge;
pub mod moment;
pub mod parts_form;
pub mod retry_form;
pub mod schedule_form;
pub mod script_form;
pub mod time_zone;
mod workflow_fault;
pub mod workflow_form;
mod workflow_yaml;

pub use fields::Fields;
pub use form::{Form, OWN_PASSWORD, field_of};

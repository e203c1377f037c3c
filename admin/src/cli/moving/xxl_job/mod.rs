//! Moving in from xxl-job, and back.

mod cutover;
mod export;
mod import;
mod shadow;
mod source_args;

pub use cutover::{CutoverArgs, run as cut_over};
pub use export::{ExportArgs, run as export};
pub use import::{ImportArgs, run as import};
pub use shadow::{ShadowArgs, run as shadow};

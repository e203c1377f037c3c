//! Jobs that programs declare in their code: the declarations of builds, and what has become of each declared job.

pub mod declarations;
pub mod jobs;
pub(crate) mod words;

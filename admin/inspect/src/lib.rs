//! Read-only views of what was, is and will be planned: the gap audit, the explanation of one instant, the forecast of all
//! jobs, and the preview of one schedule. The engine's gap auditor, the API, the console and the command line use them.

pub mod audit;
pub mod explain;
pub mod forecast;
pub mod preview;

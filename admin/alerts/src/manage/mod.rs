//! What people and programs do with alerts: each change asks the policy first.

mod alerts;
mod answers;
mod channels;
mod entry_points;
mod rules;

pub use alerts::AlertAction;
pub use answers::shown_answer;
pub use channels::{ChannelDraft, ChannelView, PER_HOUR};
pub use entry_points::Alerts;
pub use rules::RuleDraft;

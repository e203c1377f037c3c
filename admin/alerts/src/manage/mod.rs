//! What people and programs do with alerts: each change asks the policy first.

mod alerts;
mod channels;
mod entry_points;
mod rules;

pub use channels::{ChannelDraft, ChannelView};
pub use entry_points::Alerts;
pub use rules::RuleDraft;

//! What a request may cost: connections, head, speed and memory of its body.

pub mod body_memory;
pub mod slow_body_guard;
pub mod token_look_ups;

/// Bytes of a form that may be sent without a session.
pub const SMALL_FORM: usize = 16 << 10;

/// The answer where too many different forecasts are waited for.
pub const TOO_MANY_FORECASTS: &str = "this node is counting as many forecasts as it can; try again";

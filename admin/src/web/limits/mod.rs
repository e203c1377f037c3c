//! What a request may cost: connections, head, speed and memory of its body.

pub mod body_memory;
pub mod rate;
pub mod slow_body_guard;

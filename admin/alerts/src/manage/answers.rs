//! Who sees what a channel has answered: it may name hosts, addresses and recipients, as the settings of the channel do.

use carillon_store::Actor;
use carillon_store::alert::deliveries::{Delivery, DeliveryState};

use crate::manage::channels::administers;

/// The answer for a viewer: all of it for administrators of all apps, the status and the outcome for others.
pub fn shown_answer(delivery: &Delivery, by: &Actor) -> Option<String> {
    let answer = delivery.answer.as_deref()?;
    if administers(by) {
        return Some(answer.to_owned());
    }
    let status = answer.strip_prefix("HTTP ").and_then(|rest| rest.get(..3));
    let status = status.filter(|status| status.bytes().all(|byte| byte.is_ascii_digit()));
    Some(match (delivery.state(), status) {
        (_, Some(status)) => format!("HTTP {status}"),
        (DeliveryState::Sent, None) => "delivered".to_owned(),
        // Its text is our own.
        (DeliveryState::LeftOut, None) => answer.to_owned(),
        (DeliveryState::Pending | DeliveryState::Failed, None) => "not delivered".to_owned(),
    })
}

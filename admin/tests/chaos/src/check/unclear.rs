//! How long a request may still take effect whose client does not know what became of it.

use crate::clock::Millis;
use crate::record::{Call, Class, Fault, History, Outcome};

/// A node that can work waits for a connection of its database, performs the request's few statements, or gives it up.
const SERVED: Millis = 10_000;

/// After this moment the call takes no effect any more. A client that gives up does not take its request back: the request
/// lies in the socket of a paused node, or in a transaction that waits for the database, until the fault has ended.
pub fn settled_at(history: &History, call: &Call) -> Millis {
    if call.outcome != Outcome::Unclear {
        return call.returned_at;
    }
    let mut around: Vec<&Fault> = history.faults.iter().collect();
    around.retain(|fault| fault.to >= call.invoked_at && may_hold(fault, call));
    around.sort_by_key(|fault| fault.from);
    // The next fault may begin before the request that the last one held was served.
    around.into_iter().fold(call.returned_at.max(call.invoked_at + SERVED), |end, fault| {
        if fault.from <= end { end.max(fault.to + SERVED) } else { end }
    })
}

/// Whether a request to this call's node may have to wait for the fault's end. Older histories do not name the node.
fn may_hold(fault: &Fault, call: &Call) -> bool {
    let node = call.node.as_deref();
    let is_near = node.is_none_or(|node| [node, "all", "database"].contains(&&*fault.target));
    is_near && matches!(fault.class, Class::Holder | Class::Database)
}

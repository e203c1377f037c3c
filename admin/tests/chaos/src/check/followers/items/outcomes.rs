//! The outcome of each item is one that an executor has seen, and the run that reads the results has read them.

use super::Map;
use super::evidence::Evidence;
use crate::check::{Figure, Findings};
use crate::record::{ItemRow, ItemState, State};

pub fn check(map: &Map<'_>, evidence: &Evidence<'_>, findings: &mut Findings) {
    for item in &map.items {
        if let Some(why) = wrong(map, item, evidence) {
            findings.add(Figure::ItemOutcome, || format!("{why}: {item:?} of {:?}", map.row));
        }
    }
    let all = (map.row.items, map.count_in(ItemState::Failed) as i64);
    for run in map.runs_of(0) {
        for read in evidence.reduced(run.id).iter().filter(|read| **read != all) {
            findings
                .add(Figure::ItemOutcome, || format!("items and failures are {all:?}, {read:?} were read: {run:?}"));
        }
        if run.state == State::Succeeded && evidence.reduced(run.id).is_empty() {
            findings.add(Figure::ItemOutcome, || format!("it has read no results: {run:?}"));
        }
    }
}

fn wrong(map: &Map<'_>, item: &ItemRow, evidence: &Evidence<'_>) -> Option<&'static str> {
    let Some(delivery) = map.delivery_of(item.item) else {
        return (item.state != ItemState::Waiting).then_some("it was not delivered");
    };
    let any = |is: &dyn Fn(i64) -> bool| map.runs_of(delivery.delivery).any(|run| is(run.id));
    let succeeded = any(&|run| evidence.has_success(run, item.item));
    let acked = any(&|run| evidence.success_acked_at(run, item.item).is_some());
    match item.state {
        ItemState::Succeeded if !succeeded => Some("no executor of its delivery knows of a success"),
        ItemState::Succeeded => None,
        _ if acked => Some("its success was taken"),
        ItemState::Failed if !delivery.ended => Some("its delivery has not ended"),
        ItemState::Failed => None,
        _ if delivery.ended => Some("its delivery has ended without it"),
        _ => None,
    }
}

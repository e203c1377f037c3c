//! What runs are given in place of the parameters of their jobs.

use carillon_protocol::{DeliveredItem, Delivery, Reduction};
use carillon_scheduler::Cause;
use serde::Serialize;

use carillon_store as store;
use carillon_store::Store;
use carillon_store::job::job_row::GivenParams;
use carillon_store::map::delivery::ItemInput;
use carillon_store::run::adopt::ClaimedRun;

/// By the ids of the runs. A run that is not among them gets the parameters of its job.
pub async fn given_params(
    store: &Store,
    runs: impl Iterator<Item = &ClaimedRun>,
) -> store::Result<Vec<(i64, GivenParams)>> {
    let (of_items, others): (Vec<&ClaimedRun>, Vec<&ClaimedRun>) = runs.partition(|run| run.cause == Cause::Item);
    let ids: Vec<i64> = others.iter().map(|run| run.run_id).collect();
    let mut given = if ids.is_empty() { vec![] } else { store.jobs().given_params(&ids).await? };
    for run in of_items {
        let text = text(run, store.maps().input(run.fire_no, run.part).await?);
        given.push((run.run_id, GivenParams { text, is_of_part: false, repeats_saved: false }));
    }
    Ok(given)
}

/// The items that are left of a delivery, or how many there are to be read.
fn text(run: &ClaimedRun, input: ItemInput) -> String {
    match input {
        ItemInput::Delivery(items) => {
            let items = items.into_iter().map(|(item, params)| DeliveredItem { item, params }).collect();
            json(&Delivery { map: run.fire_no, delivery: run.part, items })
        }
        ItemInput::Reduction { items, failed } => json(&Reduction { map: run.fire_no, items, failed }),
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

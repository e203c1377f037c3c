//! One load, one table.

use carillon_testkit::Reply;
use serde_json::json;

use crate::executors::Executors;
use crate::node;
use crate::options::{Options, every_second};
use crate::scan_lag::ScanLag;
use crate::trial::{START, Trial};

pub async fn measure(options: &Options) {
    let trial = Trial::start(options).await;
    trial.create_jobs(options, options.jobs).await;
    let hanging = flood(&trial, options).await;
    tokio::time::sleep(START).await;
    let lag = match options.scan_lag {
        true => Some(ScanLag::start(&trial, options).await),
        false => None,
    };
    trial.measure(options).await.print();
    node::print_scans(&trial.api).await;
    if let Some(lag) = lag {
        lag.print();
    }
    drop(hanging);
    trial.end().await;
}

/// A second app whose executor never answers.
async fn flood(trial: &Trial, options: &Options) -> Option<Executors> {
    if options.flood == 0 {
        return None;
    }
    trial.api.post("apps", json!({"name": "flood"})).await.ok();
    let hanging = Executors::start(&trial.admins, "flood", 1).await;
    hanging.reply(&Reply::Never);
    node::create_jobs(&trial.api, "flood", options.flood, |_| every_second()).await;
    Some(hanging)
}

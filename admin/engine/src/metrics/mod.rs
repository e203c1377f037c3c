//! What `/metrics` shows: one registry for each server, so that several can live in one process.
//!
//! `admin/docs/observability.md` has the same table; a test compares them.

pub(crate) mod app_labels;

use foldhash::HashMap;

use carillon_scheduler::{AlarmKind, Millis, RunState};
use prometheus::core::Collector;
use prometheus::{
    Encoder, Gauge, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts,
    Registry, TextEncoder,
};

use crate::metrics::app_labels::AppLabels;

/// Upper bounds of the histograms' buckets, in seconds.
const BUCKETS: [f64; 14] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0];

/// `field: type, name, [labels], help`.
macro_rules! metrics {
    ($($field:ident: $kind:ident, $name:literal, [$($label:literal),*], $help:literal;)*) => {
        pub struct Metrics {
            registry: Registry,
            apps: AppLabels,
            $(pub $field: $kind,)*
        }

        impl Metrics {
            pub fn new() -> Self {
                let registry = Registry::new();
                let metrics = Self { $($field: register::<$kind>(&registry, $name, $help, &[$($label),*]),)* registry, apps: AppLabels::default() };
                metrics.begin_with_zero();
                metrics
            }
        }

        #[cfg(test)]
        const TABLE: &[(&str, &str, &[&str], &str)] = &[$(($name, <$kind as Metric>::KIND, &[$($label),*], $help),)*];
    };
}

metrics! {
    claimed: IntCounter, "carillon_runs_claimed_total", [], "Instants that this node recorded as runs.";
    misfired: IntCounter, "carillon_instants_skipped_total", [], "Instants that this node recorded as skipped: misfired or coalesced.";
    sends: IntCounterVec, "carillon_sends_total", ["outcome"], "Requests to executors, by outcome.";
    settled: IntCounterVec, "carillon_runs_settled_total", ["state"], "Runs that this node brought to a state, by state.";
    alarms: IntCounterVec, "carillon_alarms_total", ["kind"], "Alarms raised by this node, by kind.";
    escalated: IntCounterVec, "carillon_alarms_escalated_total", ["kind"], "Alarms that this node escalated because they stayed open, by kind.";
    alert_deliveries: IntCounterVec, "carillon_alert_deliveries_total", ["outcome"], "Tries of this node to send a message of an alert, by outcome.";
    flagged: IntCounter, "carillon_runs_flagged_total", [], "Runs that this node flagged because they were not sent in time.";
    checks: IntCounterVec, "carillon_run_checks_total", ["seen"], "Checks of runs that stay running at an executor without a journal, by what was seen.";
    resends: IntCounter, "carillon_resends_total", [], "Runs that were sent again to the same executor because no answer came.";
    fenced: IntCounter, "carillon_fence_hits_total", [], "Writes refused because another node holds the shard.";
    results_unsent: IntCounter, "carillon_results_unsent_total", [], "Results reported for runs that were never sent. They change nothing.";
    results_foreign: IntCounter, "carillon_results_foreign_total", [], "Results reported by another executor than the one that has the run. They change nothing.";
    results_unusable: IntCounter, "carillon_results_unusable_total", [], "Results that named no run, or were no results. They were answered, so that they are not repeated.";
    results_dropped: IntCounter, "carillon_results_dropped_total", [], "Results that could not be stored for ten minutes, as the row of their run cannot be read. They were answered, so that they are not repeated.";
    lock_conflicts: IntCounterVec, "carillon_lock_conflicts_total", ["lock"], "Shards that this node could not take or renew because another node holds their lock, `redis`, or their lease, `database`.";
    gaps: IntCounter, "carillon_gaps_total", [], "Instants whose records differ from their schedule without an explanation.";
    missed: IntCounter, "carillon_fires_missed_total", [], "Instants with neither a run nor a record of a skip, without an explanation.";
    pruned: IntCounter, "carillon_runs_pruned_total", [], "Runs that this node deleted when their retention was over.";
    saturated: IntCounter, "carillon_saturated_total", [], "Times that a due run found no executor with a free slot.";
    lateness: Histogram, "carillon_lateness_seconds", [], "From a run's due time to its request.";
    app_lateness: HistogramVec, "carillon_app_lateness_seconds", ["app"], "The same by app.";
    app_burst: IntCounterVec, "carillon_app_burst_runs_total", ["app"], "Runs that left together with an earlier instant of their job, because it was late, by app.";
    app_overdue: IntGaugeVec, "carillon_app_overdue_runs", ["app"], "Runs that this node has not sent more than a second after they were due, by app.";
    app_runs: IntCounterVec, "carillon_app_runs_total", ["app", "state"], "Runs that ended, or whose outcome is not known, by app and state; only the node that holds shard 0 counts them, about three minutes later.";
    app_open: IntGaugeVec, "carillon_app_open_runs", ["app", "state"], "Open runs of the whole cluster, by app and state; only the node that holds shard 0 reports them.";
    scan: Histogram, "carillon_scan_duration_seconds", [], "One round of a shard's scan.";
    scan_lag: Gauge, "carillon_scan_lag_seconds", [], "Time since a scan of a shard of this node succeeded, of the shard for which it is longest; up to 10 s where there is no work.";
    advance: Histogram, "carillon_advance_duration_seconds", [], "One transaction of what follows from ends of runs: a workflow, the items of a run, or all children and fixed delays of a round.";
    nodes_started: IntCounter, "carillon_workflow_nodes_started_total", [], "Nodes of workflows that this node started.";
    workflows_open: IntGauge, "carillon_open_workflows", [], "Workflows on their way in the whole cluster; 0 on a node that does not hold shard 0.";
    ring: IntGauge, "carillon_ring_entries", [], "Runs that wait in memory for their due time.";
    limit_waiting: IntGauge, "carillon_limit_waiting_runs", [], "Runs that wait in memory for slots of limits.";
    loops: IntGauge, "carillon_loops", [], "Loops of best-effort jobs of this node's shards that executors have and report.";
    loop_grants: IntCounter, "carillon_loop_grants_total", [], "Loops of best-effort jobs that this node gave to executors: one for each start and each change of executor.";
    in_flight: IntGauge, "carillon_in_flight", [], "Requests to executors that have no answer yet.";
    shards_held: IntGauge, "carillon_shards_held", [], "Shards whose lease this node holds.";
    shards_stopped: IntGauge, "carillon_shards_stopped", [], "Shards that are stopped because the database went backwards.";
    hints_sent: IntCounter, "carillon_shard_hints_sent_total", [], "Shards of other nodes to which this node brought work, and told them.";
    hints_followed: IntCounter, "carillon_shard_hints_followed_total", [], "Scans that this node began early because another node had brought work.";
    degraded: IntGauge, "carillon_degraded", [], "1 while Redis is configured and cannot be reached.";
    skew: IntGauge, "carillon_version_skew", [], "Live nodes whose version or time zone edition differs from this one's.";
    request_bytes: IntGauge, "carillon_request_body_bytes", [], "Bytes of request bodies that this node holds in memory.";
    wrong_tokens: IntCounter, "carillon_wrong_access_tokens_total", [], "Requests of executors that this node refused because their access token was wrong.";
    rate_limited: IntCounter, "carillon_rate_limited_total", [], "Requests that this node refused because their account or token had made too many.";
    open_runs: IntGaugeVec, "carillon_open_runs", ["state"], "Open runs of the whole cluster, by state; only the node that holds shard 0 reports them.";
    clock_difference: Gauge, "carillon_clock_difference_seconds", [], "The database's clock minus this node's, at the last comparison.";
    job_cache_bytes: IntGauge, "carillon_job_cache_bytes", [], "Approximate memory of the job definitions that this node caches.";
}

trait Metric: Collector + Clone + Sized + 'static {
    #[cfg(test)]
    const KIND: &'static str;

    fn create(options: Opts, labels: &[&str]) -> prometheus::Result<Self>;
}

macro_rules! kinds {
    ($($kind:ident $word:literal |$options:ident, $labels:ident| $create:expr;)*) => {$(
        impl Metric for $kind {
            #[cfg(test)]
            const KIND: &'static str = $word;

            fn create($options: Opts, $labels: &[&str]) -> prometheus::Result<Self> {
                $create
            }
        }
    )*};
}

kinds! {
    IntCounter "counter" |options, _labels| Self::with_opts(options);
    IntCounterVec "counter" |options, labels| Self::new(options, labels);
    Gauge "gauge" |options, _labels| Self::with_opts(options);
    IntGauge "gauge" |options, _labels| Self::with_opts(options);
    IntGaugeVec "gauge" |options, labels| Self::new(options, labels);
    Histogram "histogram" |options, _labels| Self::with_opts(HistogramOpts::from(options).buckets(BUCKETS.to_vec()));
    HistogramVec "histogram" |options, labels| Self::new(HistogramOpts::from(options).buckets(BUCKETS.to_vec()), labels);
}

#[expect(clippy::expect_used, reason = "names are constants; a wrong or repeated one fails in the first test")]
fn register<M: Metric>(registry: &Registry, name: &str, help: &str, labels: &[&str]) -> M {
    let metric = M::create(Opts::new(name, help), labels).expect("a valid name");
    registry.register(Box::new(metric.clone())).expect("a name of its own");
    metric
}

impl Metrics {
    /// Prometheus sees no increase in a counter that begins with its first event: a rule would miss it.
    fn begin_with_zero(&self) {
        for kind in AlarmKind::ALL {
            self.alarms.with_label_values(&[kind.as_str()]).inc_by(0);
            self.escalated.with_label_values(&[kind.as_str()]).inc_by(0);
        }
        for lock in ["redis", "database"] {
            self.lock_conflicts.with_label_values(&[lock]).inc_by(0);
        }
    }

    /// A run of this app leaves `late_ms` after it was due.
    pub fn observe_lateness(&self, app: &str, late_ms: Millis) {
        let seconds = late_ms as f64 / 1000.0;
        self.lateness.observe(seconds);
        self.app_lateness.with_label_values(&[self.apps.label(app)]).observe(seconds);
    }

    pub fn count_burst_run(&self, app: &str) {
        self.app_burst.with_label_values(&[self.apps.label(app)]).inc();
    }

    /// An app without such runs has no value.
    pub fn set_overdue(&self, runs: &HashMap<String, i64>) {
        self.app_overdue.reset();
        for (app, count) in runs {
            self.app_overdue.with_label_values(&[self.apps.label(app)]).add(*count);
        }
    }

    pub fn count_app_runs(&self, app: &str, state: RunState, count: u64) {
        let app = self.apps.label(app);
        // With the first run of an app all its counters begin: see `begin_with_zero`.
        for other in RunState::ALL.iter().filter(|other| !other.is_pending()) {
            self.app_runs.with_label_values(&[app, other.as_str()]).inc_by(0);
        }
        self.app_runs.with_label_values(&[app, state.as_str()]).inc_by(count);
    }

    /// An app without such runs has no value.
    pub fn set_app_open(&self, runs: impl IntoIterator<Item = (String, RunState, i64)>) {
        self.app_open.reset();
        for (app, state, count) in runs {
            self.app_open.with_label_values(&[self.apps.label(&app), state.as_str()]).add(count);
        }
    }

    /// The text form of Prometheus.
    pub fn render(&self) -> String {
        let mut out = Vec::new();
        if let Err(error) = TextEncoder::new().encode(&self.registry.gather(), &mut out) {
            tracing::error!(%error, "metrics cannot be written");
        }
        String::from_utf8(out).unwrap_or_default()
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use carillon_scheduler::{AlarmKind, RunState};

    use crate::metrics::{Metrics, TABLE};

    #[test]
    fn counters_that_rules_watch_begin_with_zero() {
        let metrics = Metrics::new();
        metrics.count_app_runs("billing", RunState::Succeeded, 3);
        let text = metrics.render();
        let has = |line: String| assert!(text.lines().any(|it| it == line), "no {line} in {text}");
        for kind in AlarmKind::ALL {
            has(format!("carillon_alarms_total{{kind=\"{kind}\"}} 0"));
        }
        for (state, count) in [("failed", 0), ("lost", 0), ("unknown", 0), ("succeeded", 3)] {
            has(format!("carillon_app_runs_total{{app=\"billing\",state=\"{state}\"}} {count}"));
        }
        assert!(!text.contains("state=\"running\""), "{text}");
    }

    #[test]
    fn the_document_lists_each_metric_as_it_is_registered() {
        let document = include_str!("../../../docs/observability.md");
        let rows: Vec<&str> = document.lines().filter(|line| line.starts_with("| `carillon_")).collect();
        let row = |(name, kind, labels, help): &(&str, &str, &[&str], &str)| {
            let labels: Vec<String> = labels.iter().map(|label| format!("`{label}`")).collect();
            format!("| `{name}` | {kind} | {} | {help} |", labels.join(", "))
        };
        assert_eq!(rows, TABLE.iter().map(row).collect::<Vec<_>>());
    }
}

//! What `/metrics` shows: one registry for each server, so that several can live in one process.

use prometheus::{
    Encoder, Gauge, Histogram, HistogramOpts, IntCounter, IntCounterVec, IntGauge, Opts, Registry, TextEncoder,
};

pub struct Metrics {
    registry: Registry,
    pub claimed: IntCounter,
    pub misfired: IntCounter,
    pub sends: IntCounterVec,
    pub settled: IntCounterVec,
    pub alarms: IntCounterVec,
    pub escalated: IntCounterVec,
    pub flagged: IntCounter,
    pub checks: IntCounterVec,
    pub resends: IntCounter,
    pub fenced: IntCounter,
    pub results_unsent: IntCounter,
    pub gaps: IntCounter,
    pub missed: IntCounter,
    pub pruned: IntCounter,
    pub saturated: IntCounter,
    pub lateness: Histogram,
    pub scan: Histogram,
    pub ring: IntGauge,
    pub in_flight: IntGauge,
    pub shards_held: IntGauge,
    pub shards_stopped: IntGauge,
    pub degraded: IntGauge,
    pub skew: IntGauge,
    pub request_bytes: IntGauge,
    pub wrong_tokens: IntCounter,
    pub open_runs: prometheus::IntGaugeVec,
    pub clock_difference: Gauge,
    pub job_cache_bytes: IntGauge,
}

fn counter(registry: &Registry, name: &str, help: &str) -> IntCounter {
    registered(registry, IntCounter::new(name, help))
}

fn gauge(registry: &Registry, name: &str, help: &str) -> IntGauge {
    registered(registry, IntGauge::new(name, help))
}

fn counters(registry: &Registry, name: &str, help: &str, label: &str) -> IntCounterVec {
    registered(registry, IntCounterVec::new(Opts::new(name, help), &[label]))
}

fn histogram(registry: &Registry, name: &str, help: &str, buckets: &[f64]) -> Histogram {
    registered(registry, Histogram::with_opts(HistogramOpts::new(name, help).buckets(buckets.to_vec())))
}

fn registered<C: prometheus::core::Collector + Clone + 'static>(registry: &Registry, made: prometheus::Result<C>) -> C {
    #[expect(clippy::expect_used, reason = "names are constants; a wrong one fails in the first test")]
    let collector = made.expect("a metric's name");
    #[expect(clippy::expect_used, reason = "names are constants; a second one fails in the first test")]
    registry.register(Box::new(collector.clone())).expect("a metric's name, once");
    collector
}

impl Metrics {
    pub fn new() -> Self {
        let r = Registry::new();
        let seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0];
        Self {
            claimed: counter(&r, "carillon_runs_claimed_total", "Instants recorded as runs by this node."),
            misfired: counter(
                &r,
                "carillon_instants_skipped_total",
                "Instants recorded as skipped by this node (misfired or coalesced).",
            ),
            sends: counters(&r, "carillon_sends_total", "Requests to executors, by outcome.", "outcome"),
            settled: counters(&r, "carillon_runs_settled_total", "Runs that reached a state by this node.", "state"),
            alarms: counters(&r, "carillon_alarms_total", "Alarms raised by this node, by kind.", "kind"),
            escalated: counters(
                &r,
                "carillon_alarms_escalated_total",
                "Alarms that nobody had resolved for long, escalated by this node, by kind.",
                "kind",
            ),
            flagged: counter(
                &r,
                "carillon_runs_flagged_total",
                "Runs flagged by this node because they were not sent for long after they were due.",
            ),
            checks: counters(
                &r,
                "carillon_run_checks_total",
                "Looks at runs that stay running at an executor without a journal, by what was seen.",
                "seen",
            ),
            resends: counter(
                &r,
                "carillon_resends_total",
                "Runs sent again to the same executor because no answer had come.",
            ),
            fenced: counter(&r, "carillon_fence_hits_total", "Writes refused because another node holds the shard."),
            results_unsent: counter(
                &r,
                "carillon_results_unsent_total",
                "Results that were reported for runs that had never been sent. They change nothing.",
            ),
            pruned: counter(
                &r,
                "carillon_runs_pruned_total",
                "Runs deleted by this node because they had been kept long enough.",
            ),
            gaps: counter(
                &r,
                "carillon_gaps_total",
                "Instants whose records differ from their schedule, and nothing explains it.",
            ),
            missed: counter(
                &r,
                "carillon_fires_missed_total",
                "Instants that have neither a run nor a record of having been skipped, and nothing explains it.",
            ),
            saturated: counter(&r, "carillon_saturated_total", "Times a due run found no executor with room."),
            lateness: histogram(&r, "carillon_lateness_seconds", "From a run's due time to its request.", &seconds),
            scan: histogram(&r, "carillon_scan_duration_seconds", "One round of a shard's scan.", &seconds),
            ring: gauge(&r, "carillon_ring_entries", "Runs that wait in memory for their second."),
            in_flight: gauge(&r, "carillon_in_flight", "Requests to executors under way."),
            shards_held: gauge(&r, "carillon_shards_held", "Shards that this node works."),
            shards_stopped: gauge(
                &r,
                "carillon_shards_stopped",
                "Shards that nobody works because the database went backwards.",
            ),
            degraded: gauge(&r, "carillon_degraded", "1 while Redis is set and cannot be reached."),
            skew: gauge(
                &r,
                "carillon_version_skew",
                "Live nodes whose version or time zone edition differs from this one's.",
            ),
            open_runs: registered(
                &r,
                prometheus::IntGaugeVec::new(
                    Opts::new(
                        "carillon_open_runs",
                        "Runs that have not ended, by state, in the whole cluster; from the node that holds shard 0.",
                    ),
                    &["state"],
                ),
            ),
            request_bytes: gauge(
                &r,
                "carillon_request_body_bytes",
                "Bytes of request bodies that this node holds in memory.",
            ),
            wrong_tokens: counter(
                &r,
                "carillon_wrong_access_tokens_total",
                "Requests of executors that this node refused because their access token was wrong.",
            ),
            job_cache_bytes: gauge(
                &r,
                "carillon_job_cache_bytes",
                "Memory of the definitions that this node keeps, about.",
            ),
            clock_difference: registered(
                &r,
                Gauge::new(
                    "carillon_clock_difference_seconds",
                    "The database's clock against this node's, when it was last asked.",
                ),
            ),
            registry: r,
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

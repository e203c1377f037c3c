//! What executors report of their loops, and the answer.

use std::collections::HashSet;

use carillon_protocol::{LoopRenewals, LoopReport, LoopReports, RenewedLoop};
use carillon_store as store;
use carillon_store::lease::loops::{LoopHolder, Report};

use crate::engine::Engine;
use crate::loops::lease::LOOP_LEASE;
use crate::loops::reports::kept_report;
use crate::loops::timing::timing;
use crate::settings::ms;

impl Engine {
    /// Renews the loops that an executor reports and has, and takes back those that end there. Loops that the answer does not name are
    /// over: their executor ends them.
    ///
    /// # Errors
    /// The database does not answer: then nothing is renewed that is not renewed already.
    pub async fn renew_loops(&self, holder: LoopHolder<'_>, sent: LoopReports) -> store::Result<LoopRenewals> {
        let (ended, going): (Vec<LoopReport>, Vec<LoopReport>) = sent.loops.into_iter().partition(|it| it.ends);
        let (loops, now) = (self.cx.store.loops(), self.cx.clock.now());
        if !ended.is_empty() {
            loops.release(holder, &stored(&ended), now).await?;
            self.services.loop_granter.wake.notify_one();
        }
        let renewed = loops.renew(holder, &stored(&going), now, ms(LOOP_LEASE)).await?;
        let named: HashSet<i64> = renewed.iter().copied().collect();
        let jobs = self.job_cache.current(&renewed).await?;
        let mut answer = Vec::with_capacity(renewed.len());
        let now = self.cx.clock.now();
        for report in going.iter().filter(|report| named.contains(&i64::from(report.job_id))) {
            let Some(Ok(rules)) = jobs.get(&i64::from(report.job_id)).map(|job| &job.rules) else { continue };
            let (job_id, epoch) = (report.job_id, report.epoch);
            answer.push(RenewedLoop { job_id, epoch, timing: timing(&rules.schedule, now) });
        }
        // Read last: the executor takes it for the time at which the answer leaves.
        let now = self.cx.clock.now();
        Ok(LoopRenewals { now, lease_ms: u32::try_from(ms(LOOP_LEASE)).unwrap_or(u32::MAX), loops: answer })
    }
}

fn stored(reports: &[LoopReport]) -> Vec<Report> {
    let stored = |report: &LoopReport| Report {
        job_id: report.job_id.into(),
        epoch: report.epoch,
        text: kept_report(report.clone()),
    };
    reports.iter().map(stored).collect()
}

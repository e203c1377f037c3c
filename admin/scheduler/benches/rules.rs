//! The two pieces of the rules that a busy scan spends its time in: the next fire, and plans for many due jobs.

use carillon_scheduler::{
    CatchUp, ClockChanges, CronDraft, Facts, KindDraft, Millis, MisfirePolicy, Schedule, Timing,
    plan,
};
use divan::{Bencher, black_box, counter::ItemsCount};

const NOW: Millis = 1_751_641_200_000; // 2025-07-04T15:00:00Z
const DUE: usize = 10_000;

fn main() {
    divan::main();
}

fn cron(expression: &str, timezone: &str) -> Schedule {
    let draft = KindDraft::Cron(CronDraft {
        expression: expression.to_owned(),
        timezone: timezone.to_owned(),
        clock_changes: ClockChanges::Carillon,
    });
    Schedule::parse(&draft.into(), &Facts::anchored(0)).expect("a valid expression")
}

#[divan::bench(args = [
    ("* * * * * ?", "UTC"),
    ("* * * * * ?", "America/New_York"),
    ("0 */5 * * * ?", "Asia/Shanghai"),
    ("0 30 9 ? * MON-FRI", "Europe/Berlin"),
    ("0 0 12 L-3W * ?", "UTC"),
    ("0 0 0 29 2 ?", "America/New_York"),
    ("0 0 0 30 2 ?", "UTC"),
])]
fn next_fire(bencher: Bencher, (expression, zone): (&str, &str)) {
    let schedule = cron(expression, zone);
    bencher.bench(|| schedule.next_after(black_box(NOW)));
}

#[divan::bench]
fn parse(bencher: Bencher) {
    bencher.bench(|| cron(black_box("0 0/15 8-18 ? * MON-FRI"), "Europe/Berlin"));
}

/// Jobs of a mixed day, each due once within the look-ahead of 5 s.
#[divan::bench(args = [("0 * * * * ?", "UTC"), ("0 0 9 * * ?", "America/New_York")])]
fn plan_10_000_due_jobs(bencher: Bencher, (expression, zone): (&str, &str)) {
    let schedules: Vec<Schedule> = (0..DUE).map(|_| cron(expression, zone)).collect();
    bencher.counter(ItemsCount::new(DUE)).bench(|| {
        schedules
            .iter()
            .map(|schedule| {
                let timing = Timing {
                    schedule,
                    catch_up: CatchUp::All,
                    misfire: MisfirePolicy::FireOnce,
                    misfire_threshold_ms: 60_000,
                    ..Timing::of(schedule)
                };
                plan(&timing, NOW, black_box(NOW - 2_000), NOW + 3_000, 100)
                    .fires
                    .len()
            })
            .sum::<usize>()
    });
}

/// One job that fires each second, asked again after a year: the longest plan there is.
#[divan::bench]
fn plan_after_a_year(bencher: Bencher) {
    let schedule = cron("* * * * * ?", "America/New_York");
    let timing = Timing {
        schedule: &schedule,
        catch_up: CatchUp::Latest,
        misfire: MisfirePolicy::FireOnce,
        misfire_threshold_ms: 86_400_000,
        ..Timing::of(&schedule)
    };
    bencher.bench(|| {
        plan(
            &timing,
            NOW - 31_536_000_000,
            black_box(NOW),
            NOW + 3_000,
            100,
        )
    });
}

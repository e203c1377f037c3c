//! The rules that take most of the time of a busy scan: the next fire, and plans for many due jobs.

use std::sync::Arc;

use carillon_scheduler::schedule::spread;
use carillon_scheduler::{
    Calendar, CatchUp, DailyDraft, Excluded, KindDraft, Millis, MisfirePolicy, PlanInput, Schedule, ScheduleContext,
    ScheduleDraft, Weekday, plan,
};
use chrono::NaiveDate;
use divan::{Bencher, black_box, counter::ItemsCount};

const NOW: Millis = 1_751_641_200_000; // 2025-07-04T15:00:00Z
const DUE: usize = 10_000;

fn main() {
    divan::main();
}

fn calendar(name: &str, weekdays: &[Weekday]) -> Calendar {
    Calendar {
        name: name.to_owned(),
        title: String::new(),
        weekdays: weekdays.iter().copied().collect(),
        days: Default::default(),
        extra: Default::default(),
    }
}

/// Five calendars whose days follow each other, 68 years without a working day.
fn years_off() -> Vec<Calendar> {
    let today = NaiveDate::from_ymd_opt(2025, 7, 1).expect("a day");
    let days = |n: usize| today.iter_days().skip(n * 5_000).take(5_000).collect();
    (0..5).map(|n| Calendar { days: days(n), ..calendar(&format!("years {n}"), &[]) }).collect()
}

/// A schedule under all of these calendars.
fn under(mut draft: ScheduleDraft, excluded: Excluded, calendars: Vec<Calendar>) -> Schedule {
    draft.excluded = excluded;
    draft.calendars = calendars.iter().map(|c| c.name.clone()).collect();
    let calendars: Vec<Arc<Calendar>> = calendars.into_iter().map(Arc::new).collect();
    let facts = ScheduleContext { anchor_at: NOW, spread_offset_seconds: 417, calendars: &calendars };
    Schedule::parse(&draft, &facts).expect("a valid draft")
}

fn plain(draft: ScheduleDraft) -> Schedule {
    under(draft, Excluded::Skip, vec![])
}

fn cron(expression: &str, timezone: &str) -> Schedule {
    plain(ScheduleDraft::cron(expression, timezone))
}

fn daily(every_seconds: i64, weekdays: &[Weekday]) -> ScheduleDraft {
    let daily = DailyDraft {
        every_seconds,
        from: "22:00".to_owned(),
        to: "06:00".to_owned(),
        weekdays: weekdays.to_vec(),
        timezone: "Europe/Berlin".to_owned(),
        clock_changes: Default::default(),
    };
    KindDraft::Daily(daily).into()
}

const COMMON: &[&str] = &[
    "each second, UTC",
    "each second, New York",
    "each 5 minutes",
    "9:30 on weekdays, Berlin",
    "15 9 * * MON-FRI (Unix)",
    "1,15 or Fridays (Unix)",
    "last workday - 3",
    "every 10 s",
    "daily window over midnight",
    "9:00 with spread",
    "9:00 but on weekends",
    "9:00, weekends moved",
];

fn common(name: &str) -> Schedule {
    let nine = || ScheduleDraft::cron("0 0 9 * * ?", "Europe/Berlin");
    let weekend = || vec![calendar("weekend", &[Weekday::Sat, Weekday::Sun])];
    match name {
        "each second, UTC" => cron("* * * * * ?", "UTC"),
        "each second, New York" => cron("* * * * * ?", "America/New_York"),
        "each 5 minutes" => cron("0 */5 * * * ?", "Asia/Shanghai"),
        "9:30 on weekdays, Berlin" => cron("0 30 9 ? * MON-FRI", "Europe/Berlin"),
        "15 9 * * MON-FRI (Unix)" => plain(ScheduleDraft::unix_cron("15 9 * * MON-FRI", "UTC")),
        "1,15 or Fridays (Unix)" => plain(ScheduleDraft::unix_cron("0 9 1,15 * FRI", "UTC")),
        "last workday - 3" => cron("0 0 12 L-3W * ?", "UTC"),
        "every 10 s" => plain(ScheduleDraft::fixed_rate(10)),
        "daily window over midnight" => plain(daily(600, &[Weekday::Mon, Weekday::Fri])),
        "9:00 with spread" => plain(ScheduleDraft { spread_seconds: 600, ..nine() }),
        "9:00 but on weekends" => under(nine(), Excluded::Skip, weekend()),
        "9:00, weekends moved" => under(nine(), Excluded::NextWorkingDay, weekend()),
        other => panic!("{other}"),
    }
}

#[divan::bench(args = COMMON)]
fn next_fire_common(bencher: Bencher, name: &str) {
    let schedule = common(name);
    bencher.bench(|| schedule.next_after(black_box(NOW)));
}

const WORST: &[&str] = &[
    "29 February, New York",
    "30 February",
    "30 February or never (Unix)",
    "fifth Monday of February 2099",
    "odd years with a 29 February",
    "Sundays, without Sundays",
    "four days a week, without those",
    "every day excluded",
    "every day excluded, moved",
    "68 years excluded by date",
    "68 years excluded by date, moved",
    "daily window, without its days",
    "every 7 s, 68 years excluded",
];

fn worst(name: &str) -> Schedule {
    let cron_draft = |expression: &str| ScheduleDraft::cron(expression, "Europe/Berlin");
    let odd: Vec<String> = (2027..2125).step_by(2).map(|year| year.to_string()).collect();
    let some = [Weekday::Sun, Weekday::Tue, Weekday::Thu, Weekday::Sat];
    let all = || vec![calendar("never", Weekday::ALL)];
    match name {
        "29 February, New York" => cron("0 0 0 29 2 ?", "America/New_York"),
        "30 February" => cron("0 0 0 30 2 ?", "America/New_York"),
        "30 February or never (Unix)" => plain(ScheduleDraft::unix_cron("* * 30 2 *", "UTC")),
        "fifth Monday of February 2099" => cron("* * * ? 2 2#5 2099", "America/New_York"),
        "odd years with a 29 February" => cron(&format!("* * * 29 2 ? {}", odd.join(",")), "America/New_York"),
        "Sundays, without Sundays" => {
            under(cron_draft("0 0 9 ? * SUN"), Excluded::Skip, vec![calendar("sundays", &[Weekday::Sun])])
        }
        "four days a week, without those" => {
            under(cron_draft("0 0 9 ? * SUN,TUE,THU,SAT"), Excluded::Skip, vec![calendar("some", &some)])
        }
        "every day excluded" => under(cron_draft("* * * * * ?"), Excluded::Skip, all()),
        "every day excluded, moved" => under(cron_draft("* * * * * ?"), Excluded::NextWorkingDay, all()),
        "68 years excluded by date" => under(cron_draft("0 0 9 * * ?"), Excluded::Skip, years_off()),
        "68 years excluded by date, moved" => under(cron_draft("0 0 9 * * ?"), Excluded::NextWorkingDay, years_off()),
        "daily window, without its days" => {
            under(daily(600, &some), Excluded::Skip, vec![calendar("never", Weekday::ALL)])
        }
        "every 7 s, 68 years excluded" => under(ScheduleDraft::fixed_rate(7), Excluded::NextWorkingDay, years_off()),
        other => panic!("{other}"),
    }
}

#[divan::bench(args = WORST)]
fn next_fire_worst(bencher: Bencher, name: &str) {
    let schedule = worst(name);
    bencher.bench(|| schedule.next_after(black_box(NOW)));
}

#[divan::bench]
fn parse(bencher: Bencher) {
    bencher.bench(|| cron(black_box("0 0/15 8-18 ? * MON-FRI"), "Europe/Berlin"));
}

/// Jobs of a mixed day, each due once within the look-ahead of 5 s.
#[divan::bench(args = ["each second, UTC", "9:30 on weekdays, Berlin", "daily window over midnight", "9:00, weekends moved"])]
fn plan_10_000_due_jobs(bencher: Bencher, name: &str) {
    let schedules: Vec<Schedule> = (0..DUE).map(|_| common(name)).collect();
    let due = schedules[0].next_after(NOW).expect("it fires");
    bencher.counter(ItemsCount::new(DUE)).bench(|| {
        let fires = schedules.iter().map(|schedule| {
            let timing = PlanInput::new(schedule);
            plan(&timing, due, black_box(due - 2_000), due, 100).fires.len()
        });
        fires.sum::<usize>()
    });
}

/// One job that fires each second, planned after a year: the longest possible plans.
#[divan::bench(args = MisfirePolicy::ALL)]
fn plan_after_a_year(bencher: Bencher, misfire: &MisfirePolicy) {
    let schedule = cron("* * * * * ?", "America/New_York");
    let timing =
        PlanInput { catch_up: CatchUp::Latest, misfire: *misfire, misfire_limit: 1_000, ..PlanInput::new(&schedule) };
    let year_ago = NOW - 31_536_000_000;
    bencher.bench(|| plan(&timing, year_ago, black_box(NOW), NOW + 3_000, 100));
}

/// An offset within an hour for a job that fires each hour.
#[divan::bench]
fn least_loaded(bencher: Bencher) {
    let instants = cron("0 0 * * * ?", "UTC").following(NOW, 24);
    let load = |second: i64| (second % 600 / 7) as u32;
    bencher.bench(|| spread::least_loaded(black_box(&instants), 3_600, load, 4_711));
}

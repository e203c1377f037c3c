//! Durations as Go writes them.

const LONGEST: f64 = 31_536_000.0;

/// The whole seconds of `90m` or `1h30m`; parts of a second are dropped, as the schedulers do that read it.
///
/// # Errors
/// Names the duration and what would be right.
pub fn seconds(text: &str) -> Result<i64, String> {
    let wrong = || format!("`{text}` is no duration; write it like 90m or 1h30m");
    let (mut rest, mut total) = (text, 0.0);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(wrong)?;
        let number: f64 = rest[..digits].parse().map_err(|_| wrong())?;
        let after = &rest[digits..];
        let unit = &after[..after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len())];
        let seconds = match unit {
            "h" => 3_600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 0.001,
            _ => return Err(wrong()),
        };
        total += number * seconds;
        rest = &after[unit.len()..];
    }
    match total {
        total if total < 1.0 => Err(format!("`{text}` is less than a second, the shortest period here")),
        total if total > LONGEST => Err(format!("`{text}` is more than a year of 365 days, the longest period here")),
        total => Ok(total as i64),
    }
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn parts_add_up_to_whole_seconds() {
        assert_eq!(seconds("90m"), Ok(5_400));
        assert_eq!(seconds("1h30m10s"), Ok(5_410));
        assert_eq!(seconds("1.5h"), Ok(5_400));
        assert_eq!(seconds("2500ms"), Ok(2));
    }

    #[test]
    fn what_is_no_period_is_named() {
        for wrong in ["", "x", "5", "5d", "m", "500ms", "1..5h", "9000h"] {
            let said = seconds(wrong).expect_err(wrong);
            assert!(said.contains(&format!("`{wrong}`")), "{said}");
        }
    }
}

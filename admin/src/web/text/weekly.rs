//! Times of the week as cron expressions: what a form offers, and how a list shows it.

use carillon_scheduler::Weekday;

use crate::web::locale::Language;
use crate::web::text::names::weekday_name;

/// A cron expression for a time of day on some days of the week.
///
/// # Errors
/// The fields that are wrong, and why.
pub fn weekly_expression(days: &[String], start: &str) -> Result<String, Vec<(&'static str, String)>> {
    let chosen = Weekday::ALL.iter().map(|day| day.as_str()).filter(|day| days.iter().any(|chosen| chosen == day));
    let chosen: Vec<&str> = chosen.collect();
    let time = start.trim();
    let read =
        time.split_once(':').and_then(|(hour, minute)| Some((hour.parse::<u8>().ok()?, minute.parse::<u8>().ok()?)));
    let mut wrong = vec![];
    if chosen.is_empty() {
        wrong.push(("weekdays", "Choose at least one day.".to_owned()));
    }
    match read {
        Some((hour @ 0..=23, minute @ 0..=59)) if wrong.is_empty() => {
            return Ok(format!("0 {minute} {hour} ? * {}", chosen.join(",")));
        }
        Some((0..=23, 0..=59)) => {}
        _ => wrong.push(("start", format!("`{time:.16}` is not a time of day; write HH:MM, such as 02:00"))),
    }
    Err(wrong)
}

/// `Sat, Sun 02:00`; None: the expression is no such rule.
pub fn weekly_text(language: Language, expression: &str) -> Option<String> {
    let ["0", minute, hour, "?", "*", days] = expression.split_whitespace().collect::<Vec<_>>()[..] else {
        return None;
    };
    let (hour, minute): (u8, u8) = (hour.parse().ok()?, minute.parse().ok()?);
    let days: Vec<Weekday> = days.split(',').map(str::parse).collect::<Result<_, _>>().ok()?;
    let name = |day: &Weekday| weekday_name(language, *day).to_string();
    let days = match days.len() == Weekday::ALL.len() {
        true => language.text("every-day").to_string(),
        false => days.iter().map(name).collect::<Vec<_>>().join(", "),
    };
    Some(format!("{days} {hour:02}:{minute:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_the_week_is_a_cron_expression_and_is_read_back() {
        let days = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let english = |expression: &str| weekly_text(Language::English, expression);
        let sunday = weekly_expression(&days("SUN SAT"), "02:30").unwrap();
        assert_eq!(sunday, "0 30 2 ? * SAT,SUN");
        assert_eq!(english(&sunday).unwrap(), "Sat, Sun 02:30");
        assert_eq!(weekly_text(Language::Chinese, &sunday).unwrap(), "周六, 周日 02:30");
        let daily = weekly_expression(&days("MON TUE WED THU FRI SAT SUN"), "23:05").unwrap();
        assert_eq!(english(&daily).unwrap(), "every day 23:05");
        assert_eq!(english("0 0 2 ? * SUN#1"), None);
        assert_eq!(english("0 0 2 1 * ?"), None);
        assert_eq!(weekly_expression(&[], "02:30").unwrap_err()[0].0, "weekdays");
        assert_eq!(weekly_expression(&[], "").unwrap_err().len(), 2);
        for wrong in ["", "2", "24:00", "02:60", "noon"] {
            assert_eq!(weekly_expression(&days("SUN"), wrong).unwrap_err()[0].0, "start", "{wrong}");
        }
    }
}

//! Whole numbers as both languages write them: in groups of three digits.

use fluent_bundle::FluentValue;

use crate::message::Count;

/// `1,234,567`
pub fn grouped(number: impl Count) -> String {
    let number = number.count();
    let digits = number.unsigned_abs().to_string();
    let mut text = String::from(if number < 0 { "-" } else { "" });
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// For the catalogue: how a number is written in a text. None: as it is.
pub fn write<M>(value: &FluentValue<'_>, _: &M) -> Option<String> {
    match value {
        FluentValue::Number(number) if number.value.fract() == 0.0 => Some(grouped(number.value as i64)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Language;

    #[test]
    fn thousands_are_separated() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (-12_345, "-12,345"), (1_234_567, "1,234,567")]
        {
            assert_eq!(grouped(number), text);
        }
        let text = Language::English.text("jobs-count").count("count", 63_358).to_string();
        assert_eq!(text, "63,358 jobs");
    }
}

//! The parts of a fire as a form shows them: a number, or one text in each line.

use carillon_scheduler::Parts;

/// What a person wrote: a number; or a text for each part, one in each line or all as a JSON list. Empty: one part.
pub fn read(text: &str) -> Parts {
    let text = text.trim_matches(['\r', '\n', ' ']);
    if text.is_empty() {
        return Parts::default();
    }
    if let Ok(count) = text.parse::<i64>() {
        return Parts::Count(i32::try_from(count).unwrap_or(if count < 0 { i32::MIN } else { i32::MAX }));
    }
    match serde_json::from_str(text) {
        Ok(texts) => Parts::Each(texts),
        Err(_) => Parts::Each(text.lines().map(|line| line.trim().to_owned()).collect()),
    }
}

/// The text that [`read`] reads back. Texts that are no plain lines are written as a JSON list.
pub fn fill(parts: &Parts) -> String {
    match parts {
        Parts::Count(1) => String::new(),
        Parts::Count(count) => count.to_string(),
        Parts::Each(texts) => {
            let lines = texts.join("\n");
            match read(&lines) == *parts {
                true => lines,
                false => serde_json::to_string(texts).unwrap_or_default(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn each(texts: &[&str]) -> Parts {
        Parts::Each(texts.iter().map(|&text| text.to_owned()).collect())
    }

    #[test]
    fn what_a_person_writes_is_read_back() {
        for (text, parts) in [
            ("", Parts::Count(1)),
            ("16", Parts::Count(16)),
            ("eu\nus\nap", each(&["eu", "us", "ap"])),
            ("a\n\nb", each(&["a", "", "b"])),
            (r#"["eu","us\n2"]"#, each(&["eu", "us\n2"])),
            (r#"[" a","b"]"#, each(&[" a", "b"])),
            (r#"["","b"]"#, each(&["", "b"])),
            ("[eu]\n[us]", each(&["[eu]", "[us]"])),
        ] {
            assert_eq!(read(text), parts, "{text}");
            assert_eq!(fill(&parts), text);
        }
        assert_eq!(read(" eu \r\n us\r\n\r\n"), each(&["eu", "us"]));
        assert_eq!(read("-3"), Parts::Count(-3));
        assert_eq!(read("eu"), each(&["eu"]));
    }
}

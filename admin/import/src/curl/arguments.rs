//! Options with their values, and URLs, as curl takes them from its words.

use super::options::{CurlOption, Kind, switched_off, with_letter, with_long_name};

/// Characters of an option that an error names.
const NAMED: usize = 40;

/// An option of the line.
pub(super) struct Given {
    /// As it is written, without its value.
    pub name: String,
    pub kind: Kind,
    /// Empty if the option takes none.
    pub value: String,
}

/// The words behind `curl`.
#[derive(Default)]
pub(super) struct Arguments {
    pub given: Vec<Given>,
    pub urls: Vec<String>,
    pub faults: Vec<String>,
    /// The word behind an option that is not known may be its value.
    pub has_unknown: bool,
}

/// Reads the words; each fault names an option.
pub(super) fn arguments(words: impl Iterator<Item = String>) -> Arguments {
    let (mut words, mut all) = (words, Arguments::default());
    while let Some(word) = words.next() {
        match word.strip_prefix('-') {
            Some("-") => {
                all.urls.extend(words);
                break;
            }
            Some(letters) if !letters.is_empty() => match letters.strip_prefix('-') {
                Some(name) => all.take_long(name, &mut words),
                None => all.take_letters(letters, &mut words),
            },
            _ => all.urls.push(word),
        }
    }
    all
}

impl Arguments {
    /// `--name`, `--name value`, `--name=value`.
    fn take_long(&mut self, text: &str, words: &mut impl Iterator<Item = String>) {
        let (name, attached) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        let written = format!("--{name:.NAMED$}");
        let Some(option) = with_long_name(name).or_else(|| switched_off(name)) else {
            return self.add_unknown(&written);
        };
        match attached {
            Some(_) if !option.takes_value => self.faults.push(format!("`{written}` takes no value")),
            attached => self.take(written, option, attached.map(str::to_owned), words),
        }
    }

    /// `-s`, `-sSX POST`, `-XPOST`.
    fn take_letters(&mut self, letters: &str, words: &mut impl Iterator<Item = String>) {
        for (at, letter) in letters.char_indices() {
            let written = format!("-{letter}");
            // What follows may be its value.
            let Some(option) = with_letter(letter) else { return self.add_unknown(&written) };
            let rest = &letters[at + letter.len_utf8()..];
            let attached = Some(rest).filter(|rest| option.takes_value && !rest.is_empty());
            self.take(written, option, attached.map(str::to_owned), words);
            if option.takes_value {
                return;
            }
        }
    }

    fn take(
        &mut self,
        name: String,
        option: &CurlOption,
        attached: Option<String>,
        words: &mut impl Iterator<Item = String>,
    ) {
        let value = match option.takes_value {
            true => attached.or_else(|| words.next()),
            false => Some(String::new()),
        };
        match value {
            Some(value) => self.given.push(Given { name, kind: option.kind, value }),
            None => self.faults.push(format!("`{name}` needs a value")),
        }
    }

    fn add_unknown(&mut self, name: &str) {
        self.has_unknown = true;
        self.faults.push(format!("`{name}` is not known here; leave it out"));
    }
}

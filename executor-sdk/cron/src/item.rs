//! The fields of an expression: range and names of each, and the items that commas separate.

/// The range and the names of a field.
#[derive(Debug, PartialEq)]
pub(crate) struct Field {
    pub name: &'static str,
    /// For messages such as "hours are 0 to 23".
    pub plural: &'static str,
    /// In the order of Quartz, counted from 1.
    pub position: usize,
    pub min: u32,
    pub max: u32,
    /// How many values there are before a range wraps.
    cycle: u32,
    /// Says which number means which day.
    note: &'static str,
    /// Short and long names of `min`, `min + 1` …, in lower case.
    names: &'static [(&'static str, &'static str)],
}

const MONTHS: &[(&str, &str)] = &[
    ("jan", "january"),
    ("feb", "february"),
    ("mar", "march"),
    ("apr", "april"),
    ("may", "may"),
    ("jun", "june"),
    ("jul", "july"),
    ("aug", "august"),
    ("sep", "september"),
    ("oct", "october"),
    ("nov", "november"),
    ("dec", "december"),
];

const WEEKDAYS: &[(&str, &str)] = &[
    ("sun", "sunday"),
    ("mon", "monday"),
    ("tue", "tuesday"),
    ("wed", "wednesday"),
    ("thu", "thursday"),
    ("fri", "friday"),
    ("sat", "saturday"),
];

const fn field(name: &'static str, plural: &'static str, position: usize, min: u32, max: u32) -> Field {
    Field { name, plural, position, min, max, cycle: max - min + 1, note: "", names: &[] }
}

pub(crate) const SECOND: Field = field("second", "seconds", 1, 0, 59);
pub(crate) const MINUTE: Field = field("minute", "minutes", 2, 0, 59);
pub(crate) const HOUR: Field = field("hour", "hours", 3, 0, 23);
pub(crate) const DAY: Field = field("day-of-month", "days of the month", 4, 1, 31);
pub(crate) const MONTH: Field = Field { names: MONTHS, ..field("month", "months", 5, 1, 12) };
pub(crate) const WEEKDAY: Field =
    Field { names: WEEKDAYS, note: " (1 is Sunday)", ..field("day-of-week", "days of the week", 6, 1, 7) };
/// In the numbers of Unix; 7 means the same as 0.
pub(crate) const UNIX_WEEKDAY: Field = Field {
    names: WEEKDAYS,
    note: " (0 and 7 are Sunday)",
    cycle: 7,
    ..field("day-of-week", "days of the week", 6, 0, 7)
};
pub(crate) const YEAR: Field = field("year", "years", 7, 1970, 9999);

/// `a`, `a-b`, `*`, `a/s`, `a-b/s`, `*/s`, `/s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Item {
    pub from: u32,
    /// `None`: up to the field's maximum.
    pub to: Option<u32>,
    pub step: u32,
}

impl Field {
    /// "hours are 0 to 23"
    pub fn range(&self) -> String {
        let names = match self.names {
            [(first, _), .., (last, _)] => {
                format!(" or {} to {}", first.to_uppercase(), last.to_uppercase())
            }
            _ => String::new(),
        };
        format!("{} are {} to {}{}{names}", self.plural, self.min, self.max, self.note)
    }

    /// Parses one item.
    pub fn item(&self, text: &str) -> Result<Item, String> {
        let (base, step) = match text.split_once('/') {
            Some((base, step)) => (base, Some(step)),
            None => (text, None),
        };
        let (from, to) = match base.split_once('-') {
            Some((from, to)) => self.bounds(from, to)?,
            None if base == "*" || (base.is_empty() && step.is_some()) => (self.min, None),
            None => (self.value(base)?, None),
        };
        let Some(step) = step else {
            let single = base != "*" && to.is_none();
            return Ok(Item { from, to: if single { Some(from) } else { to }, step: 1 });
        };
        if base.contains(|c: char| c.is_ascii_alphabetic()) {
            let number = base.split('-').map(|word| self.value(word).map(|value| value.to_string()));
            let numbers = number.collect::<Result<Vec<_>, _>>()?.join("-");
            return Err(format!("a step does not go with names; write `{numbers}/{step}`"));
        }
        Ok(Item { from, to, step: self.step(step, to.is_some())? })
    }

    /// The values of an item; a range whose end is below its start wraps.
    pub fn values(&self, item: Item) -> Vec<u32> {
        let to = item.to.unwrap_or(self.max);
        if item.from <= to {
            return (item.from..=to).step_by(item.step as usize).collect();
        }
        let wrap = |value| {
            if value > self.max { value - self.cycle } else { value }
        };
        (item.from..=to + self.cycle).step_by(item.step as usize).map(wrap).collect()
    }

    /// The values of a list of items as bits.
    pub fn bits(&self, text: &str) -> Result<u32, String> {
        let mut bits = 0;
        for item in text.split(',') {
            for value in self.values(self.item(item)?) {
                bits |= 1 << value;
            }
        }
        Ok(bits)
    }

    fn bounds(&self, from: &str, to: &str) -> Result<(u32, Option<u32>), String> {
        let is_name = |word: &str| word.starts_with(|c: char| c.is_ascii_alphabetic());
        let bounds = (self.value(from)?, Some(self.value(to)?));
        if is_name(from) != is_name(to) {
            return Err("a range has two numbers or two names".to_owned());
        }
        Ok(bounds)
    }

    /// A number or a name.
    pub fn value(&self, word: &str) -> Result<u32, String> {
        if word.is_empty() {
            return Err(format!("a value is missing; {}", self.range()));
        }
        let lower = word.to_ascii_lowercase();
        let named = self.names.iter().position(|(short, long)| lower == *short || lower == *long);
        if let Some(index) = named {
            return Ok(self.min + index as u32);
        }
        if !word.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(format!("`{word}` is not allowed; {}", self.range()));
        }
        let value = word.parse().ok().filter(|value| (self.min..=self.max).contains(value));
        value.ok_or_else(|| format!("{word} is not allowed; {}", self.range()))
    }

    /// A step; above the field's maximum it is refused unless the range has an end (as in xxl-job). Years have none.
    fn step(&self, word: &str, has_end: bool) -> Result<u32, String> {
        let wrong = || format!("`{word}` is not a step; steps of {} are 1 to {}", self.plural, self.max);
        if word.is_empty() || !word.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(wrong());
        }
        let step: u32 = word.parse().map_err(|_| wrong())?;
        let too_large = step > self.max && !has_end && *self != YEAR;
        if step == 0 || too_large { Err(wrong()) } else { Ok(step) }
    }
}

//! The year field, because the crate `cron` ends at 2100.

use crate::item::{Item, YEAR};

/// The years that match, from 1970 on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Years(Vec<Item>);

impl Default for Years {
    fn default() -> Self {
        Self(vec![Item { from: YEAR.min, to: None, step: 1 }])
    }
}

impl Years {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        text.split(',').map(year_item).collect::<Result<_, _>>().map(Self)
    }

    /// Whether a year matches.
    pub fn includes(&self, year: i32) -> bool {
        let Ok(year) = u32::try_from(year) else {
            return false;
        };
        self.0.iter().any(|item| {
            item.from <= year && item.to.is_none_or(|to| year <= to) && (year - item.from).is_multiple_of(item.step)
        })
    }
}

fn year_item(text: &str) -> Result<Item, String> {
    let item = YEAR.item(text)?;
    match item.to {
        Some(to) if to < item.from => Err(format!("`{text}` ends before it starts; write the earlier year first")),
        _ => Ok(item),
    }
}

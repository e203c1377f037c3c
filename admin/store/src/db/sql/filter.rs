//! The WHERE of a list: only the conditions that were asked for, values always as parameters.

use sea_orm::{ConnectionTrait, Value};

use crate::error::Result;
use crate::store::Store;

use crate::people::grants::VisibleApps;

/// Conditions that must all hold.
#[derive(Default)]
pub struct Conditions {
    texts: Vec<String>,
    values: Vec<Value>,
}

impl Conditions {
    /// Adds a condition with one `?` for each value.
    pub fn add(&mut self, text: impl Into<String>, values: impl IntoIterator<Item = Value>) {
        self.texts.push(text.into());
        self.values.extend(values);
    }

    /// Adds `text`, if there is a value for its `?`.
    pub fn add_if<T: Into<Value>>(&mut self, text: &str, value: Option<T>) {
        if let Some(value) = value {
            self.add(text, [value.into()]);
        }
    }

    /// Adds `column IN (…)`, if there are values.
    pub fn among<T: Into<Value>>(&mut self, column: &str, values: impl IntoIterator<Item = T>) {
        let values: Vec<Value> = values.into_iter().map(Into::into).collect();
        if !values.is_empty() {
            let marks = vec!["?"; values.len()].join(",");
            self.add(format!("{column} IN ({marks})"), values);
        }
    }

    /// Adds that the app of this column is visible.
    pub fn visible(&mut self, apps: &VisibleApps, column: &str) {
        if !apps.is_all() {
            self.add(apps.condition(column), []);
        }
    }

    /// The same of a column with a job's id.
    pub fn visible_job(&mut self, apps: &VisibleApps, column: &str) {
        if !apps.is_all() {
            self.add(apps.job_condition(column), []);
        }
    }

    /// ` WHERE …` or nothing, and the values.
    pub fn finish(self) -> (String, Vec<Value>) {
        let text = match self.texts.is_empty() {
            true => String::new(),
            false => format!(" WHERE {}", self.texts.join(" AND ")),
        };
        (text, self.values)
    }

    /// The same with the value of a last `LIMIT ?`: a page and one more row.
    pub fn finish_page(self, limit: u32) -> (String, Vec<Value>) {
        let (text, mut values) = self.finish();
        values.push(i64::from(page_size(limit) + 1).into());
        (text, values)
    }
}

/// The ids that one page of a list looks at: a rare match may lie far back, and a page must not take long. The next page
/// goes on below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    /// The smallest id; None: all of them.
    pub bottom: Option<i64>,
}

impl Search {
    /// A search through `width` ids, below `after` or else the newest ones. `ends`: the smallest and the greatest id of the table.
    pub fn below((least, greatest): (i64, i64), after: Option<i64>, width: i64) -> Self {
        let top = after.unwrap_or(i64::MAX).min(greatest + 1);
        Self { bottom: Some(top.saturating_sub(width)).filter(|bottom| *bottom > least) }
    }

    /// The page's `next`, if there is more to look at.
    pub fn complete<T>(self, mut page: Page<T>) -> Page<T> {
        page.next = page.next.or(self.bottom);
        page
    }
}

/// One page of a list that is read by key, not by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T, K = i64> {
    pub items: Vec<T>,
    /// The next page's `after`; None at the end. A page that is not full may have one.
    pub next: Option<K>,
}

impl<T, K> Page<T, K> {
    /// From up to `limit + 1` items: the one too many only says that there is a next page.
    pub fn cut(mut items: Vec<T>, limit: u32, key: impl Fn(&T) -> K) -> Self {
        let limit = page_size(limit) as usize;
        let next = (items.len() > limit).then(|| key(&items[limit - 1]));
        items.truncate(limit);
        Self { items, next }
    }
}

impl Store {
    /// The smallest and the greatest id of a table; None: it is empty.
    pub(crate) async fn ends_of(&self, db: &impl ConnectionTrait, table: &str) -> Result<Option<(i64, i64)>> {
        let text = format!("SELECT (SELECT MIN(id) FROM {table}), (SELECT MAX(id) FROM {table})");
        let ends: Option<(Option<i64>, Option<i64>)> = self.tuple(db, &text, vec![]).await?;
        Ok(ends.and_then(|(least, greatest)| Some((least?, greatest?))))
    }
}

/// Items of a page, for the limit that was asked for.
pub fn page_size(limit: u32) -> u32 {
    limit.clamp(1, 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_joined_and_keep_their_values() {
        let mut conditions = Conditions::default();
        conditions.add_if("a = ?", Some(1i64));
        conditions.add_if("b = ?", None::<i64>);
        conditions.among("c", [2i16, 3]);
        conditions.among("d", Vec::<i64>::new());
        let (text, values) = conditions.finish();
        assert_eq!(text, " WHERE a = ? AND c IN (?,?)");
        assert_eq!(values.len(), 3);
        assert_eq!(Conditions::default().finish().0, "");
    }

    #[test]
    fn the_item_too_many_is_the_next_page() {
        let page = Page::cut(vec![9, 8, 7], 2, |item| *item);
        assert_eq!((page.items, page.next), (vec![9, 8], Some(8)));
        assert_eq!(Page::cut(vec![9, 8], 2, |item| *item).next, None);
    }

    #[test]
    fn a_page_that_is_not_full_goes_on_where_the_search_ended() {
        let search = Search::below((7, 999), None, 100);
        assert_eq!(search.bottom, Some(900));
        assert_eq!(search.complete(Page::cut(vec![950], 2, |item| *item)).next, Some(900));
        assert_eq!(search.complete(Page::cut(vec![950, 940, 930], 2, |item| *item)).next, Some(940));
        assert_eq!(Search::below((7, 999), Some(107), 100).bottom, None, "there is nothing below");
    }
}

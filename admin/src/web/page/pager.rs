//! The links below a list that is read by a cursor: to the first page, the one before, and the next.

use serde::Deserialize;

/// Cursors that an address carries; of a longer way back the oldest are dropped, and only the first page can be reached from there.
const KEPT: usize = 20;
/// Stands for the first page, which has no cursor.
const FIRST: &str = "0";

/// Where a page of a list is: its own cursor, and those of the pages that led to it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct PagePlace {
    after: String,
    /// Cursors from the oldest to the newest, separated by `~`; [`FIRST`] for the first page.
    back: String,
}

/// Addresses; None: the page that a link would show is the present one, or there is none.
#[derive(Debug, PartialEq)]
pub struct Pager {
    pub first: Option<String>,
    pub previous: Option<String>,
    pub next: Option<String>,
}

impl Pager {
    /// `list` is the address without a cursor, with its filters; `next` the cursor of the next page.
    pub fn new(list: &str, place: &PagePlace, next: Option<impl ToString>) -> Self {
        let is_cursor =
            |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        let back: Vec<&str> = place.back.split('~').filter(is_cursor).collect();
        let is_first = place.after.is_empty();
        let previous = back.split_last().filter(|_| !is_first).map(|(last, before)| match *last {
            FIRST => list.to_owned(),
            cursor => address(list, cursor, before),
        });
        let way = |here| back.iter().copied().filter(|_| !is_first).chain([here]).collect::<Vec<_>>();
        let next = next.map(|next| {
            let way = way(if is_first { FIRST } else { &place.after });
            address(list, &next.to_string(), &way[way.len().saturating_sub(KEPT)..])
        });
        let first = (!is_first && previous.as_deref() != Some(list)).then(|| list.to_owned());
        Self { first, previous, next }
    }

    /// Whether a page before this one exists.
    pub fn is_behind_first(&self) -> bool {
        self.first.is_some() || self.previous.is_some()
    }
}

fn address(list: &str, after: &str, back: &[&str]) -> String {
    let mut pairs = url::form_urlencoded::Serializer::new(String::new());
    pairs.append_pair("after", after);
    if !back.is_empty() {
        pairs.append_pair("back", &back.join("~"));
    }
    let separator = if list.ends_with('?') { "" } else { "&" };
    format!("{list}{separator}{}", pairs.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page that an address of `/runs?` leads to.
    fn place(address: &str) -> PagePlace {
        let mut place = PagePlace::default();
        for (name, value) in url::form_urlencoded::parse(address.split_once('?').unwrap().1.as_bytes()) {
            match &*name {
                "after" => place.after = value.into_owned(),
                _ => place.back = value.into_owned(),
            }
        }
        place
    }

    #[test]
    fn each_page_leads_to_the_one_before_it() {
        let start = Pager::new("/runs?", &PagePlace::default(), Some(90));
        assert_eq!((&start.first, &start.previous), (&None, &None));
        let mut way = vec!["/runs?".to_owned()];
        let mut pager = start;
        for cursor in [80, 70, 60] {
            way.push(pager.next.unwrap());
            pager = Pager::new("/runs?", &place(way.last().unwrap()), Some(cursor));
            assert_eq!(pager.previous.as_deref(), way.iter().rev().nth(1).map(String::as_str), "{way:?}");
        }
        assert_eq!(pager.first.as_deref(), Some("/runs?"));
        let second = Pager::new("/runs?", &place(&way[1]), None::<i64>);
        assert_eq!((second.first, second.next), (None, None), "the page before is the first");
    }

    #[test]
    fn a_long_way_back_is_cut_and_then_leads_to_the_first_page() {
        let mut place_of = PagePlace::default();
        for cursor in 1..=40 {
            place_of = place(&Pager::new("/runs?", &place_of, Some(cursor)).next.unwrap());
        }
        assert_eq!(place_of.back.split('~').count(), KEPT);
        for _ in 0..KEPT {
            place_of = place(&Pager::new("/runs?", &place_of, None::<i64>).previous.unwrap());
        }
        let last = Pager::new("/runs?", &place_of, None::<i64>);
        assert_eq!((last.first.as_deref(), last.previous), (Some("/runs?"), None));
    }

    #[test]
    fn what_an_address_names_as_a_way_back_is_a_cursor_or_nothing() {
        let place = PagePlace { after: "5".into(), back: "javascript:1~\"><~7-8".into() };
        let pager = Pager::new("/audit?action=kill", &place, Some("3-4"));
        assert_eq!(pager.previous.as_deref(), Some("/audit?action=kill&after=7-8"));
        assert_eq!(pager.next.as_deref(), Some("/audit?action=kill&after=3-4&back=7-8%7E5"));
    }
}

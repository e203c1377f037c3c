//! Keys for jobs that have none.

use std::collections::BTreeSet;

use crate::document::JobRef;
use crate::live::{Live, LiveJob};

const MOST_CHARS: usize = 64;

/// A key for each job of these apps that has none, by its id: from its name, else from its handler, else from its number. A key that
/// another job of the app has gets a number.
pub fn new_keys(live: &Live, is_wanted: impl Fn(&LiveJob) -> bool) -> Vec<(i64, String)> {
    let mut taken: BTreeSet<JobRef> = live.jobs().filter_map(LiveJob::reference).collect();
    let mut keys = vec![];
    for job in live.jobs().filter(|job| is_wanted(job) && job.draft.key.is_empty()) {
        let words = [slug(&job.draft.name), slug(&job.draft.handler), format!("job-{}", job.id)];
        let word = words.into_iter().find(|word| !word.is_empty()).unwrap_or_default();
        let numbered = |number: usize| match number {
            1 => word.clone(),
            number => format!("{}-{number}", &word[..word.len().min(MOST_CHARS - 8)]),
        };
        let key = (1..).map(numbered).find(|key| taken.insert(JobRef::new(&job.draft.app, key))).unwrap_or_default();
        keys.push((job.id, key));
    }
    keys
}

/// Lower case letters and digits, joined with `-`. Empty if a letter of the text has no place in a key.
fn slug(text: &str) -> String {
    if text.chars().any(|c| c.is_alphabetic() && !c.is_ascii()) {
        return String::new();
    }
    let words =
        text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.').filter(|word| !word.is_empty());
    let mut slug = words.collect::<Vec<_>>().join("-").to_ascii_lowercase();
    slug.truncate(MOST_CHARS);
    slug
}

#[cfg(test)]
mod tests {
    use carillon_scheduler::JobDraft;

    use super::*;

    #[test]
    fn a_key_is_made_from_the_name_and_is_unique() {
        let job = |id, name: &str, handler: &str, key: &str| LiveJob {
            id,
            revision: 1,
            draft: JobDraft { key: key.to_owned(), ..JobDraft::new("billing", name, handler) },
            fires_left: None,
            pause: None,
        };
        let jobs = [
            job(1, "Close the day", "h", ""),
            job(2, "Close  the day!", "h", ""),
            job(3, "日报", "dailyReport", ""),
            job(4, "日报", "处理", ""),
            job(5, "x", "h", "close-the-day"),
        ];
        let keys = new_keys(&Live::new(vec![], jobs), |_| true);
        let expected = [(1, "close-the-day-2"), (2, "close-the-day-3"), (3, "dailyreport"), (4, "job-4")];
        assert_eq!(keys, expected.map(|(id, key)| (id, key.to_owned())));
    }
}

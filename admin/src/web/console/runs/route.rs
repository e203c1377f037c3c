//! How a run's executor was chosen: one line, and a row for each executor that was checked.

use carillon_store::run::route;
use carillon_store::run::route::TraceNote;

use crate::web::locale::{Language, Message};
use crate::web::text::strategies;

/// Of more candidates than this only those with a note are shown.
const ALL_SHOWN: usize = 20;

pub struct CandidateRow {
    pub address: String,
    /// In English, as they are on record.
    pub notes: Vec<String>,
    pub is_chosen: bool,
}

pub struct RouteView {
    /// None: the executor was chosen by hand.
    pub route: Option<Message>,
    /// In English, as it is on record.
    pub why: String,
    pub candidates: usize,
    pub rows: Vec<CandidateRow>,
}

impl RouteView {
    pub fn new(language: Language, choice: route::RouteDecision) -> Self {
        let mut rows: Vec<CandidateRow> = choice.candidates.iter().map(|address| row(address)).collect();
        let story = &choice.story;
        for finding in story.skipped.iter().chain(&story.answers).chain(&story.hops) {
            note(&mut rows, finding);
        }
        for row in &mut rows {
            row.is_chosen = choice.chosen.as_ref() == Some(&row.address);
        }
        if rows.len() > ALL_SHOWN {
            rows.retain(|row| row.is_chosen || !row.notes.is_empty());
        }
        if choice.candidates.len() < 2 && rows.iter().all(|row| row.notes.is_empty()) {
            // There was no choice.
            rows.clear();
        }
        Self {
            route: choice.route.map(|route| strategies::route_name(language, route)),
            why: choice.why,
            candidates: choice.candidates.len(),
            rows,
        }
    }
}

fn row(address: &str) -> CandidateRow {
    CandidateRow { address: address.to_owned(), notes: vec![], is_chosen: false }
}

fn note(rows: &mut Vec<CandidateRow>, finding: &TraceNote) {
    if !rows.iter().any(|row| row.address == finding.address) {
        rows.push(row(&finding.address));
    }
    for row in rows.iter_mut().filter(|row| row.address == finding.address) {
        row.notes.push(finding.what.clone());
    }
}

#[cfg(test)]
mod tests {
    use carillon_scheduler::RouteStrategy;

    use super::*;
    use carillon_store::run::route::RouteTrace;

    fn choice(candidates: usize) -> route::RouteDecision {
        route::RouteDecision {
            route: Some(RouteStrategy::LeastActive),
            candidates: (0..candidates).map(|n| format!("http://{n}")).collect(),
            story: RouteTrace::default(),
            chosen: Some("http://1".into()),
            why: "why".into(),
        }
    }

    #[test]
    fn only_what_says_something_is_a_row() {
        let view = |choice| RouteView::new(Language::English, choice);
        let three = view(choice(3));
        assert_eq!((three.rows.len(), three.route.unwrap().to_string()), (3, "Least active".to_owned()));
        assert!(three.rows[1].is_chosen && !three.rows[0].is_chosen);
        assert!(view(choice(1)).rows.is_empty());
        let mut many = choice(100);
        many.story.answers.push(TraceNote { address: "http://7".into(), what: "busy".into() });
        let many = view(many);
        assert_eq!((many.rows.len(), many.candidates), (2, 100));
        assert_eq!(many.rows[1].notes, ["busy"]);
    }
}

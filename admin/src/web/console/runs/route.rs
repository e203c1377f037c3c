//! How a run's executor was chosen: one line, and a row for each executor that was checked.

use carillon_store::run::route;
use carillon_store::run::route::TraceNote;

use crate::web::text::strategies;

/// Of more candidates than this only those with a note are shown.
const ALL_SHOWN: usize = 20;

pub struct CandidateRow {
    pub address: String,
    pub note: String,
    pub is_chosen: bool,
}

pub struct RouteView {
    pub route: String,
    pub why: String,
    pub candidates: usize,
    pub rows: Vec<CandidateRow>,
}

impl RouteView {
    pub fn new(choice: route::RouteDecision) -> Self {
        let mut rows: Vec<CandidateRow> = choice.candidates.iter().map(|address| row(address)).collect();
        let story = &choice.story;
        for finding in story.skipped.iter().chain(&story.answers).chain(&story.hops) {
            note(&mut rows, finding);
        }
        for row in &mut rows {
            row.is_chosen = choice.chosen.as_ref() == Some(&row.address);
        }
        if rows.len() > ALL_SHOWN {
            rows.retain(|row| row.is_chosen || !row.note.is_empty());
        }
        if choice.candidates.len() < 2 && rows.iter().all(|row| row.note.is_empty()) {
            // There was no choice.
            rows.clear();
        }
        Self {
            route: choice.route.map_or_else(String::new, |route| strategies::route_name(route).to_owned()),
            why: choice.why,
            candidates: choice.candidates.len(),
            rows,
        }
    }
}

fn row(address: &str) -> CandidateRow {
    CandidateRow { address: address.to_owned(), note: String::new(), is_chosen: false }
}

fn note(rows: &mut Vec<CandidateRow>, finding: &TraceNote) {
    if !rows.iter().any(|row| row.address == finding.address) {
        rows.push(row(&finding.address));
    }
    for row in rows.iter_mut().filter(|row| row.address == finding.address) {
        if !row.note.is_empty() {
            row.note.push_str("; ");
        }
        row.note.push_str(&finding.what);
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
        let three = RouteView::new(choice(3));
        assert_eq!((three.rows.len(), three.route.as_str()), (3, "Least active"));
        assert!(three.rows[1].is_chosen && !three.rows[0].is_chosen);
        assert!(RouteView::new(choice(1)).rows.is_empty());
        let mut many = choice(100);
        many.story.answers.push(TraceNote { address: "http://7".into(), what: "busy".into() });
        let many = RouteView::new(many);
        assert_eq!((many.rows.len(), many.candidates), (2, 100));
        assert_eq!(many.rows[1].note, "busy");
    }
}

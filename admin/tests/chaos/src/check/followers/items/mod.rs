//! I15: the items of a run are divided among its deliveries, each is executed as often as the job allows, its outcome is one that an
//! executor has seen, and the run has the end that its items give it.
//!
//! An executor whose delivery was given up may go on with it: what it does after that is no anomaly, unless the job has no retries.

mod evidence;
mod executions;
mod outcomes;

use std::collections::HashMap;

use self::evidence::Evidence;
use crate::check::index::Index;
use crate::check::{Figure, Findings};
use crate::clock::Millis;
use crate::record::{DeliveryRow, History, ItemRow, ItemState, MapRow, RunRow, State, rows};

/// From the mark to the end of a run that was certainly not given up meanwhile, ms.
const PROMPT: Millis = 1_000;
/// All on one host: what two clock readings may differ by.
const CLOCK_ERROR: Millis = 20;

/// All that the tables have of a run that has handed in items.
struct Map<'a> {
    row: &'a MapRow,
    root: &'a RunRow,
    deliveries: Vec<&'a DeliveryRow>,
    items: Vec<&'a ItemRow>,
    /// Of deliveries and of what reads the results.
    runs: Vec<&'a RunRow>,
}

pub fn check(history: &History, index: &Index<'_>, findings: &mut Findings) {
    let evidence = Evidence::new(history);
    let mut deliveries = by_root(&history.deliveries, |row| row.run_id);
    let mut items = by_root(&history.items, |row| row.run_id);
    let of_items = history.runs.iter().filter(|run| run.cause == rows::ITEM);
    let mut runs = by_root(of_items, |run| run.fire_no);
    for row in &history.maps {
        let Some(root) = index.rows.get(&row.run_id) else {
            findings.add(Figure::Phantom, || format!("items of no run: {row:?}"));
            continue;
        };
        let map = Map {
            row,
            root,
            deliveries: deliveries.remove(&row.run_id).unwrap_or_default(),
            items: items.remove(&row.run_id).unwrap_or_default(),
            runs: runs.remove(&row.run_id).unwrap_or_default(),
        };
        map.count(findings);
        if map.is_delivered() {
            map.check_ranges(findings);
            map.check_end(findings);
        } else if root.state == State::Succeeded && row.items > 0 {
            findings.add(Figure::ItemMissing, || format!("it succeeded without its items: {root:?}"));
        }
        outcomes::check(&map, &evidence, findings);
        executions::check(&map, &evidence, index, findings);
    }
    for run in runs.into_values().flatten() {
        findings.add(Figure::Phantom, || format!("a delivery of no items: {run:?}"));
    }
    evidence.phantoms(history, findings);
}

fn by_root<'a, T>(rows: impl IntoIterator<Item = &'a T>, root: impl Fn(&T) -> i64) -> HashMap<i64, Vec<&'a T>> {
    let mut all: HashMap<i64, Vec<&T>> = HashMap::new();
    for row in rows {
        all.entry(root(row)).or_default().push(row);
    }
    all
}

impl Map<'_> {
    fn count(&self, findings: &mut Findings) {
        findings.total("maps", 1);
        findings.total("maps_delivered", usize::from(self.is_delivered()));
        findings.total("items", self.items.len());
        findings.total("items_succeeded", self.count_in(ItemState::Succeeded));
        findings.total("item_deliveries", self.deliveries.len());
        findings.total("item_retries", self.runs.iter().filter(|run| run.attempt > 1).count());
    }

    fn count_in(&self, state: ItemState) -> usize {
        self.items.iter().filter(|item| item.state == state).count()
    }

    /// Its handler has succeeded, and its items are on their way or have been.
    fn is_delivered(&self) -> bool {
        self.row.released > 0 || !self.runs.is_empty() || !self.deliveries.is_empty()
    }

    /// The attempts to deliver these items; 0: to read the results.
    fn runs_of(&self, part: i64) -> impl Iterator<Item = &RunRow> {
        self.runs.iter().copied().filter(move |run| run.part == part)
    }

    /// The delivery that carries an item.
    fn delivery_of(&self, item: i64) -> Option<&DeliveryRow> {
        self.deliveries.iter().copied().find(|row| (row.first_item..row.first_item + row.items).contains(&item))
    }

    /// Deliveries cover the items below `released`, each item once.
    fn check_ranges(&self, findings: &mut Findings) {
        let mut next = 0;
        for (row, number) in self.deliveries.iter().zip(1..) {
            let figure = if row.first_item < next { Figure::ItemTwice } else { Figure::ItemMissing };
            if row.first_item != next || row.delivery != number || row.items < 1 {
                findings.add(figure, || format!("delivery {number} should begin with item {next}: {row:?}"));
            }
            next = row.first_item + row.items;
            if self.runs_of(row.delivery).next().is_none() {
                findings.add(Figure::ItemMissing, || format!("no run delivers {row:?}"));
            }
        }
        if next != self.row.released || self.items.len() as i64 != self.row.items {
            let (row, items) = (self.row, self.items.len());
            findings.add(Figure::ItemMissing, || format!("deliveries up to item {next}, {items} items: {row:?}"));
        }
        for run in &self.runs {
            let is_known = match run.part {
                0 => self.row.reduces,
                part => self.deliveries.iter().any(|row| row.delivery == part),
            };
            if !is_known {
                findings.add(Figure::Phantom, || format!("no delivery of {:?}: {run:?}", self.row));
            }
        }
    }

    /// A run that has ended has delivered all items, each has its outcome, and they say how it ended.
    fn check_end(&self, findings: &mut Findings) {
        let (row, root) = (self.row, self.root);
        match root.state {
            State::Succeeded | State::Failed => {}
            // That it is still open is another check's.
            State::Running => return,
            _ => return findings.add(Figure::MapEnd, || format!("{root:?} with {row:?}")),
        }
        findings.total("maps_ended", 1);
        let failed = self.count_in(ItemState::Failed);
        let has_open = row.in_flight != 0 || self.deliveries.iter().any(|delivery| !delivery.ended);
        let ends = self.allowed_ends(failed);
        if has_open || row.failed != failed as i64 || !ends.contains(&root.state) {
            findings.add(Figure::MapEnd, || format!("{ends:?} fits its {failed} failed items: {root:?} {row:?}"));
        }
        let without = self.items.len() - failed - self.count_in(ItemState::Succeeded);
        if without > 0 || row.released < row.items {
            findings.add(Figure::ItemMissing, || format!("{without} items have no outcome: {root:?} {row:?}"));
        }
        if row.reduces && self.runs_of(0).next().is_none() {
            findings.add(Figure::ItemMissing, || format!("no run reads the results of {root:?}"));
        }
    }

    fn allowed_ends(&self, failed: usize) -> Vec<State> {
        if !self.row.reduces {
            return vec![if failed == 0 { State::Succeeded } else { State::Failed }];
        }
        match self.runs_of(0).find(|run| run.state == State::Succeeded) {
            None => vec![State::Failed],
            Some(run) if is_prompt(run) => vec![State::Succeeded],
            // It may have been given up before its success was known.
            Some(_) => vec![State::Succeeded, State::Failed],
        }
    }
}

/// Whether its result came so soon that it was not given up before.
fn is_prompt(run: &RunRow) -> bool {
    let took = run.marked_at.zip(run.finished_at).map(|(marked, ended)| ended - marked);
    run.sends == 1 && took.is_some_and(|took| (0..PROMPT).contains(&took))
}

//! `GET /nodes`: the nodes with their shards, shards without a node, and the tasks of this node.

use askama::Template;
use carillon_scheduler::Millis;
use carillon_store::lease::nodes::Node;

use crate::web::console::badge::Badge;
use crate::web::console::operations::tasks::{TaskRow, rows as task_rows};
use crate::web::locale::{Language, Message};
use crate::web::page::{PageContext, PageResult, show};
use crate::web::state::Shared;
use crate::web::text::format::duration;

/// A node reports every few seconds; one that has not for this time is taken for dead.
const ALIVE_MS: Millis = 15_000;
/// As far as dead nodes are listed.
const HISTORY_MS: Millis = 24 * 3_600_000;

struct Row {
    node: Node,
    badge: Badge,
    /// `0–15, 32`
    shards: String,
    count: usize,
    is_this: bool,
}

#[derive(Template)]
#[template(path = "operations/nodes.html")]
struct Page {
    context: PageContext,
    rows: Vec<Row>,
    all_shards: usize,
    unheld: Vec<i32>,
    /// The database's clock minus that of this node's machine.
    clock_difference: Message,
    tasks: Vec<TaskRow>,
}

impl Page {
    fn alive(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.badge.tone == "ok")
    }

    fn has_idle_nodes(&self) -> bool {
        self.alive().count() > self.all_shards
    }

    fn nodes_differ(&self) -> bool {
        let mut versions = self.alive().map(|row| &row.node.version);
        let first = versions.next();
        versions.any(|version| Some(version) != first)
    }

    fn unheld(&self) -> String {
        ranges(&self.unheld)
    }
}

/// `GET /nodes`
pub async fn page(state: Shared, context: PageContext) -> PageResult {
    let now = context.now;
    let leases = state.store.leases().list().await?;
    let held = |node: &str| -> Vec<i32> {
        let of_node = leases.iter().filter(|lease| lease.owner == node && lease.expires_at > now);
        of_node.map(|lease| lease.shard).collect()
    };
    let own = &state.engine.cx.node;
    let row = |node: Node| {
        let shards = held(&node.id);
        Row {
            badge: badge(now - node.seen_at < ALIVE_MS),
            shards: ranges(&shards),
            count: shards.len(),
            is_this: node.id == *own,
            node,
        }
    };
    let mut rows: Vec<Row> = state.store.leases().live_nodes(now - HISTORY_MS).await?.into_iter().map(row).collect();
    rows.sort_by_key(|row| (row.badge.tone != "ok", row.node.address.clone()));
    let by_ms = (state.engine.cx.metrics.clock_difference.get() * 1000.0).round() as i64;
    let page = Page {
        rows,
        all_shards: leases.len(),
        unheld: leases.iter().filter(|lease| lease.expires_at <= now).map(|lease| lease.shard).collect(),
        clock_difference: difference(context.language, by_ms),
        tasks: task_rows(&state.engine.cx.tasks, context.language),
        context,
    };
    Ok(show(&page))
}

fn badge(is_alive: bool) -> Badge {
    let (word, tone, icon) = if is_alive { ("alive", "ok", "online") } else { ("silent", "failed", "offline") };
    Badge { word, tone, icon, moving: false, hint: "" }
}

fn difference(language: Language, by_ms: i64) -> Message {
    let by = duration(language, by_ms.abs());
    match by_ms {
        0 => language.text("clock-equal"),
        1.. => language.text("clock-ahead").with("by", by),
        _ => language.text("clock-behind").with("by", by),
    }
}

/// Ascending numbers as ranges: `0–3, 7`.
fn ranges(numbers: &[i32]) -> String {
    let mut ranges: Vec<(i32, i32)> = vec![];
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => ranges.push((*number, *number)),
        }
    }
    let text = |(first, last): &(i32, i32)| match first == last {
        true => first.to_string(),
        false => format!("{first}–{last}"),
    };
    ranges.iter().map(text).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_written_as_ranges() {
        assert_eq!(ranges(&[]), "");
        assert_eq!(ranges(&[0, 1, 2, 3, 7, 9, 10]), "0–3, 7, 9–10");
    }

    #[test]
    fn a_difference_of_clocks_says_which_one_is_ahead() {
        assert_eq!(difference(Language::English, 0).to_string(), "less than 1 ms");
        assert_eq!(difference(Language::English, 1_500).to_string(), "the database is 1.5 s ahead of this machine");
        assert_eq!(difference(Language::English, -20).to_string(), "the database is 20 ms behind this machine");
    }
}

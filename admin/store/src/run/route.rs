//! How the executor of a run was chosen: the set of candidates, kept once for all runs that have the same, and what else
//! there is to tell of the few that have more.

use carillon_scheduler::{RouteStrategy, RunState};
use sea_orm::{DbBackend, Value};
use serde::{Deserialize, Serialize};

use crate::db::dialect;
use crate::db::dialect::Text;
use crate::run::mark::GIVEN;
use crate::{Result, RunView, Store};

/// What was learned of an executor on the way to the one that got the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    pub address: String,
    pub what: String,
}

/// What the candidates and the route alone do not tell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Story {
    /// To probes, in the order in which they were asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Told>,
    /// Before it in the order, and passed over: saturated, stalled, or out of order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Told>,
    /// Chosen before it, but nothing could be written to them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hops: Vec<Told>,
    /// Of a run that was never marked, so that its row does not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<RouteStrategy>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<String>,
}

/// A run's choice as people and API clients see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// None: the executor was given with the fire.
    pub route: Option<RouteStrategy>,
    /// In ascending order.
    pub candidates: Vec<String>,
    pub story: Story,
    pub chosen: Option<String>,
    pub why: String,
}

/// By the index of open runs, shard by shard: history does not make it slower.
pub(crate) const ACTIVE: Text = Text {
    sqlite: "SELECT run.address, COUNT(*) FROM json_each(?) AS u CROSS JOIN run ON run.shard = u.value \
             WHERE run.state IN (1, 2) AND run.state < 9 AND run.address IS NOT NULL GROUP BY run.address",
    postgres: "SELECT run.address, COUNT(*) FROM run WHERE run.shard = ANY(?::bigint[]) \
               AND run.state IN (1, 2) AND run.state < 9 AND run.address IS NOT NULL GROUP BY run.address",
    mysql: "SELECT run.address, COUNT(*) FROM JSON_TABLE(?, '$[*]' COLUMNS (shard INT PATH '$')) AS u \
            STRAIGHT_JOIN JSON_TABLE('[1,2]', '$[*]' COLUMNS (state SMALLINT PATH '$')) AS s \
            STRAIGHT_JOIN run FORCE INDEX (run_open) ON run.shard = u.shard AND run.state = s.state \
            WHERE run.address IS NOT NULL GROUP BY run.address",
};

/// Sets of one statement: each may have as many addresses as its app has executors.
const SETS: usize = 100;

const KEEP_SETS: Text = Text {
    sqlite: "INSERT INTO candidate_set (id, addresses) SELECT u.value->>0, u.value->>1 FROM json_each(?) AS u \
             WHERE NOT EXISTS (SELECT 1 FROM candidate_set AS kept WHERE kept.id = u.value->>0)",
    postgres: "INSERT INTO candidate_set (id, addresses) SELECT u.id, u.a FROM unnest(?::bigint[], ?::text[]) AS u(id, a) \
               WHERE NOT EXISTS (SELECT 1 FROM candidate_set AS kept WHERE kept.id = u.id)",
    mysql: "INSERT INTO candidate_set (id, addresses) SELECT u.id, u.a FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', \
            a MEDIUMTEXT PATH '$[1]')) AS u WHERE NOT EXISTS (SELECT 1 FROM candidate_set AS kept WHERE kept.id = u.id)",
};

const ADD_STORIES: Text = Text {
    sqlite: "INSERT INTO run_choice (run_id, detail) SELECT u.value->>0, u.value->>1 FROM json_each(?) AS u",
    postgres: "INSERT INTO run_choice (run_id, detail) SELECT u.id, u.d FROM unnest(?::bigint[], ?::text[]) AS u(id, d)",
    mysql: "INSERT INTO run_choice (run_id, detail) SELECT u.id, u.d FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', \
            d MEDIUMTEXT PATH '$[1]')) AS u",
};

const ADD_STICKY: Text = Text {
    sqlite: "INSERT INTO sticky (job_id, address, chosen_at) SELECT u.value->>0, u.value->>1, ? FROM json_each(?) AS u",
    postgres: "INSERT INTO sticky (job_id, address, chosen_at) SELECT u.id, u.a, ?::bigint FROM unnest(?::bigint[], ?::text[]) AS u(id, a)",
    mysql: "INSERT INTO sticky (job_id, address, chosen_at) SELECT u.id, u.a, ? FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', \
            a VARCHAR(255) PATH '$[1]')) AS u",
};

impl Store {
    /// Keeps these sets of addresses under their ids; those that are there already stay as they are.
    pub async fn keep_candidates(&self, sets: &[(i64, String)]) -> Result<()> {
        let mut sets = sets.to_vec();
        sets.sort_unstable();
        for page in sets.chunks(SETS) {
            let mut tries = 0;
            loop {
                let text = KEEP_SETS.of(self.backend);
                let values = rows(self.backend, page);
                match self.execute(&self.write, text, values).await {
                    // Another node has written some of them meanwhile: the next try finds those there.
                    Err(error) if (error.is_unique_violation() || error.is_lock_conflict()) && tries < 5 => {
                        tries += 1;
                    }
                    Err(error) => return Err(error),
                    Ok(_) => break,
                }
            }
        }
        Ok(())
    }

    /// Writes what there is to tell of these runs; of a run that was told of before, the later story stays.
    pub async fn add_stories(&self, stories: &[(i64, String)]) -> Result<()> {
        let ids: Vec<i64> = stories.iter().map(|(id, _)| *id).collect();
        let (_, value) = dialect::id_list(self.backend, &ids);
        let tx = self.begin().await?;
        let text = dialect::delete_by_id(self.backend, "run_choice", "run_id");
        self.execute(&tx, &text, vec![value]).await?;
        let values = rows(self.backend, stories);
        self.execute(&tx, ADD_STORIES.of(self.backend), values).await?;
        tx.commit().await?;
        Ok(())
    }

    /// None: nothing has been chosen yet.
    pub async fn choice(&self, run: &RunView) -> Result<Option<Choice>> {
        // It may have been marked before and given back.
        if run.state == RunState::Claimed {
            return Ok(None);
        }
        let text = "SELECT detail FROM run_choice WHERE run_id = ?";
        let row = self.one(&self.read, text, vec![run.id.into()]).await?;
        let detail: Option<String> = row.map(|row| row.try_get_by_index(0)).transpose()?;
        let story: Story = detail.and_then(|detail| serde_json::from_str(&detail).ok()).unwrap_or_default();
        let Some(route_code) = run.route_code.or(story.route.map(RouteStrategy::code)) else {
            return Ok(None);
        };
        let mut candidates = story.candidates.clone();
        if let Some(id) = run.candidates_id {
            let text = "SELECT addresses FROM candidate_set WHERE id = ?";
            let row = self.one(&self.read, text, vec![id.into()]).await?;
            let list: Option<String> = row.map(|row| row.try_get_by_index(0)).transpose()?;
            candidates = list.and_then(|list| serde_json::from_str(&list).ok()).unwrap_or_default();
        }
        // A run that waits, or was given up, has no address; one that was expanded has one before it is chosen.
        let is_chosen = run.route_code.is_some() && run.reason.as_deref() != Some("no_executor");
        let chosen = run.address.clone().filter(|_| is_chosen);
        Ok(Some(Choice {
            why: why(route_code, &story, chosen.as_deref()),
            route: RouteStrategy::from_code(route_code),
            candidates,
            story,
            chosen,
        }))
    }

    /// Where the runs of these jobs went last, of those whose route is `sticky`.
    pub async fn sticky(&self, jobs: &[i64]) -> Result<Vec<(i64, String)>> {
        let (list, value) = dialect::id_list(self.backend, jobs);
        let text = format!("SELECT job_id, address FROM sticky WHERE job_id IN ({list})");
        let rows = self.all(&self.write, &text, vec![value]).await?;
        rows.iter().map(|row| Ok((row.try_get_by_index(0)?, row.try_get_by_index(1)?))).collect()
    }

    /// The runs of these jobs go to other executors from now on. Three statements, however many jobs.
    pub async fn set_sticky(&self, moved: &[(i64, String)], now: carillon_scheduler::Millis) -> Result<()> {
        if moved.is_empty() {
            return Ok(());
        }
        let mut moved = moved.to_vec();
        moved.sort_unstable();
        let ids: Vec<i64> = moved.iter().map(|(id, _)| *id).collect();
        let (_, value) = dialect::id_list(self.backend, &ids);
        let tx = self.begin().await?;
        let text = dialect::delete_by_id(self.backend, "sticky", "job_id");
        self.execute(&tx, &text, vec![value]).await?;
        let values = std::iter::once(now.into()).chain(rows(self.backend, &moved)).collect();
        self.execute(&tx, ADD_STICKY.of(self.backend), values).await?;
        tx.commit().await?;
        Ok(())
    }

    /// How many runs each address has that may be under way there: marked or accepted, and not ended.
    pub async fn active(&self, shards: i32) -> Result<Vec<(String, i64)>> {
        let shards: Vec<i64> = (0..i64::from(shards)).collect();
        let (_, list) = dialect::id_list(self.backend, &shards);
        let text = ACTIVE.of(self.backend);
        let rows = self.all(self.hot_reads(), text, vec![list]).await?;
        rows.iter().map(|row| Ok((row.try_get_by_index(0)?, row.try_get_by_index(1)?))).collect()
    }
}

/// Texts by number: an array for each column on PostgreSQL, one list elsewhere.
fn rows(backend: DbBackend, rows: &[(i64, String)]) -> Vec<Value> {
    if backend == DbBackend::Postgres {
        let (ids, texts): (Vec<i64>, Vec<String>) = rows.iter().cloned().unzip();
        return vec![ids.into(), texts.into()];
    }
    vec![serde_json::to_string(rows).unwrap_or_default().into()]
}

/// One sentence.
fn why(route_code: i16, story: &Story, chosen: Option<&str>) -> String {
    if route_code == GIVEN {
        return "the executor was given with the fire".into();
    }
    let rule = RouteStrategy::from_code(route_code).map_or("", RouteStrategy::why);
    match (chosen, story.hops.last(), story.skipped.len()) {
        (None, ..) => "none could be chosen".into(),
        (Some(_), Some(hop), _) => {
            format!("next in order: nothing could be written to {}", hop.address)
        }
        (Some(_), None, 0) => rule.into(),
        (Some(_), None, 1) => "next in order: one before it was passed over".into(),
        (Some(_), None, count) => format!("next in order: {count} before it were passed over"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_says_why() {
        let told = |address: &str| Told { address: address.into(), what: "saturated".into() };
        let round_robin = RouteStrategy::RoundRobin.code();
        let mut story = Story::default();
        assert_eq!(why(GIVEN, &story, Some("a")), "the executor was given with the fire");
        assert_eq!(why(round_robin, &story, Some("a")), "it was its turn");
        assert_eq!(why(round_robin, &story, None), "none could be chosen");
        story.skipped.push(told("b"));
        assert_eq!(why(round_robin, &story, Some("a")), "next in order: one before it was passed over");
        story.hops.push(told("c"));
        assert_eq!(why(round_robin, &story, Some("a")), "next in order: nothing could be written to c");
    }
}

//! The mark of runs that need slots: `claimed` → `sending` and the slots in one transaction.

use carillon_scheduler::{Millis, SlotKey};
use foldhash::{HashMap, HashSet, HashSetExt as _};
use sea_orm::{ConnectionTrait, Value};

use crate::db::pool::transaction::Transaction;
use crate::db::sql::bulk::Bulk;
use crate::db::sql::forms::Lock;
use crate::db::sql::list::{ListColumn, long};
use crate::db::sql::retry;
use crate::error::Result;
use crate::run::lock::LockMode;
use crate::run::mark::{MARK_LIMITED, MarkRequest};
use crate::views::LimitStore;

/// A run, the executor that shall get it, and the slots that it needs: at least one, each of another limit.
#[derive(Clone, Debug)]
pub struct LimitedMark<'a> {
    pub mark: MarkRequest<'a>,
    pub slots: &'a [SlotKey],
}

/// What came of marks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitedMarks {
    /// They are `sending`, and have their slots.
    pub won: HashSet<i64>,
    /// They are as they were: a slot that they need is taken, or another session takes slots of the limit just now.
    pub without_slot: HashSet<i64>,
    /// They are as they were: another session holds their rows.
    pub held_up: HashSet<i64>,
}

/// One takes slots of a limit at a time: what it has read holds until it commits.
pub(crate) static LOCK_RULES: Bulk = Bulk::lock(Lock {
    columns: "limit_rule.id, limit_rule.max_runs",
    table: "limit_rule",
    id: "limit_rule.id",
    only_if: "",
});

const SLOT_KEYS: &[ListColumn] = &[long("limit_id"), long("slot_key")];

pub(crate) static TAKEN: Bulk = Bulk::text(
    SLOT_KEYS,
    "SELECT s.limit_id, s.slot_key, s.slot FROM {list} {join} limit_slot AS s{index PRIMARY} ON s.limit_id = u.limit_id \
     AND s.slot_key = u.slot_key",
);

pub(crate) static COUNT_TAKEN: Bulk = Bulk::text(
    SLOT_KEYS,
    "SELECT s.limit_id, s.slot_key, COUNT(*) FROM {list} {join} limit_slot AS s{index PRIMARY} ON s.limit_id = u.limit_id \
     AND s.slot_key = u.slot_key GROUP BY s.limit_id, s.slot_key",
);

/// What is free at a set of slots.
struct FreeSlots {
    most: i32,
    /// May be less than the numbers that are free: where a limit was made smaller, runs at work have numbers beyond it.
    left: usize,
    taken: HashSet<i32>,
    next: i32,
}

impl FreeSlots {
    fn peek(&mut self) -> Option<i32> {
        while self.taken.contains(&self.next) {
            self.next += 1;
        }
        Some(self.next).filter(|slot| self.left > 0 && *slot < self.most)
    }

    fn take(&mut self) {
        self.next += 1;
        self.left -= 1;
    }
}

impl LimitStore<'_> {
    /// Allows the sending of these runs as [`mark`](crate::views::RunStore::mark) does, as far as there are slots for them, in the order of
    /// the list. A run takes all slots that it needs or none. A limit that does not exist any more limits nothing. It waits for no row that
    /// another session holds: the runs of one limit would hold up those of all others.
    ///
    /// # Errors
    /// Some may be marked all the same: `unmark` them, which frees their slots too.
    pub async fn mark_limited(
        self,
        marks: &[LimitedMark<'_>],
        token: i64,
        node: &str,
        now: Millis,
    ) -> Result<LimitedMarks> {
        retry::on_conflict(|| self.try_mark_limited(marks, token, node, now)).await
    }

    async fn try_mark_limited(
        self,
        marks: &[LimitedMark<'_>],
        token: i64,
        node: &str,
        now: Millis,
    ) -> Result<LimitedMarks> {
        let tx = self.begin().await?;
        let mut free = self.lock_free_slots(&tx, marks).await?;
        let ids: Vec<i64> = marks.iter().map(|limited| limited.mark.run_id).collect();
        let held_up = self.runs().lock_runs(&tx, &ids, LockMode::SkipLocked).await?.held_up;
        let mut done = LimitedMarks { held_up, ..LimitedMarks::default() };
        let (mut rows, mut slots) = (vec![], vec![]);
        for LimitedMark { mark, slots: needed } in marks.iter().filter(|it| !done.held_up.contains(&it.mark.run_id)) {
            let found: Option<Vec<(SlotKey, i32)>> =
                needed.iter().filter_map(|key| free.get_mut(key).map(|free| Some((*key, free.peek()?)))).collect();
            let Some(found) = found else {
                done.without_slot.insert(mark.run_id);
                continue;
            };
            for (key, slot) in found {
                if let Some(free) = free.get_mut(&key) {
                    free.take();
                }
                slots.push((mark.run_id, key, slot));
            }
            rows.push(mark.row());
        }
        if rows.is_empty() {
            tx.rollback().await?;
            return Ok(done);
        }
        rows.sort_unstable();
        let marked = self.bulk(&tx, &MARK_LIMITED, &named![token, now, node], &rows).await?;
        let ids: Vec<i64> = rows.iter().map(|row| row.0).collect();
        done.won = match marked == ids.len() as u64 {
            true => ids.into_iter().collect(),
            false => self.runs().marked_with(&tx, &ids, token).await?,
        };
        // Those of the others stay free.
        slots.retain(|(run_id, ..)| done.won.contains(run_id));
        let slot = |(run_id, key, slot): (i64, SlotKey, i32)| -> Vec<Value> {
            values![key.limit_id, key.key, slot, run_id, now]
        };
        let slots = slots.into_iter().map(slot).collect();
        self.insert_rows(&tx, "limit_slot", "limit_id, slot_key, slot, run_id, taken_at", slots).await?;
        tx.commit().await?;
        Ok(done)
    }

    async fn lock_free_slots(self, tx: &Transaction, marks: &[LimitedMark<'_>]) -> Result<HashMap<SlotKey, FreeSlots>> {
        let mut keys: Vec<SlotKey> = marks.iter().flat_map(|mark| mark.slots.iter().copied()).collect();
        keys.sort_unstable();
        keys.dedup();
        let mut limits: Vec<i64> = keys.iter().map(|key| key.limit_id).collect();
        limits.dedup();
        let (rules, held_up) = self.lock_rules(tx, &limits, LockMode::SkipLocked).await?;
        let mut free: HashMap<SlotKey, FreeSlots> = keys
            .iter()
            .filter_map(|key| {
                let most = rules.get(&key.limit_id).copied();
                // Of a limit that another session holds nothing is known, so nothing is free.
                let most = most.or_else(|| held_up.contains(&key.limit_id).then_some(0))?;
                let left = usize::try_from(most).unwrap_or_default();
                Some((*key, FreeSlots { most, left, taken: HashSet::new(), next: 0 }))
            })
            .collect();
        let list: Vec<(i64, i64)> = keys.iter().map(|key| (key.limit_id, key.key)).collect();
        let taken: Vec<(i64, i64, i32)> = self.bulk_tuples(tx, &TAKEN, &[], &list).await?;
        for (limit_id, key, slot) in taken {
            if let Some(free) = free.get_mut(&SlotKey { limit_id, key }) {
                free.taken.insert(slot);
                free.left = free.left.saturating_sub(1);
            }
        }
        Ok(free)
    }

    /// How many runs each of these limits allows; and those of them that another session holds.
    pub(crate) async fn lock_rules(
        self,
        tx: &Transaction,
        ids: &[i64],
        mode: LockMode,
    ) -> Result<(HashMap<i64, i32>, HashSet<i64>)> {
        let mut statement = LOCK_RULES.statement(self.backend, &[], ids);
        let may_miss = mode == LockMode::SkipLocked && !self.is_exclusive();
        if may_miss {
            statement.sql.push_str(" SKIP LOCKED");
        }
        let rows = tx.query_all_raw(statement).await?;
        let mut rules: HashMap<i64, i32> = HashMap::default();
        for row in rows {
            rules.insert(row.try_get_by_index(0)?, row.try_get_by_index(1)?);
        }
        let missing: Vec<i64> = ids.iter().filter(|id| may_miss && !rules.contains_key(*id)).copied().collect();
        if missing.is_empty() {
            return Ok((rules, HashSet::new()));
        }
        let text = "SELECT id FROM limit_rule WHERE id IN ({ids})";
        let held_up: Vec<i64> = self.tuples(tx, text, values![self.ids(&missing)]).await?;
        Ok((rules, held_up.into_iter().collect()))
    }

    /// How many slots of these are taken; those of which none is are left out.
    pub async fn taken(self, keys: &[SlotKey]) -> Result<Vec<(SlotKey, u32)>> {
        self.taken_in(&self.engine_reads, keys).await
    }

    async fn taken_in(self, db: &impl ConnectionTrait, keys: &[SlotKey]) -> Result<Vec<(SlotKey, u32)>> {
        if keys.is_empty() {
            return Ok(vec![]);
        }
        let list: Vec<(i64, i64)> = keys.iter().map(|key| (key.limit_id, key.key)).collect();
        let rows: Vec<(i64, i64, i64)> = self.bulk_tuples(db, &COUNT_TAKEN, &[], &list).await?;
        let counted = |(limit_id, key, count)| (SlotKey { limit_id, key }, u32::try_from(count).unwrap_or(u32::MAX));
        Ok(rows.into_iter().map(counted).collect())
    }
}

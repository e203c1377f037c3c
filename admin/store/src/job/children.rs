//! Which jobs run after which: a list in order for each parent, without circles.

use std::collections::BTreeSet;
use std::collections::hash_map::Entry;

use carillon_scheduler::{AuditAction, FieldError, Millis};
use foldhash::{HashMap, HashMapExt as _, HashSet, HashSetExt as _};
use sea_orm::{ConnectionTrait, Value};

use crate::audit::entry::{AuditEntry, AuditObject, difference};
use crate::db::pool::transaction::Transaction;
use crate::error::{Error, Result};
use crate::job::audit_snapshot::{audit_snapshot, with_revision};
use crate::job::change::ChangeContext;
use crate::job::stored_job::Job;
use crate::views::JobStore;
use crate::workflow::graphs::{UNSPLITTABLE, jobs_in};

/// The member of a job with its graph.
const NODES: &str = "workflow.nodes";
const ROW: &str = "job_id, position, child_id";

/// A job and one of its children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChildLink {
    pub parent: i64,
    pub parent_app: i64,
    pub child: i64,
    pub child_app: i64,
    /// Both are of one app, or the app of the child lets the app of the parent start its jobs.
    pub is_started: bool,
}

impl JobStore<'_> {
    /// The children of these jobs, in their order.
    pub(crate) async fn children_of(
        self,
        db: &impl ConnectionTrait,
        job_ids: &[i64],
    ) -> Result<HashMap<i64, Vec<i64>>> {
        let mut found: HashMap<i64, Vec<i64>> = HashMap::new();
        if job_ids.is_empty() {
            return Ok(found);
        }
        let text = "SELECT job_id, child_id FROM job_child WHERE job_id IN ({ids}) ORDER BY job_id, position";
        for (parent, child) in self.tuples(db, text, values![self.ids(job_ids)]).await? {
            found.entry(parent).or_default().push(child);
        }
        Ok(found)
    }

    /// Fills in the children of those jobs that have some.
    pub(crate) async fn add_children(self, db: &impl ConnectionTrait, jobs: &mut [Job]) -> Result<()> {
        let parents = jobs.iter().filter(|job| !job.draft.children.is_empty());
        let parents: Vec<i64> = parents.map(|job| job.id).collect();
        let mut children = self.children_of(db, &parents).await?;
        for job in jobs {
            job.draft.children = children.remove(&job.id).unwrap_or_default();
        }
        Ok(())
    }

    /// Stores the children of new jobs. No other job can name these yet, so they close no circle.
    ///
    /// # Errors
    /// `Refused`, if a child does not exist.
    pub(crate) async fn insert_children(self, tx: &Transaction, jobs: &[Job]) -> Result<()> {
        if jobs.iter().all(|job| job.draft.children.is_empty()) {
            return Ok(());
        }
        self.hold_children(tx).await?;
        let named: BTreeSet<i64> = jobs.iter().flat_map(|job| job.draft.children.iter().copied()).collect();
        let known = self.known_jobs(tx, &Vec::from_iter(named)).await?;
        for (index, job) in jobs.iter().enumerate() {
            let field = match jobs.len() {
                1 => "children".to_owned(),
                _ => format!("[{index}].children"),
            };
            must_be_known(field, &job.draft.children, &known)?;
        }
        self.insert_rows(tx, "job_child", ROW, jobs.iter().flat_map(rows).collect()).await
    }

    /// Replaces the children of a job. Its open runs are marked, so that their end looks for children.
    ///
    /// # Errors
    /// `Refused`, if a child does not exist or the job would run after itself.
    pub(crate) async fn write_children(self, tx: &Transaction, old: &Job, new: &Job) -> Result<()> {
        let children = &new.draft.children;
        if old.draft.children == *children {
            return Ok(());
        }
        self.hold_children(tx).await?;
        must_be_known("children".into(), children, &self.known_jobs(tx, children).await?)?;
        self.must_not_come_back(tx, new.id, children, "children").await?;
        let text = "DELETE FROM job_child WHERE job_id = ?";
        self.execute(tx, text, values![new.id]).await?;
        self.insert_rows(tx, "job_child", ROW, rows(new)).await?;
        if !children.is_empty() {
            let text = "UPDATE run SET follow = follow | {follow.children} WHERE shard = ? AND state IN ({state.open}) AND state < {state.final} AND job_id = ?";
            self.execute(tx, text, values![new.shard, new.id]).await?;
        }
        Ok(())
    }

    /// Those of these jobs whose fires are not recorded, so that nothing can follow or start them.
    pub async fn best_effort_among(self, job_ids: &[i64]) -> Result<HashSet<i64>> {
        let text = "SELECT id FROM job WHERE id IN ({ids}) AND durability = 'best_effort'";
        Ok(self.tuples(&self.read, text, values![self.ids(job_ids)]).await?.into_iter().collect())
    }

    /// The jobs that have one of these jobs as a child, ascending.
    pub async fn parents_of(self, job_ids: &[i64]) -> Result<Vec<i64>> {
        if job_ids.is_empty() {
            return Ok(vec![]);
        }
        let text = "SELECT DISTINCT job_id FROM job_child WHERE child_id IN ({ids}) ORDER BY job_id";
        self.tuples(&self.read, text, values![self.ids(job_ids)]).await
    }

    /// The links of these jobs to their children and to their parents.
    pub async fn child_links(self, job_ids: &[i64]) -> Result<Vec<ChildLink>> {
        let mut links = vec![];
        if job_ids.is_empty() {
            return Ok(links);
        }
        for end in ["job_id", "child_id"] {
            let text = format!(
                "SELECT l.job_id, p.app_id, l.child_id, c.app_id, (SELECT COUNT(*) FROM app_starter s WHERE s.app_id = c.app_id \
                 AND s.starter_id = p.app_id) FROM job_child l JOIN job p ON p.id = l.job_id JOIN job c ON c.id = l.child_id \
                 WHERE l.{end} IN ({{ids}}) ORDER BY l.job_id, l.child_id"
            );
            for (parent, parent_app, child, child_app, starters) in
                self.tuples::<(i64, i64, i64, i64, i64)>(&self.read, &text, values![self.ids(job_ids)]).await?
            {
                let is_started = parent_app == child_app || starters > 0;
                let link = ChildLink { parent, parent_app, child, child_app, is_started };
                if !links.contains(&link) {
                    links.push(link);
                }
            }
        }
        Ok(links)
    }

    /// The jobs of an app that are children of jobs which may not start them, ascending.
    pub async fn unstarted_children(self, app_id: i64) -> Result<Vec<i64>> {
        let text = "SELECT DISTINCT c.id FROM job c JOIN job_child l ON l.child_id = c.id JOIN job p ON p.id = l.job_id \
                    LEFT JOIN app_starter s ON s.app_id = c.app_id AND s.starter_id = p.app_id \
                    WHERE c.app_id = ? AND p.app_id <> c.app_id AND s.app_id IS NULL ORDER BY c.id";
        self.tuples(&self.read, text, values![app_id]).await
    }

    /// The jobs that have this one as a child, locked.
    pub(crate) async fn lock_parents(self, tx: &Transaction, id: i64) -> Result<Vec<Job>> {
        let text = "SELECT job_id FROM job_child WHERE child_id = ? ORDER BY job_id";
        let mut parents = vec![];
        for parent in self.tuples::<i64>(tx, text, values![id]).await? {
            parents.push(self.lock_job(tx, parent.into()).await?);
        }
        Ok(parents)
    }

    /// A job that is deleted is a child of no other. Each parent gets a new revision, as by an edit, with an entry in the audit whose
    /// id comes from `rows`.
    pub(crate) async fn leave_parents(
        self,
        tx: &Transaction,
        id: i64,
        parents: &[Job],
        rows: &[i64],
        ChangeContext { now, actor, .. }: ChangeContext<'_>,
    ) -> Result<()> {
        for (parent, row) in parents.iter().zip(rows) {
            let mut new = parent.clone();
            new.draft.children.retain(|child| *child != id);
            self.write_job(tx, parent, &mut new, now).await?;
            self.write_children(tx, parent, &new).await?;
            let detail = with_revision(difference(&audit_snapshot(parent), &audit_snapshot(&new)), new.revision);
            let object = AuditObject::job(parent.id, parent.app_id);
            self.audit()
                .insert(tx, vec![AuditEntry::new(actor, now, AuditAction::Update, object, detail)], &[*row])
                .await?;
        }
        Ok(())
    }

    /// A deleted job has no children.
    pub(crate) async fn drop_children(self, tx: &Transaction, id: i64) -> Result<()> {
        self.hold_children(tx).await?;
        self.execute(tx, "DELETE FROM job_child WHERE job_id = ?", values![id]).await.map(drop)
    }

    /// One change at a time: two at once could close a circle, or name a job that is being deleted.
    async fn hold_children(self, tx: &Transaction) -> Result<()> {
        let text = "UPDATE setting SET value = value WHERE name = 'children'";
        self.execute(tx, text, vec![]).await.map(drop)
    }

    /// The jobs with these ids that exist.
    pub(crate) async fn known_jobs(self, db: &impl ConnectionTrait, ids: &[i64]) -> Result<HashSet<i64>> {
        if ids.is_empty() {
            return Ok(HashSet::new());
        }
        let text = "SELECT id FROM job WHERE id IN ({ids})";
        Ok(self.tuples(db, text, values![self.ids(ids)]).await?.into_iter().collect())
    }

    /// The jobs that the graphs of new jobs run: they stay until these are stored.
    ///
    /// # Errors
    /// `Refused`, if one of them does not exist.
    pub(crate) async fn hold_used_jobs(self, tx: &Transaction, jobs: &[Job]) -> Result<()> {
        for (index, job) in jobs.iter().enumerate() {
            let Some(workflow) = &job.draft.workflow else { continue };
            let field = if jobs.len() == 1 { NODES.to_owned() } else { format!("[{index}].{NODES}") };
            self.hold_children(tx).await?;
            let used: Vec<i64> = jobs_in(workflow).into_iter().collect();
            must_be_known(field.clone(), &used, &self.known_jobs(tx, &used).await?)?;
            let with_parts = workflow.nodes.iter().filter(|(_, node)| node.for_each.is_some());
            let with_parts: Vec<(&str, i64)> =
                with_parts.filter_map(|(name, node)| Some((name.as_str(), node.job.id()?))).collect();
            let jobs: Vec<i64> = with_parts.iter().map(|(_, job)| *job).collect();
            let unsplittable = self.workflows().unsplittable(tx, &jobs).await?;
            if let Some((name, _)) = with_parts.iter().find(|(_, job)| unsplittable.contains(job)) {
                return Err(Error::refused(&format!("{field}.{name}.for_each"), UNSPLITTABLE));
            }
        }
        Ok(())
    }

    /// Gives a locked job the graph of its new definition.
    ///
    /// # Errors
    /// `Refused`, if a job of it does not exist, or the workflow would run within itself.
    pub(crate) async fn apply_workflow(self, tx: &Transaction, old: &Job, new: &mut Job, now: Millis) -> Result<()> {
        if new.draft.workflow != old.draft.workflow {
            self.hold_used_jobs(tx, std::slice::from_ref(new)).await?;
            let used: Vec<i64> = new.draft.workflow.iter().flat_map(jobs_in).collect();
            self.must_not_come_back(tx, new.id, &used, NODES).await?;
        }
        self.workflows().apply_graph(tx, old, new, now).await
    }

    /// # Errors
    /// `InUse`: it is a node of a workflow.
    pub(crate) async fn refuse_if_used(self, tx: &Transaction, id: i64) -> Result<()> {
        self.hold_children(tx).await?;
        let users = self.workflows().users_in(tx, id).await?;
        if users.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = users.iter().map(|(id, name)| format!("{id} ({name})")).collect();
        Err(Error::InUse(format!("job {id} is a node of workflow {}; remove it there first", names.join(", "))))
    }

    /// Breadth first over the children of the children, and the nodes of workflows.
    async fn must_not_come_back(self, tx: &Transaction, job_id: i64, children: &[i64], field: &str) -> Result<()> {
        let mut came_from: HashMap<i64, i64> = children.iter().map(|id| (*id, job_id)).collect();
        let mut next = children.to_vec();
        while !next.is_empty() {
            if came_from.contains_key(&job_id) {
                let path = path_back(&came_from, job_id);
                let message = format!("job {job_id} would run after itself: {path}");
                return Err(Error::Refused(FieldError::new(field, message)));
            }
            let mut found = self.children_of(tx, &next).await?;
            for (workflow, used) in self.workflows().uses_of(tx, &next).await? {
                found.entry(workflow).or_default().push(used);
            }
            next.clear();
            for (parent, children) in found {
                for child in children {
                    if let Entry::Vacant(new) = came_from.entry(child) {
                        new.insert(parent);
                        next.push(child);
                    }
                }
            }
        }
        Ok(())
    }
}

fn must_be_known(field: String, children: &[i64], known: &HashSet<i64>) -> Result<()> {
    match children.iter().find(|id| !known.contains(id)) {
        Some(id) => Err(Error::Refused(FieldError::new(field, format!("there is no job {id}")))),
        None => Ok(()),
    }
}

fn path_back(came_from: &HashMap<i64, i64>, job_id: i64) -> String {
    let mut path = vec![job_id];
    while let Some(parent) = path.last().and_then(|last| came_from.get(last)) {
        path.push(*parent);
        if *parent == job_id {
            break;
        }
    }
    let ids: Vec<String> = path.iter().rev().map(i64::to_string).collect();
    ids.join(" → ")
}

fn rows(job: &Job) -> Vec<Vec<Value>> {
    (0i32..).zip(&job.draft.children).map(|(position, child)| values![job.id, position, *child]).collect()
}

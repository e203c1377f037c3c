//! Jobs as they are stored, and how they are read back.

use std::fmt::Display;
use std::str::FromStr;

use carillon_scheduler::{FieldError, JobDraft, JobSpec, Millis, Parts, Schedule, ScheduleContext, ScheduleDraft};
use foldhash::HashMap;
use sea_orm::{ConnectionTrait, DbErr, FromQueryResult, QueryResult, TryGetable, Value};
use serde::de::DeserializeOwned;

use crate::app::apps::App;
use crate::calendar::pinned::Calendars;
use crate::db::sql::execute::read;
use crate::db::sql::filter::Conditions;
use crate::db::sql::rows::{Word, WordOrDefault};
use crate::error::Result;
use crate::job::labels::label_columns;
use crate::job::labels::limit_names::names_of;
use crate::job::labels::script_reference::{check_script, script_of};
use crate::job::pause::JobPause;
use crate::run::follow;
use crate::views::JobStore;

/// A stored job.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    pub id: i64,
    pub app_id: i64,
    pub shard: i32,
    /// The definition, the app's name and `enabled` among it.
    pub draft: JobDraft,
    /// From when a fixed rate counts: the second of the job's creation, or of the edit that gave it another rate.
    pub anchor_at: Millis,
    /// The second within the schedule's spread that was chosen for it.
    pub spread_offset: i32,
    /// The calendars of its schedule, in the versions that this revision is planned with.
    pub calendars: Calendars,
    /// After this number of runs its schedule is exhausted; None: it has no limit.
    pub fires_left: Option<i32>,
    /// Why the engine has paused it; None if a person did.
    pub paused_reason: Option<String>,
    /// Why it is paused, by whom and until when, as far as it was noted.
    pub pause: Option<JobPause>,
    /// The first unrecorded instant of a job that the engine has paused.
    pub resume_from_at: Option<Millis>,
    /// Its first instant that is not recorded yet; None if it is paused or never fires again.
    pub next_fire_at: Option<Millis>,
    /// Which of its graphs is the current one; None: it is no workflow.
    pub graph_version: Option<Millis>,
    /// Grows with each change of the definition or of `enabled`.
    pub revision: i64,
    pub created_at: Millis,
    pub updated_at: Millis,
}

impl Job {
    /// The schedule, ready for use.
    ///
    /// # Errors
    /// What was stored is no schedule (any more): changed by hand in the database, or a zone that has left the zone data.
    pub fn schedule(&self) -> std::result::Result<Schedule, FieldError> {
        Schedule::parse(&self.draft.schedule, &self.facts())
    }

    /// Its schedule with the anchor and the offset, which are no members of its draft: a job that is made from it fires at the same
    /// instants.
    pub fn full_schedule(&self) -> ScheduleDraft {
        let schedule = &self.draft.schedule;
        let is_rate = schedule.kind.is_rate();
        let is_spread = schedule.spread_seconds > 0;
        ScheduleDraft {
            anchor_at: is_rate.then_some(self.anchor_at),
            spread_offset_seconds: is_spread.then_some(self.spread_offset.unsigned_abs()),
            ..schedule.clone()
        }
    }

    /// What its schedule takes from its surroundings.
    pub fn facts(&self) -> ScheduleContext<'_> {
        facts(self.anchor_at, self.spread_offset, &self.calendars)
    }

    /// Counts fires again whose recorded runs were deleted before they were sent: their instants will be recorded again. A schedule
    /// that is newer than these runs has all its fires before it, and gets no more than that.
    pub(crate) fn give_back_fires(&mut self, deleted: usize) {
        let most = self.draft.schedule.max_fires.map_or(i32::MAX, u32::cast_signed);
        self.fires_left = self.fires_left.map(|left| left.saturating_add(deleted as i32).min(most));
    }
}

/// A checked definition, ready to be stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    pub(crate) app_id: i64,
    pub(crate) draft: JobDraft,
    pub(crate) spec: JobSpec,
    pub(crate) anchor_at: Millis,
    /// The draft gives the anchor.
    has_anchor: bool,
    pub(crate) spread_offset: i32,
    pub(crate) calendars: Calendars,
    /// Of a script that is new; one that stays is not read.
    pub(crate) script_source: Option<String>,
}

/// What a definition is checked against.
#[derive(Clone, Copy, Debug)]
pub struct DefinitionContext<'a> {
    /// The app that the draft names.
    pub app: &'a App,
    /// The job that it is to change.
    pub before: Option<&'a Job>,
    /// The second within the schedule's spread.
    pub spread_offset: i32,
    /// At least the calendars that the draft names and that exist.
    pub calendars: &'a Calendars,
}

impl<'a> DefinitionContext<'a> {
    /// The context of a new job.
    pub fn new(app: &'a App, calendars: &'a Calendars) -> Self {
        Self { app, before: None, spread_offset: 0, calendars }
    }

    /// The context of a job that exists.
    pub fn of(app: &'a App, job: &'a Job, calendars: &'a Calendars) -> Self {
        Self { app, before: Some(job), spread_offset: job.spread_offset, calendars }
    }
}

impl Definition {
    /// Checks every member of a new job that uses no calendars. `app` is the one that the draft names.
    ///
    /// # Errors
    /// One for each member that is wrong.
    pub fn check(app: &App, draft: &JobDraft, now: Millis) -> std::result::Result<Self, Vec<FieldError>> {
        Self::check_in(DefinitionContext::new(app, &Calendars::default()), draft, now)
    }

    /// Checks every member.
    ///
    /// # Errors
    /// One for each member that is wrong.
    pub fn check_in(
        surroundings: DefinitionContext<'_>,
        draft: &JobDraft,
        now: Millis,
    ) -> std::result::Result<Self, Vec<FieldError>> {
        let DefinitionContext { app, before, spread_offset, calendars } = surroundings;
        let calendars = calendars.only(&draft.schedule.calendars);
        let has_anchor = draft.schedule.anchor_at.is_some();
        let anchor_at = draft.schedule.anchor_at.unwrap_or(whole_second(now));
        let spread_offset = draft.schedule.spread_offset_seconds.map_or(spread_offset, u32::cast_signed);
        let script = check_script(draft.script.as_ref(), before.and_then(|job| job.draft.script.as_ref()));
        let before = before.map(|job| &job.draft.schedule);
        let (spec, (script, script_source)) =
            match (draft.validate(&facts(anchor_at, spread_offset, &calendars), before, now), script) {
                (Ok(spec), Ok(script)) => (spec, script),
                (spec, script) => {
                    let mut errors = spec.err().unwrap_or_default();
                    let of_script = script.err().filter(|error| errors.iter().all(|it| it.field != error.field));
                    errors.extend(of_script);
                    return Err(errors);
                }
            };
        let draft = JobDraft { app: app.name.clone(), script, ..spec.normal(draft) };
        Ok(Self { app_id: app.id, draft, spec, anchor_at, has_anchor, spread_offset, calendars, script_source })
    }

    pub fn app_id(&self) -> i64 {
        self.app_id
    }

    pub fn has_script(&self) -> bool {
        self.draft.script.is_some()
    }

    /// Saving it makes a version of the script.
    pub fn has_new_script(&self) -> bool {
        self.script_source.is_some()
    }

    /// The name of its app.
    pub fn app(&self) -> &str {
        &self.draft.app
    }

    pub fn spec(&self) -> &JobSpec {
        &self.spec
    }

    /// A fixed rate that stays goes on counting from where it does.
    pub fn keep_anchor(&mut self, job: &Job) {
        self.anchor_at = self.anchor_after(job);
    }

    /// A fixed rate counts from the anchor that is given; without one from the job's creation, and another rate from the edit's second.
    pub(crate) fn anchor_after(&self, old: &Job) -> Millis {
        match &self.draft.schedule.kind {
            new if new.is_rate() && (self.has_anchor || *new != old.draft.schedule.kind) => self.anchor_at,
            _ => old.anchor_at,
        }
    }

    /// The schedule as it would be after saving.
    ///
    /// # Errors
    /// None that [`Definition::check_in`] has not found.
    pub fn schedule(&self) -> std::result::Result<Schedule, FieldError> {
        Schedule::parse(&self.draft.schedule, &facts(self.anchor_at, self.spread_offset, &self.calendars))
    }
}

fn facts(anchor_at: Millis, spread_offset: i32, calendars: &Calendars) -> ScheduleContext<'_> {
    ScheduleContext { anchor_at, spread_offset_seconds: spread_offset.unsigned_abs(), calendars: calendars.list() }
}

/// The start of the second of `at`.
pub(crate) fn whole_second(at: Millis) -> Millis {
    at - at.rem_euclid(1000)
}

const COLUMNS: &str = "j.id, j.app_id, j.shard, a.name AS app, j.name, j.handler, p.params, j.schedule_text, j.anchor_at, j.catch_up, \
     j.misfire, j.misfire_threshold_ms, j.misfire_limit, j.misfire_window_ms, j.route, j.route_labels, j.overlap, j.overlap_queue, j.max_concurrent, j.limits, j.priority, \
     j.block, j.timeout_seconds, j.retries, j.retry_delay, j.follow, j.flag_after_seconds, j.start_within_seconds, j.enabled, j.spread_offset, j.fires_left, j.paused_reason, \
     j.resume_from_at, j.revision, j.created_at, j.updated_at, j.pause_after_failures, j.takes_result, j.job_key, j.set_name, j.script_type, j.script_version, j.parts, \
     j.durability, j.graph_version, g.graph, j.http, c.remark AS script_remark, c.sha256 AS script_sha256, c.bytes AS script_bytes, \
     s.note AS pause_note, s.author AS pause_author, s.paused_at, s.ends_at AS pause_ends_at";
const OTHERS: &str = "JOIN app a ON a.id = j.app_id LEFT JOIN job_params p ON p.job_id = j.id LEFT JOIN job_label l ON l.job_id = j.id \
     LEFT JOIN job_pause s ON s.job_id = j.id LEFT JOIN job_script c ON c.job_id = j.id AND c.version = j.script_version \
     LEFT JOIN workflow_graph g ON g.job_id = j.id AND g.version = j.graph_version";

impl JobStore<'_> {
    pub async fn get(self, id: i64) -> Result<Option<Job>> {
        self.job_by(&self.read, id).await
    }

    /// The jobs with these ids that exist, without their due times.
    pub async fn with_ids(self, ids: &[i64]) -> Result<Vec<Job>> {
        let from = "(SELECT * FROM job WHERE id IN ({ids})) AS j";
        let rows = self.job_rows(&self.read, from, values![self.ids(ids)]).await?;
        let mut jobs = self.readable("job", &rows);
        self.add_neighbours(&self.read, &mut jobs).await?;
        Ok(jobs)
    }

    /// One job with its due time, which on the write side may be inside a transaction.
    pub(crate) async fn job_by(self, db: &impl ConnectionTrait, id: i64) -> Result<Option<Job>> {
        let Some(mut job) = self.job_without_due_time(db, id).await? else {
            return Ok(None);
        };
        let text = "SELECT next_fire_at FROM job_clock WHERE shard = ? AND job_id = ?";
        job.next_fire_at = self.tuple(db, text, values![job.shard, id]).await?;
        Ok(Some(job))
    }

    pub(crate) async fn job_without_due_time(self, db: &impl ConnectionTrait, id: i64) -> Result<Option<Job>> {
        let from = "(SELECT * FROM job WHERE id = ?) AS j";
        let rows = self.job_rows(db, from, values![id]).await?;
        let mut found: Vec<Job> = rows.iter().map(read).collect::<Result<_>>()?;
        self.add_neighbours(db, &mut found).await?;
        Ok(found.pop())
    }

    /// Jobs from a table `j` of their rows, newest first.
    pub(crate) async fn job_rows(
        self,
        db: &impl ConnectionTrait,
        from: &str,
        values: Vec<Value>,
    ) -> Result<Vec<QueryResult>> {
        let labels = label_columns::selected();
        self.query(db, &format!("SELECT {COLUMNS}, {labels} FROM {from} {OTHERS} ORDER BY j.id DESC"), values).await
    }

    /// Adds the children, parts and calendars.
    pub(crate) async fn add_neighbours(self, db: &impl ConnectionTrait, jobs: &mut [Job]) -> Result<()> {
        self.add_children(db, jobs).await?;
        self.add_parts(db, jobs).await?;
        let named = |job: &&Job| !job.draft.schedule.calendars.is_empty();
        let ids: Vec<i64> = jobs.iter().filter(named).map(|job| job.id).collect();
        let mut calendars = self.calendars().calendars_of(db, &ids).await?;
        for job in jobs {
            job.calendars = calendars.remove(&job.id).unwrap_or_default();
        }
        Ok(())
    }

    /// Adds the due times. One walk over the narrow table: it has no index by job (the claim would pay for it).
    pub(crate) async fn add_due_times(self, jobs: &mut [Job]) -> Result<()> {
        if jobs.is_empty() {
            return Ok(());
        }
        let mut conditions = Conditions::default();
        conditions.among("job_id", jobs.iter().map(|job| job.id));
        let (filter, values) = conditions.finish();
        let text = format!("SELECT job_id, next_fire_at FROM job_clock{filter}");
        let due: HashMap<i64, Millis> = self.tuples(&self.read, &text, values).await?.into_iter().collect();
        for job in jobs {
            job.next_fire_at = due.get(&job.id).copied();
        }
        Ok(())
    }
}

impl FromQueryResult for Job {
    fn from_query_result(row: &QueryResult, _pre: &str) -> std::result::Result<Self, DbErr> {
        fn get<T: TryGetable>(row: &QueryResult, column: &str) -> std::result::Result<T, DbErr> {
            row.try_get("", column)
        }
        fn word<T: FromStr<Err: Display>>(row: &QueryResult, column: &str) -> std::result::Result<T, DbErr> {
            Ok(get::<Word<T>>(row, column)?.0)
        }
        let mut draft = JobDraft {
            app: get(row, "app")?,
            name: get(row, "name")?,
            handler: get(row, "handler")?,
            script: script_of(row)?,
            workflow: json_of(get(row, "graph")?)?,
            http: json_of(get(row, "http")?)?,
            key: get::<Option<String>>(row, "job_key")?.unwrap_or_default(),
            set: get::<Option<String>>(row, "set_name")?.unwrap_or_default(),
            params: get::<Option<String>>(row, "params")?.unwrap_or_default(),
            takes_result: get(row, "takes_result")?,
            schedule: schedule_of(get(row, "schedule_text")?),
            durability: word(row, "durability")?,
            catch_up: word(row, "catch_up")?,
            misfire: word(row, "misfire")?,
            misfire_threshold_seconds: get::<i64>(row, "misfire_threshold_ms")? / 1000,
            misfire_limit: get(row, "misfire_limit")?,
            misfire_window_seconds: get::<i64>(row, "misfire_window_ms")? / 1000,
            route: word(row, "route")?,
            route_labels: get(row, "route_labels")?,
            overlap: word(row, "overlap")?,
            overlap_queue: get(row, "overlap_queue")?,
            max_concurrent: get(row, "max_concurrent")?,
            limits: get::<Option<String>>(row, "limits")?.map(|text| names_of(&text)).unwrap_or_default(),
            priority: get(row, "priority")?,
            block: word(row, "block")?,
            timeout_seconds: get(row, "timeout_seconds")?,
            retries: get(row, "retries")?,
            retry_delay: get::<WordOrDefault<_>>(row, "retry_delay")?.0,
            // Whose they are is read with the others of a list.
            children: if get::<i16>(row, "follow")? & follow::CHILDREN != 0 { vec![0] } else { vec![] },
            flag_after_seconds: get(row, "flag_after_seconds")?,
            start_within_seconds: get(row, "start_within_seconds")?,
            pause_after_failures: get(row, "pause_after_failures")?,
            enabled: get(row, "enabled")?,
            // A list is read with the others.
            parts: Parts::Count(get(row, "parts")?),
            // Labels.
            ..JobDraft::new("", "", "")
        };
        label_columns::read_labels(row, &mut draft)?;
        let pause = match get::<Option<Millis>>(row, "paused_at")? {
            Some(paused_at) if !draft.enabled => Some(JobPause {
                note: get(row, "pause_note")?,
                author: get(row, "pause_author")?,
                paused_at,
                ends_at: get(row, "pause_ends_at")?,
            }),
            _ => None,
        };
        Ok(Self {
            id: get(row, "id")?,
            app_id: get(row, "app_id")?,
            shard: get(row, "shard")?,
            draft,
            anchor_at: get(row, "anchor_at")?,
            spread_offset: get(row, "spread_offset")?,
            fires_left: get(row, "fires_left")?,
            calendars: Calendars::default(),
            paused_reason: get(row, "paused_reason")?,
            pause,
            resume_from_at: get(row, "resume_from_at")?,
            next_fire_at: None,
            graph_version: get(row, "graph_version")?,
            revision: get(row, "revision")?,
            created_at: get(row, "created_at")?,
            updated_at: get(row, "updated_at")?,
        })
    }
}

/// A member that is stored as JSON.
fn json_of<T: DeserializeOwned>(text: Option<String>) -> std::result::Result<Option<T>, DbErr> {
    let read = |text: String| serde_json::from_str(&text).map_err(|error| DbErr::Type(error.to_string()));
    text.map(read).transpose()
}

/// A text that was changed by hand is shown as it is, in a schedule that cannot be used: one bad row must not
/// hide the others of a list, and its job must stay editable.
pub(crate) fn schedule_of(text: String) -> ScheduleDraft {
    serde_json::from_str(&text).unwrap_or_else(|_| ScheduleDraft::cron(text, ""))
}

//! Every path of the API: its methods, what each needs, their handlers, and what the OpenAPI document says about them. Bodies, answers and
//! the parameters of paths are described by the signatures of the handlers.

use actix_web::http::Method;
use carillon_store::{JobSort, RunSort};
use utoipa::PartialSchema;
use utoipa::openapi::{Content, Ref};

use super::endpoint::Endpoint;
use super::extract::parameter::{any_of, flag, id, integer, number, object, text, time};
use super::view::words;
use super::{alerts, apps, calendars, forecast, jobs, openapi, pauses, records, reports, retention, runs};
use crate::web::access::access;

/// A group has its tag. An operation has its method and path, its access, its handler, its name in generated clients, a summary, and the
/// calls of [`Endpoint`] that describe its query and its errors.
macro_rules! routes {
    ($($tag:literal {
        $($method:ident $path:literal, $($access:ident)+: $handler:path, $id:ident, $summary:expr
            $(=> $($call:ident($($argument:expr),*)),+)?;)+
    })+) => {
        vec![$($(
            Endpoint::new(Method::$method, $path, access!($($access)+), $handler)
                .describe($tag, stringify!($id), $summary)
                $($(.$call($($argument),*))+)?,
        )+)+]
    };
}

/// In the order of the document; the methods of a path follow each other.
pub fn all() -> Vec<Endpoint> {
    [of_apps(), of_jobs(), of_runs(), of_alerts(), others()].into_iter().flatten().collect()
}

fn of_apps() -> Vec<Endpoint> {
    routes! {
        "apps" {
            GET "/apps", View AnyApp: apps::list, listApps, "All apps, by name";
            POST "/apps", Administer Installation: apps::create, createApp, "Create an app" => fails([409]);
            PUT "/apps/{id}", Administer Installation: apps::update, updateApp,
                "Rename an app, or change its title; its executors may register under the old name until that is removed" => fails([409]);
            DELETE "/apps/{id}", Administer Installation: apps::delete, deleteApp,
                "Delete an app without jobs and open runs, with its executors, tokens, pauses and alert rules" => fails([409]);
            GET "/apps/{id}/former-names", View App: apps::former_names, listFormerNames,
                "Names that an app had, and under which its executors may register, by name";
            DELETE "/apps/{id}/former-names", Administer Installation: apps::remove_former_name, removeFormerName,
                "Remove a former name: who registers under it is an executor of no app" => needs("name", text(), "The former name");
            GET "/apps/{id}/starters", Administer App: apps::starters, listStarters,
                "The apps whose jobs may start jobs of this app, as children of theirs";
            PUT "/apps/{id}/starters", Administer App: apps::set_starters, setStarters,
                "Set the apps whose jobs may start jobs of this app";
            GET "/apps/{id}/executors", View App: apps::executors::list, listExecutors, "Executors of an app, by address";
            POST "/apps/{id}/executors", Administer Installation: apps::executors::enter, enterExecutor,
                "Enter the address of an executor that need not register" => fails([409]);
            PUT "/apps/{id}/executors", Administer App: apps::executors::update, updateExecutor,
                "Set the weight and the labels of an executor";
            DELETE "/apps/{id}/executors", Administer App: apps::executors::remove, removeExecutor,
                "Remove an executor and what is set for it; one that sends heartbeats is there again with the next one"
                => needs("address", text(), "The executor's address");
            PUT "/apps/{id}/executors/drain", Operate App: apps::executors::drain, drainExecutor,
                "Set whether an executor gets new runs; what it has ends there. Lasts until it is undone, also when it registers again";
            GET "/apps/{id}/tokens", Administer App: apps::tokens::list, listAppTokens,
                "The tokens of an app's executors, newest first";
            POST "/apps/{id}/tokens", Administer App: apps::tokens::create, createAppToken,
                "Create a token for an app's executors; two can be valid at a time" => fails([409]);
            PUT "/apps/{id}/tokens", Administer App: apps::tokens::set_rule, setAppTokenRule,
                "Set whether an app accepts its own tokens alone" => fails([409]);
            DELETE "/apps/{id}/tokens/{token}", Administer App: apps::tokens::revoke, revokeAppToken,
                "Revoke a token; every node refuses it within two seconds";
            GET "/apps/{id}/declarations", View App: apps::declarations::get, getDeclarations,
                "What the programs of an app declare in their code, and what has become of it";
            PUT "/apps/{id}/declarations", Administer App: apps::declarations::set, setDeclarations,
                "Set what becomes of the declarations of an app's programs";
            GET "/apps/{id}/secrets", Administer App: apps::secrets::list, listSecrets,
                "The names of the secrets of an app, which requests of HTTP jobs name";
            PUT "/apps/{id}/secrets/{name}", Administer App: apps::secrets::set, setSecret, "Set or replace a secret of an app"
                => fails([409]);
            DELETE "/apps/{id}/secrets/{name}", Administer App: apps::secrets::delete, deleteSecret,
                "Delete a secret of an app; runs that need it fail before they are sent";
        }
        "pauses" {
            GET "/pauses", View AnyApp: pauses::list, listPauses, "Pauses in force and ahead, by their begin";
            POST "/pauses", Operate AnyApp: pauses::create, createPause,
                "Pause an app, or all apps: no fire of a schedule is sent meanwhile, retries, child jobs and backfills wait; \
                 in force on all nodes within two seconds";
            DELETE "/pauses/{id}", Operate AnyApp: pauses::end, endPause, "End a pause now; one that is ahead is given up";
            GET "/maintenance-windows", View AnyApp: pauses::list_windows, listMaintenanceWindows,
                "Recurring pauses, oldest first, with their next times";
            POST "/maintenance-windows", Operate AnyApp: pauses::create_window, createMaintenanceWindow,
                "Pause an app, or all apps, from each instant of a cron expression for the same time";
            DELETE "/maintenance-windows/{id}", Operate AnyApp: pauses::delete_window, deleteMaintenanceWindow,
                "Delete a maintenance window; if it is in force, it ends";
            POST "/maintenance-windows/{id}/end", Operate AnyApp: pauses::end_window, endMaintenance,
                "End the maintenance that is in force; the next one begins at its time";
        }
        "retention" {
            GET "/retention", View Shared: retention::get_all, getRetention,
                "How long runs of all jobs without a rule of their own or of their app are kept";
            PUT "/retention", Administer Installation: retention::put_all, setRetention,
                "Set how long runs of all jobs without a rule of their own or of their app are kept";
            GET "/apps/{id}/retention", View App: retention::get_app, getRetentionOfApp, "How long runs of an app's jobs are kept";
            PUT "/apps/{id}/retention", Administer App: retention::put_app, setRetentionOfApp,
                "Set how long runs of an app's jobs are kept";
            GET "/jobs/{id}/retention", View Job: retention::get_job, getRetentionOfJob, "How long runs of a job are kept";
            PUT "/jobs/{id}/retention", Edit Job: retention::put_job, setRetentionOfJob, "Set how long runs of a job are kept";
        }
        "calendars" {
            GET "/calendars", View Shared: calendars::list, listCalendars, "Calendars, by name" => page(text());
            POST "/calendars", Edit Shared: calendars::create, createCalendar, "Create a calendar" => fails([409]);
            GET "/calendars/{name}", View Shared: calendars::get, getCalendar, "A calendar";
            PUT "/calendars/{name}", Edit Shared: calendars::update, updateCalendar,
                "Create a new version of a calendar; every job that uses it is planned anew before the answer" => fails([409]);
            DELETE "/calendars/{name}", Edit Shared: calendars::delete, deleteCalendar,
                "Delete a calendar that no job uses" => fails([409]);
            GET "/calendars/{name}/versions", View Shared: calendars::versions, listCalendarVersions,
                "The versions of a calendar, newest first" => page(id());
        }
        "limits" {
            GET "/limits", View AnyApp: apps::limits::list, listLimits, "The limits that are shared, and those of the apps that the caller sees";
            POST "/limits", Administer AnyApp: apps::limits::create, createLimit,
                "Create a limit of an app, or a shared one; in force on all nodes within two seconds" => fails([409]);
            GET "/limits/{id}", View AnyApp: apps::limits::get, getLimit, "A limit, who has its slots, and who waits for one";
            PUT "/limits/{id}", Administer AnyApp: apps::limits::update, updateLimit,
                "Change a limit; runs at work go on where it is made smaller" => fails([409]);
            DELETE "/limits/{id}", Administer AnyApp: apps::limits::delete, deleteLimit, "Delete a limit that no job names" => fails([409]);
        }
    }
}

fn of_jobs() -> Vec<Endpoint> {
    routes! {
        "jobs" {
            GET "/jobs", View AnyApp: jobs::list, listJobs, "Jobs, newest first unless `sort` names another order" =>
                query("text", text(), "Part of the name, the handler, the description or a tag, or the whole id"),
                query("app", text(), "The app's name"),
                query("owner", text(), "The whole owner"),
                query("tag", text(), "One of its tags"),
                query("enabled", flag(), "true: only enabled jobs; false: only paused jobs"),
                query("kind", words::ScheduleKind::schema(), "The schedule's kind"),
                query("last_result", any_of("RunState"), "The result of the last run that has one, among the newest 20,000 runs: any of \
                    these, repeated, or separated by commas"),
                query("sort", text().enum_values(Some(JobSort::WORDS)), "`next_fire`: soonest first, only jobs that fire; `last_result`: \
                    failures first, only jobs with a result among the newest 20,000 runs. With an order other than `id`, `after` is the \
                    number of jobs before the page"),
                page(id());
            POST "/jobs", Edit AnyApp: jobs::create, createJob, "Create a job" => fails([409]);
            POST "/jobs:batch", Edit AnyApp: jobs::create_batch, createJobs,
                "Create up to 1000 jobs, all or none; the answer has their order" => fails([409]);
            POST "/jobs/bulk", Operate AnyApp: jobs::bulk, changeJobs,
                "Do one thing with many jobs, each if the caller may; the answer names those that were refused" => fails([409]);
            GET "/apps/{id}/jobs/{key}", View App: jobs::get_by_key, getJobByKey, "The job of an app with this key";
            PUT "/apps/{id}/jobs/{key}", Edit App: jobs::put_by_key, putJobByKey,
                "Give the job with this key this definition; it is created if there is none. `app` and `key` may be left out" => fails([409]);
            GET "/jobs/{id}", View Job: jobs::get, getJob, "A job";
            PUT "/jobs/{id}", Edit Job: jobs::update, updateJob,
                "Give a job another definition, in force at once: runs that are not yet due are replaced" => fails([409]);
            DELETE "/jobs/{id}", Edit Job: jobs::delete, deleteJob, "Delete a job; its runs stay, and those not sent yet are cancelled; scheduled runs are deleted. \
                Jobs that have it as a child get a new revision without it. A node of a workflow is not deleted" => fails([409]);
            POST "/jobs/{id}/enable", Operate Job: jobs::enable, enableJob,
                "Start its schedule now; after a pause by the engine it continues where it stopped" => fails([409]);
            POST "/jobs/{id}/disable", Operate Job: jobs::disable, disableJob,
                "Stop its schedule; its runs that were not sent yet are cancelled";
            POST "/jobs/{id}/run", Operate Job: jobs::run, runJob,
                "Run a job, enabled or not: now, or at a time that is ahead; then the answer is a run that is scheduled" => fails([409]);
            POST "/jobs/{id}/run-many", Operate Job: jobs::run_many, runJobManyTimes,
                "Run a job up to 1000 times, each at a time of its own; all of the runs are recorded or none" => fails([409]);
            GET "/jobs/{id}/scheduled", View Job: jobs::scheduled, listScheduledRuns,
                "The runs of a job that are scheduled, the earliest first" =>
                query("from", time(), "Due at or after this"),
                query("to", time(), "Due before this"),
                page(text());
            GET "/jobs/{id}/next", View Job: jobs::next, nextInstants, "The next instants of its schedule, enabled or not" =>
                query("count", number(jobs::NEXT_INSTANTS, jobs::MAX_INSTANTS), "How many"),
                query("from", time(), "Instants after this; now if left out"), fails([409]);
            GET "/jobs/{id}/explain", View Job: jobs::explain, explainInstant,
                "What became of one instant, or why there is no such instant or no run of it"
                => needs("at", time(), "The instant, with any offset");
            GET "/jobs/{id}/loop", View Job: jobs::local_loop, getJobLoop,
                "The loop of a best-effort job: which executor fires it, what its calls came to, and the last ones";
            GET "/jobs/{id}/history", View Job: jobs::history, listRevisions,
                "The definitions that a job has had, newest first, each with what it changed" => page(id());
            POST "/jobs/{id}/history/{revision}/restore", Edit Job: jobs::restore, restoreRevision,
                "Give a job a definition that it has had, as a new revision; whether its schedule fires stays as it is"
                => query("expected", id(), "The revision that was read: another one by now is refused"), fails([409]);
            GET "/jobs/{id}/scripts", Script Job: jobs::scripts, listScripts, "The versions of a job's script that are kept, newest first";
            GET "/jobs/{id}/scripts/{version}", Script Job: jobs::script, getScript, "The source of a version of a job's script";
            GET "/jobs/{id}/days", View Job: retention::days, countDays, "Counts of deleted runs, by day and outcome" =>
                query("from", time(), "From the day of this time; a year ago if left out"),
                query("to", time(), "Up to the day of this time; today if left out");
        }
        "backfills" {
            POST "/jobs/{id}/backfill", Operate Job: jobs::backfills::create, backfillJob,
                "Run a job for the instants of its schedule in a range of the past, each at most once even if ranges overlap; `dry_run` \
                 only lists them";
            GET "/jobs/{id}/backfills", View Job: jobs::backfills::list, listBackfills, "Backfills of a job, newest first" => page(id());
            GET "/backfills/{id}", View Backfill: jobs::backfills::get, getBackfill, "A backfill";
            POST "/backfills/{id}/cancel", Operate Backfill: jobs::backfills::cancel, cancelBackfill,
                "Create no further runs; the existing ones stay";
        }
    }
}

fn of_runs() -> Vec<Endpoint> {
    routes! {
        "runs" {
            GET "/runs", View AnyApp: runs::list, listRuns, "Runs, newest first unless `sort` names another order" =>
                query("job_id", id(), "Of this job"),
                query("app", text(), "Of this app"),
                query("owner", text(), "Of jobs with this owner"),
                query("tag", text(), "Of jobs with this tag"),
                query("text", text(), "Part of the job's name or of the result, or the whole id"),
                query("state", any_of("RunState"), "In any of these states: repeated, or separated by commas"),
                query("cause", Ref::from_schema_name("Cause"), "With this cause"),
                query("from", time(), "`scheduled_at` at or after this"),
                query("to", time(), "`scheduled_at` before this"),
                query("sort", text().enum_values(Some(RunSort::WORDS)), "`time`: by `scheduled_at`, the latest first; `duration`: the \
                    longest first; `lateness`: the most late first. They sort the newest 50,000 runs, and `after` is the number of runs \
                    before the page"),
                page(id());
            POST "/runs/bulk", Operate AnyApp: runs::bulk, changeRuns,
                "Do one thing with many runs, each if the caller may; the answer names those that were refused" => fails([409]);
            GET "/runs/{id}", View Run: runs::get, getRun, "A run, or one that is scheduled";
            PATCH "/runs/{id}", Operate Run: runs::move_to, moveRun, "Give a run that is scheduled another time" => fails([409]);
            POST "/runs/{id}/kill", Operate Run: runs::kill, killRun,
                "Ask for the end of a run; one that is scheduled is cancelled" => fails([502]);
            POST "/runs/{id}/resolve", Operate Run: runs::resolve, resolveRun,
                "Report the outcome of a run that is `unknown` or `lost`: it counts as evidence, starts the children of a success, and \
                 cancels a retry that was not sent" => fails([409]);
            GET "/runs/{id}/workflow", View Run: runs::get_workflow, getWorkflow, "The progress of a workflow: what became of each node, and why";
            POST "/runs/{id}/workflow", Operate Run: runs::decide, decideWorkflow,
                "Decide something about a workflow that is on its way, or about one of its nodes" => fails([409]);
            POST "/runs/{id}/rerun", Operate Run: runs::rerun, rerunWorkflow,
                "Repeat an ended run of a workflow, from what failed, from a node, or as a whole: the next attempt of the same fire" => fails([409]);
            GET "/runs/{id}/map", View Run: runs::map, getMap, "How far the items are that a run has handed in";
            GET "/runs/{id}/items", View Run: runs::items, listItems, "The items that a run has handed in, by their numbers" =>
                query("state", Ref::from_schema_name("ItemState"), "In this state"),
                page(integer(0, None));
            GET "/runs/{id}/log", View Run: runs::log, readLog, "Lines of a run's log, from its executor" =>
                query("from", integer(1, None).default(Some(1.into())), "The first line wanted"), fails([502]);
        }
        "audit" {
            GET "/audit", Administer AnyApp: records::audit, listAudit,
                "What was done and refused, newest first; administrators of an app see what concerns the app"
                => audit_filters(), page(text());
            GET "/audit/export", Administer AnyApp: records::export_audit, exportAudit, "Up to 100000 entries of the audit, newest first, as JSON \
                lines or CSV; `after` with the last `key` goes on" =>
                audit_filters(),
                query("format", text(), "`jsonl`, the default, or `csv`"),
                query("bom", text(), "`true`: a CSV file begins with a byte order mark, which Excel needs"),
                query("after", text(), "Behind the entry with this `key`"),
                responds(200, "Done", &[("application/x-ndjson", Content::new(Some(object()))), ("text/csv", Content::new(Some(text())))]);
        }
    }
}

fn of_alerts() -> Vec<Endpoint> {
    routes! {
        "alerts" {
            GET "/alerts", View AnyApp: alerts::list, listAlerts, "Alerts, those with the latest event first" =>
                query("open", flag(), "true: only alerts that are not resolved; false: only the others"),
                query("state", text(), "`open`, `acknowledged` or `resolved`"),
                query("app", text(), "Of this app, by its name"),
                query("kind", text(), "With an event of this kind, such as `failed`"),
                query("rule_id", id(), "Of this rule"),
                page(text());
            POST "/alerts/bulk", Operate AnyApp: alerts::bulk, handleAlerts, "Acknowledge or silence several alerts; each by itself";
            GET "/alerts/{id}", View Alert: alerts::get, getAlert, "An alert";
            POST "/alerts/{id}/acknowledge", Operate Alert: alerts::acknowledge, acknowledgeAlert,
                "Take an alert over: no reminder and no escalation until it is over" => fails([409]);
            GET "/alert-deliveries", View AnyApp: alerts::deliveries, listAlertDeliveries,
                "Messages with the answers of their channels, newest first" =>
                query("alert_id", id(), "About this alert"), query("channel_id", id(), "To this channel"), page(id());
            GET "/alert-rules", View AnyApp: alerts::rules::list, listAlertRules, "Alert rules, by name";
            POST "/alert-rules", Edit AnyApp: alerts::rules::create, createAlertRule,
                "Create an alert rule: of an app, or as an administrator for all apps" => fails([409]);
            GET "/alert-rules/{id}", View AlertRule: alerts::rules::get, getAlertRule, "An alert rule";
            PUT "/alert-rules/{id}", Edit AlertRule: alerts::rules::update, updateAlertRule, "Change an alert rule" => fails([409]);
            DELETE "/alert-rules/{id}", Edit AlertRule: alerts::rules::delete, deleteAlertRule,
                "Delete an alert rule; its open alerts end, and incidents at PagerDuty with them";
            GET "/alert-channels", View Shared: alerts::channels::list, listAlertChannels,
                "Channels that your apps may use, by name, without their secrets";
            POST "/alert-channels", Administer Installation: alerts::channels::create, createAlertChannel,
                "Create a channel" => fails([409]);
            GET "/alert-channels/{id}", View Shared: alerts::channels::get, getAlertChannel, "A channel, without its secrets";
            PUT "/alert-channels/{id}", Administer Installation: alerts::channels::update, updateAlertChannel,
                "Change a channel; secrets that are left out stay as they are" => fails([409]);
            DELETE "/alert-channels/{id}", Administer Installation: alerts::channels::delete, deleteAlertChannel,
                "Delete a channel that no rule uses" => fails([409]);
            POST "/alert-channels/{id}/test", Administer Installation: alerts::channels::test, testAlertChannel,
                "Send a test message; its delivery shows the answer";
        }
    }
}

fn others() -> Vec<Endpoint> {
    routes! {
        "misfires" {
            GET "/misfires", View AnyApp: records::misfires, listMisfires, "Skipped ranges, newest first" =>
                query("job_id", id(), "Of this job"),
                query("from", time(), "Ranges with a part at or after this"),
                query("to", time(), "Ranges with a part before this"),
                page(text());
        }
        "alarms" {
            GET "/alarms", View AnyApp: records::alarms, listAlarms, "Alarms, newest first" =>
                query("kind", any_of("AlarmKind"), "Of any of these kinds: repeated, or separated by commas"),
                query("job_id", id(), "About this job"),
                query("run_id", id(), "About this run"),
                query("open", flag(), "true: only alarms that need an operator; false: only the others"),
                query("escalated", flag(), "true: only alarms of level 1; false: only the others"),
                query("from", time(), "`created_at` at or after this"),
                query("to", time(), "`created_at` before this"),
                page(text());
        }
        "ahead" {
            POST "/preview", View AnyApp: jobs::preview, preview, "What a definition would do that is not saved" => fails([404]);
            GET "/forecast", View AnyApp: forecast::forecast, forecast, "What all enabled jobs together will do" =>
                query("hours", number(24, forecast::MAX_HOURS), "How far to look");
        }
        "reports" {
            GET "/reports", View AnyApp: reports::report, report, "Runs, success rate, durations and lateness by day, app or job" =>
                query("days", number(reports::DAYS, reports::MAX_DAYS), "Days up to and including today, in the zone of the reports"),
                query("group", text(), "`day`, the default, `app` or `job`"),
                query("app", text(), "Of this app"),
                query("job_id", id(), "Of this job"),
                query("sort", text(), "`name` (days: the latest first), `runs`, `failed`, `success` (the lowest first), `duration` or \
                    `lateness` (p95); if left out, `name` for days and `runs` for apps and jobs"),
                query("limit", number(reports::LIMIT, reports::MAX_LIMIT), "Lines at most");
        }
        "document" {
            GET "/openapi.json", Open: openapi::serve, getDocument, "This document; needs no token"
                => responds(200, "OpenAPI 3.1", &[("application/json", Content::new(Some(object())))]);
        }
    }
}

impl Endpoint {
    fn audit_filters(self) -> Self {
        self.query("actor", text(), "The whole name of the actor")
            .query("action", any_of("AuditAction"), "Any of these: repeated, or separated by commas")
            .query("object", words::AuditObjectKind::schema(), "About an object of this kind")
            .query("object_id", id(), "About the object with this number")
            .query("app", text(), "About an object of this app")
            .query("source", text(), "From this address")
            .query("from", time(), "`at` at or after this")
            .query("to", time(), "`at` before this")
    }
}

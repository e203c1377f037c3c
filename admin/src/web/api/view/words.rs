//! Schemas of the closed sets of words. The sets themselves belong to crates that know nothing of the API.

use carillon_inspect::explain::VERDICTS;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

macro_rules! words {
    ($($name:ident = $words:expr, $description:literal;)+) => { $(
        pub struct $name;

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                let words: Vec<&'static str> = $words;
                let schema = ObjectBuilder::new().schema_type(Type::String).description(Some($description));
                schema.enum_values(Some(words)).into()
            }
        }

        impl ToSchema for $name {}
    )+ };
}

/// All words of a set of the scheduler.
macro_rules! all {
    ($set:ident) => {
        carillon_scheduler::$set::ALL.iter().map(|word| word.as_str()).collect()
    };
}

words! {
    AlarmKind = all!(AlarmKind), "What an alarm is about";
    AlertKind = all!(AlertKind), "What an alert rule is about: the alarms, and conditions that are looked for while a rule asks for them";
    AuditAction = all!(AuditAction), "What was done, or refused";
    AuditObjectKind = all!(AuditObjectKind), "What an entry of the audit is about; `path`: a refused request that names no object";
    BlockStrategy = all!(BlockStrategy), "What the executor does while an earlier run of the job is running";
    CatchUp = all!(CatchUp), "Which instants run that are late by at most the misfire threshold";
    Cause = all!(Cause), "Why a fire exists";
    ChannelKind = carillon_alerts::channel::ChannelKind::ALL.iter().map(|word| word.as_str()).collect(), "What messages of alerts are sent with";
    ClockChanges = all!(ClockChanges), "What happens when the clocks change";
    DeclarationSetting = carillon_store::DeclarationSetting::ALL.iter().map(|word| word.as_str()).collect(), "What becomes of declarations. `report`: differences are shown, and nothing is written. `apply`: jobs are made and changed as the code says. `off`: executors are not asked for them";
    DeclaredState = carillon_store::DeclaredState::ALL.iter().map(|word| word.as_str()).collect(), "What has become of a declared job. `pending`: it would be made or changed under the setting `apply`. `overridden` and `drift`: members were changed here. `twin`: another job has its key, or its name and handler. `of_files`: a set of files defines it. `deleted`: it was deleted here. `orphan`: no live build declares it. `failed`: what the code says was refused";
    DeclarePolicy = vec!["warn", "adopt", "enforce"], "What the program asks for where the job was changed here. `warn`: nothing is written. `adopt`: what was changed here stays. `enforce`: the code is written";
    Durability = all!(Durability), "How much of a job's fires is recorded. `durable`: each fire is a run with a record. `best_effort`: one executor fires the job by itself, and its fires are counted and not recorded singly";
    Excluded = all!(Excluded), "What becomes of an instant on an excluded day";
    HttpMethod = all!(HttpMethod), "The method of a request";
    LoopState = carillon_engine::loops::LoopState::ALL.iter().map(|state| state.as_str()).collect(), "Where a loop stands. `running`: an executor has it. `stopping`: it was taken from an executor that may still fire it. `waiting`: no executor has it, and one is to have it. `off`: the job is paused";
    MisfirePolicy = all!(MisfirePolicy), "What is done with instants that are later than the misfire threshold";
    NodeState = carillon_scheduler::workflow::NodeState::ALL.iter().map(|word| word.as_str()).collect(), "What became of a node. `held`: it would start, and a person holds the workflow. `upstream_failed`: it was not run, as a node before it failed";
    ItemState = carillon_scheduler::run::map::ItemState::ALL.iter().map(|word| word.as_str()).collect(), "What became of an item. `retrying`: it has failed, and its delivery is tried again or goes on";
    Overlap = all!(Overlap), "What the server does with a run while another fire of the job is open";
    RouteStrategy = all!(RouteStrategy), "Which executor gets a run";
    RunState = all!(RunState), "`unknown` and `lost`: the run was sent, but its outcome is not known";
    ScheduleKind = carillon_scheduler::KindDraft::WORDS.to_vec(), "The kinds of schedules";
    ScriptType = all!(ScriptKind), "The language of a script";
    SkipReason = all!(SkipReason), "Why instants were skipped: too late, or late and only the latest was wanted";
    Verdict = VERDICTS.to_vec(), "`recorded`: the instant has a run. `skipped`: it lies in a range of skipped instants. `no_instant`, `excluded` (by a calendar), `invalid` (outside the validity), `before_job`, `fixed_delay`: the job has no such instant. `local`: an executor fired it in a loop, and it is not recorded singly. All others: the instant exists, and the word is the reason why it has no record";
    Weekday = all!(Weekday), "A day of the week";
}

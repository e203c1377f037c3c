//! The methods of the store by subject: `store.jobs()`, `store.runs()` and so on. A view borrows the store and costs nothing.

use std::ops::Deref;

use crate::store::Store;

macro_rules! views {
    ($($(#[doc = $doc:literal])+ $name:ident -> $view:ident;)+) => {
        $(
            $(#[doc = $doc])+
            #[derive(Clone, Copy)]
            pub struct $view<'a>(&'a Store);

            /// Statements and transactions are the store's own.
            impl Deref for $view<'_> {
                type Target = Store;

                fn deref(&self) -> &Store {
                    self.0
                }
            }
        )+

        impl Store {
            $(
                $(#[doc = $doc])+
                pub fn $name(&self) -> $view<'_> {
                    $view(self)
                }
            )+
        }
    };
}

views! {
    /// Alarms, which the engine raises.
    alarms -> AlarmStore;
    /// Alerts with their rules, channels and deliveries.
    alerts -> AlertStore;
    /// Apps with their executors, tokens, pauses and maintenance windows.
    apps -> AppStore;
    /// What was changed, by whom.
    audit -> AuditStore;
    /// Runs of past instants that a person asks for.
    backfills -> BackfillStore;
    /// Calendars and their versions, and the time zone data that plans follow.
    calendars -> CalendarStore;
    /// Jobs that programs declare in their code.
    declarations -> DeclarationStore;
    /// Runs that are asked for and not due yet.
    delayed -> DelayedStore;
    /// What was brought here from other schedulers.
    imports -> ImportStore;
    /// Jobs, their definitions, labels, parents and pauses.
    jobs -> JobStore;
    /// Leases of shards, and the nodes that hold them.
    leases -> LeaseStore;
    /// Limits of runs that are at work together, and their slots.
    limits -> LimitStore;
    /// Leases of the loops that executors fire by themselves.
    loops -> LoopStore;
    /// Items of runs, their deliveries and outcomes.
    maps -> MapStore;
    /// Accounts, sessions, tokens and sign-ins.
    people -> PeopleStore;
    /// Counts of runs by hour and day.
    reports -> ReportStore;
    /// How long ended runs are kept, and their deletion.
    retention -> RetentionStore;
    /// Runs from claim to outcome.
    runs -> RunStore;
    /// Graphs of jobs, and the progress of the runs of workflows.
    workflows -> WorkflowStore;
}

//! Where the entry points are found.

use crate::engine::Engine;
use crate::manage::apps::Apps;
use crate::manage::backfills::Backfills;
use crate::manage::calendars::Calendars;
use crate::manage::executor_tokens::AppTokens;
use crate::manage::executors::Executors;
use crate::manage::jobs::Jobs;
use crate::manage::maintenance_windows::MaintenanceWindows;
use crate::manage::pauses::Pauses;
use crate::manage::retention::Retentions;
use crate::manage::runs::Runs;

impl Engine {
    pub fn apps(&self) -> Apps<'_> {
        Apps { engine: self }
    }

    pub fn app_tokens(&self) -> AppTokens<'_> {
        AppTokens { engine: self }
    }

    pub fn backfills(&self) -> Backfills<'_> {
        Backfills { engine: self }
    }

    pub fn calendars(&self) -> Calendars<'_> {
        Calendars { engine: self }
    }

    pub fn executors(&self) -> Executors<'_> {
        Executors { engine: self }
    }

    pub fn jobs(&self) -> Jobs<'_> {
        Jobs { engine: self }
    }

    pub fn maintenance_windows(&self) -> MaintenanceWindows<'_> {
        MaintenanceWindows { engine: self }
    }

    pub fn pauses(&self) -> Pauses<'_> {
        Pauses { engine: self }
    }

    pub fn retention(&self) -> Retentions<'_> {
        Retentions { engine: self }
    }

    pub fn runs(&self) -> Runs<'_> {
        Runs { engine: self }
    }
}

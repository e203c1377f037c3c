//! The paths of pauses and maintenance windows.

use actix_web::http::Method;
use carillon_accounts::policy::Action::{Operate, View};

use super::{app_pauses, maintenance_windows};
use crate::web::access::Access::Policy;
use crate::web::access::Target::AnyApp;
use crate::web::api::endpoint::Endpoint;
use crate::web::api::view::{MaintenanceWindowView, PauseView};

const GET: Method = Method::GET;
const POST: Method = Method::POST;
const DELETE: Method = Method::DELETE;

pub fn routes() -> Vec<Endpoint> {
    vec![
        Endpoint::json(GET, "/pauses", Policy(View, AnyApp), app_pauses::list).describe(
            "pauses",
            "listPauses",
            "Pauses in force and ahead, by their begin",
        ),
        Endpoint::new(POST, "/pauses", Policy(Operate, AnyApp), app_pauses::create)
            .describe(
                "pauses",
                "createPause",
                "Pause an app, or all apps: no fire of a schedule is sent meanwhile, retries, child jobs and backfills wait; \
                 in force on all nodes within two seconds",
            )
            .body::<app_pauses::NewPause>()
            .answers::<PauseView>(201),
        Endpoint::new(DELETE, "/pauses/{id}", Policy(Operate, AnyApp), app_pauses::end)
            .describe("pauses", "endPause", "End a pause now; one that is ahead is given up")
            .answers_nothing(),
        Endpoint::json(GET, "/maintenance-windows", Policy(View, AnyApp), maintenance_windows::list).describe(
            "pauses",
            "listMaintenanceWindows",
            "Recurring pauses, oldest first, with their next times",
        ),
        Endpoint::new(POST, "/maintenance-windows", Policy(Operate, AnyApp), maintenance_windows::create)
            .describe(
                "pauses",
                "createMaintenanceWindow",
                "Pause an app, or all apps, from each instant of a cron expression for the same time",
            )
            .body::<maintenance_windows::NewMaintenanceWindow>()
            .answers::<MaintenanceWindowView>(201),
        Endpoint::new(DELETE, "/maintenance-windows/{id}", Policy(Operate, AnyApp), maintenance_windows::delete)
            .describe("pauses", "deleteMaintenanceWindow", "Delete a maintenance window; if it is in force, it ends")
            .answers_nothing(),
        Endpoint::new(POST, "/maintenance-windows/{id}/end", Policy(Operate, AnyApp), maintenance_windows::end)
            .describe("pauses", "endMaintenance", "End the maintenance that is in force; the next one begins at its time")
            .answers_nothing(),
    ]
}

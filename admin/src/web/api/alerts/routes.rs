//! The paths of alerts.

use actix_web::http::Method;
use carillon_accounts::policy::Action::{Administer, Edit, Operate, View};

use crate::web::access::Access::Policy;
use crate::web::access::Target::{Alert, AlertRule, AnyApp, Installation, Shared};
use crate::web::api::alerts::view::{ChannelView, RuleView};
use crate::web::api::alerts::{channels, list, rules};
use crate::web::api::endpoint::Endpoint;
use crate::web::api::extract::parameter::{flag, id, text};

const GET: Method = Method::GET;
const POST: Method = Method::POST;
const PUT: Method = Method::PUT;
const DELETE: Method = Method::DELETE;

pub fn routes() -> Vec<Endpoint> {
    [of_alerts(), of_rules(), of_channels()].into_iter().flatten().collect()
}

fn of_alerts() -> Vec<Endpoint> {
    vec![
        Endpoint::json(GET, "/alerts", Policy(View, AnyApp), list::list)
            .describe("alerts", "listAlerts", "Alerts, those with the latest event first")
            .query("open", "true: only alerts that are not resolved; false: only the others", flag())
            .query("state", "`open`, `acknowledged` or `resolved`", text())
            .query("app", "Of this app, by its name", text())
            .query("kind", "With an event of this kind, such as `failed`", text())
            .query("rule_id", "Of this rule", id())
            .page(text()),
        Endpoint::json(POST, "/alerts/bulk", Policy(Operate, AnyApp), list::bulk)
            .describe("alerts", "handleAlerts", "Acknowledge or silence several alerts; each by itself")
            .body::<list::AlertBulk>(),
        Endpoint::json(GET, "/alerts/{id}", Policy(View, Alert), list::get).describe("alerts", "getAlert", "An alert"),
        Endpoint::json(POST, "/alerts/{id}/acknowledge", Policy(Operate, Alert), list::acknowledge)
            .describe(
                "alerts",
                "acknowledgeAlert",
                "Take an alert over: no reminder and no escalation until it is over",
            )
            .body::<list::Acknowledgement>()
            .fails([409]),
        Endpoint::json(GET, "/alert-deliveries", Policy(View, AnyApp), list::deliveries)
            .describe("alerts", "listAlertDeliveries", "Messages with the answers of their channels, newest first")
            .query("alert_id", "About this alert", id())
            .query("channel_id", "To this channel", id())
            .page(id()),
    ]
}

fn of_rules() -> Vec<Endpoint> {
    vec![
        Endpoint::json(GET, "/alert-rules", Policy(View, AnyApp), rules::list).describe(
            "alerts",
            "listAlertRules",
            "Alert rules, by name",
        ),
        Endpoint::new(POST, "/alert-rules", Policy(Edit, AnyApp), rules::create)
            .describe(
                "alerts",
                "createAlertRule",
                "Create an alert rule: of an app, or as an administrator for all apps",
            )
            .body::<rules::RuleRequest>()
            .answers::<RuleView>(201)
            .fails([409]),
        Endpoint::json(GET, "/alert-rules/{id}", Policy(View, AlertRule), rules::get).describe(
            "alerts",
            "getAlertRule",
            "An alert rule",
        ),
        Endpoint::json(PUT, "/alert-rules/{id}", Policy(Edit, AlertRule), rules::update)
            .describe("alerts", "updateAlertRule", "Change an alert rule")
            .body::<rules::RuleRequest>()
            .fails([409]),
        Endpoint::new(DELETE, "/alert-rules/{id}", Policy(Edit, AlertRule), rules::delete)
            .describe(
                "alerts",
                "deleteAlertRule",
                "Delete an alert rule; its open alerts end, and incidents at PagerDuty with them",
            )
            .answers_nothing(),
    ]
}

fn of_channels() -> Vec<Endpoint> {
    vec![
        Endpoint::json(GET, "/alert-channels", Policy(View, Shared), channels::list).describe(
            "alerts",
            "listAlertChannels",
            "Channels that your apps may use, by name, without their secrets",
        ),
        Endpoint::new(POST, "/alert-channels", Policy(Administer, Installation), channels::create)
            .describe("alerts", "createAlertChannel", "Create a channel")
            .body::<channels::ChannelRequest>()
            .answers::<ChannelView>(201)
            .fails([409]),
        Endpoint::json(GET, "/alert-channels/{id}", Policy(View, Shared), channels::get).describe(
            "alerts",
            "getAlertChannel",
            "A channel, without its secrets",
        ),
        Endpoint::json(PUT, "/alert-channels/{id}", Policy(Administer, Installation), channels::update)
            .describe("alerts", "updateAlertChannel", "Change a channel; secrets that are left out stay as they are")
            .body::<channels::ChannelRequest>()
            .fails([409]),
        Endpoint::new(DELETE, "/alert-channels/{id}", Policy(Administer, Installation), channels::delete)
            .describe("alerts", "deleteAlertChannel", "Delete a channel that no rule uses")
            .answers_nothing()
            .fails([409]),
        Endpoint::json(POST, "/alert-channels/{id}/test", Policy(Administer, Installation), channels::test).describe(
            "alerts",
            "testAlertChannel",
            "Send a test message; its delivery shows the answer",
        ),
    ]
}

//! Alerts, rules, channels, and what was sent.

use carillon_alerts::channel::Settings;
use carillon_alerts::manage::{self as alerts, RuleDraft};
use carillon_scheduler::AlertKind;
use carillon_store::Actor;
use carillon_store::alert::alerts::Alert;
use carillon_store::alert::deliveries::Delivery;
use carillon_store::alert::rules::AlertRule;
use serde_json::Value;
use utoipa::ToSchema;

use crate::web::api::view::time::Time;
use crate::web::api::view::{view, words};

view! {
    /// What rules have made of alarms: one for each group, until it is over
    pub struct AlertView as Alert from alert: Alert {
        /// Its number
        #[schema(minimum = 1)]
        id: i64,
        /// The rule; it may be deleted by now
        #[schema(minimum = 1)]
        rule_id: i64,
        /// The rule's name
        rule: Option<String>,
        /// The app, if the alert is about one
        app: Option<String>,
        /// `open`, `acknowledged` or `resolved`
        state: &'static str = alert.state.as_str(),
        /// Of the latest event
        #[schema(value_type = words::AlertKind)]
        kind: AlertKind,
        /// Of the latest event, for people
        message: String,
        /// How many events it counts
        #[schema(minimum = 0)]
        events: i64,
        /// When it was opened
        opened_at: Time,
        /// When the latest event was
        last_at: Time,
        /// When it went to the second list of channels
        escalated_at: Option<Time>,
        /// When a person acknowledged the alert
        acknowledged_at: Option<Time>,
        /// Who did
        acknowledged_by: Option<String>,
        /// And what that person wrote
        note: Option<String>,
        /// A person has silenced the alert until then
        silent_until: Option<Time>,
        /// When it was over
        resolved_at: Option<Time>,
    }
}

view! {
    /// A message to a channel
    pub struct DeliveryView as AlertDelivery from delivery: Delivery, by: &Actor {
        /// Its number
        #[schema(minimum = 1)]
        id: i64,
        /// The alert; null: it is a test of the channel, or stands for messages that were left out
        #[schema(minimum = 1)]
        alert_id: Option<i64>,
        /// The channel; it may be deleted by now
        #[schema(minimum = 1)]
        channel_id: i64,
        /// The channel's name
        channel: Option<String>,
        /// `opened`, `update`, `reminder`, `escalated`, `resolved`, `more` or `test`
        kind: String,
        /// What it says
        #[schema(value_type = Object)]
        message: Value = serde_json::from_str(&delivery.message).unwrap_or_default(),
        /// `pending`, `sent`, `failed`: given up after a day, or `left_out`: the channel had its messages of the hour
        state: &'static str = delivery.state().as_str(),
        /// How often it was tried
        #[schema(minimum = 0)]
        attempts: i32,
        /// When it was written
        created_at: Time,
        /// When it is tried next
        next_at: Option<Time>,
        /// When it was sent or given up
        finished_at: Option<Time>,
        /// What the channel has answered last: all of it for administrators of all apps, the status and the outcome for others
        answer: Option<String> = alerts::shown_answer(&delivery, by),
    }
}

/// Which alarms become messages, and on which channels
#[derive(ToSchema)]
#[schema(as = AlertRuleMembers)]
#[expect(dead_code, reason = "describes another type")]
pub struct RuleMembers {
    /// For people
    #[schema(min_length = 1, max_length = 64)]
    name: String,
    /// The name of an app; null: the rule is for all apps
    app: Option<String>,
    /// false: it makes nothing of events
    #[schema(required = false)]
    enabled: bool,
    /// At least one
    #[schema(value_type = Vec<words::AlertKind>)]
    kinds: (),
    /// Ids of jobs; empty: all jobs
    #[schema(required = false, max_items = 100)]
    jobs: Vec<i64>,
    /// How many failures in a row of a job make an alert
    #[schema(required = false, minimum = 1, maximum = 100)]
    threshold: i64,
    /// A run that takes longer is an event of the kind `long_running`
    #[schema(minimum = 1, maximum = 2_592_000)]
    running_seconds: Option<i64>,
    /// So is one that takes longer than this many percent of what 95 of 100 recent runs of its job took at most
    #[schema(minimum = 110, maximum = 10_000)]
    running_p95_percent: Option<i64>,
    /// `rule`, `app` or `job`: what one message is about
    #[schema(required = false)]
    group_by: String,
    /// Further events within this time become one message; later messages are further apart
    #[schema(required = false, minimum = 0, maximum = 86_400)]
    group_seconds: i64,
    /// Ids of channels
    #[schema(min_items = 1, max_items = 20)]
    channels: Vec<i64>,
    /// `channels` and `after_seconds`: where it goes when it is not acknowledged by then
    #[schema(value_type = Option<Object>)]
    escalation: (),
    /// A reminder this often while it is open and not acknowledged
    #[schema(minimum = 60, maximum = 604_800)]
    repeat_seconds: Option<i64>,
    /// Whether its end makes a message
    #[schema(required = false)]
    recovered: bool,
    /// Windows without messages: `weekdays`, `from` and `to` as `HH:MM`, `zone`
    #[schema(required = false, value_type = Vec<Object>, max_items = 20)]
    silences: (),
}

view! {
    /// A rule of alerts
    pub struct RuleView as AlertRule from rule: AlertRule, app: Option<String> {
        /// Its number
        #[schema(minimum = 1)]
        id: i64,
        /// Raised by each change
        #[schema(minimum = 1)]
        revision: i64,
        /// When it was changed last
        updated_at: Time,
        #[serde(flatten)]
        #[schema(value_type = RuleMembers)]
        draft: RuleDraft = RuleDraft { name: rule.name, app, enabled: rule.enabled, definition: rule.definition },
    }
}

view! {
    /// Where messages go
    pub struct ChannelMembers as AlertChannelMembers from channel: alerts::ChannelView {
        /// For people
        #[schema(min_length = 1, max_length = 64)]
        name: String,
        /// It does not change
        #[schema(value_type = words::ChannelKind)]
        kind: &'static str = channel.kind.as_str(),
        /// What the kind needs: `host`, `port`, `tls`, `ca`, `user`, `from`, `to`; `url`, `template`
        #[schema(required = false, value_type = Object)]
        settings: Settings,
        /// Whether all apps may use it, and rules for all apps
        #[schema(required = false)]
        all_apps: bool,
        /// The names of the apps that may use it; none, unless they are named
        #[schema(required = false)]
        apps: Vec<String>,
        /// `en` or `zh`: the language of its messages
        #[schema(required = false)]
        language: String,
        /// The time zone of its messages, such as `Asia/Shanghai`
        #[schema(required = false)]
        zone: String,
        /// Messages that it gets in an hour; one more says how many were left out
        #[schema(required = false, minimum = 1, maximum = 10_000)]
        per_hour: i64,
    }
}

view! {
    /// A channel for messages of alerts, without its secrets
    pub struct ChannelView as AlertChannel from channel: alerts::ChannelView {
        /// Its number
        #[schema(minimum = 1)]
        id: i64 = channel.id,
        /// Raised by each change
        #[schema(minimum = 1)]
        revision: i64 = channel.revision,
        /// When it was changed last
        updated_at: Time = Time(channel.updated_at),
        /// The names of the secrets that are set; null: this node has no key that decrypts them
        secrets: Option<Vec<String>> = channel.secrets.clone(),
        #[serde(flatten)]
        members: ChannelMembers = channel.into(),
    }
}

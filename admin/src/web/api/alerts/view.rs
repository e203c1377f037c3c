//! Alerts, rules, channels, and what was sent.

use carillon_alerts::manage as alerts;
use carillon_scheduler::AlertKind;
use carillon_store::Actor;
use carillon_store::alert::alerts::Alert;
use carillon_store::alert::deliveries::Delivery;
use carillon_store::alert::rules::{AlertRule, GroupBy};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::web::api::view::time::Time;
use crate::web::api::view::words;

/// What rules have made of alarms: one for each group, until it is over
#[derive(Serialize, ToSchema)]
#[schema(as = Alert)]
pub struct AlertView {
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
    state: &'static str,
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

impl From<Alert> for AlertView {
    fn from(alert: Alert) -> Self {
        Self {
            id: alert.id,
            rule_id: alert.rule_id,
            rule: alert.rule,
            app: alert.app,
            state: alert.state.as_str(),
            kind: alert.kind,
            message: alert.message,
            events: alert.events,
            opened_at: Time(alert.opened_at),
            last_at: Time(alert.last_at),
            escalated_at: alert.escalated_at.map(Time),
            acknowledged_at: alert.acknowledged_at.map(Time),
            acknowledged_by: alert.acknowledged_by,
            note: alert.note,
            silent_until: alert.silent_until.map(Time),
            resolved_at: alert.resolved_at.map(Time),
        }
    }
}

/// A message to a channel
#[derive(Serialize, ToSchema)]
#[schema(as = AlertDelivery)]
pub struct DeliveryView {
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
    message: Value,
    /// `pending`, `sent`, `failed`: given up after a day, or `left_out`: the channel had its messages of the hour
    state: &'static str,
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
    answer: Option<String>,
}

impl DeliveryView {
    /// As `by` may see it.
    pub fn new(delivery: Delivery, by: &Actor) -> Self {
        let answer = alerts::shown_answer(&delivery, by);
        Self {
            id: delivery.id,
            alert_id: delivery.alert_id,
            channel_id: delivery.channel_id,
            state: delivery.state().as_str(),
            channel: delivery.channel,
            kind: delivery.kind,
            message: serde_json::from_str(&delivery.message).unwrap_or_default(),
            attempts: delivery.attempts,
            created_at: Time(delivery.created_at),
            next_at: delivery.next_at.map(Time),
            finished_at: delivery.finished_at.map(Time),
            answer,
        }
    }
}

/// Which alarms become messages, and on which channels
#[derive(Serialize, ToSchema)]
#[schema(as = AlertRuleMembers)]
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
    kinds: Vec<AlertKind>,
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
    escalation: Value,
    /// A reminder this often while it is open and not acknowledged
    #[schema(minimum = 60, maximum = 604_800)]
    repeat_seconds: Option<i64>,
    /// Whether its end makes a message
    #[schema(required = false)]
    recovered: bool,
    /// Windows without messages: `weekdays`, `from` and `to` as `HH:MM`, `zone`
    #[schema(required = false, value_type = Vec<Object>, max_items = 20)]
    silences: Value,
}

/// A rule of alerts
#[derive(Serialize, ToSchema)]
#[schema(as = AlertRule)]
pub struct RuleView {
    /// Its number
    #[schema(minimum = 1)]
    id: i64,
    /// Raised by each change
    #[schema(minimum = 1)]
    revision: i64,
    /// When it was changed last
    updated_at: Time,
    #[serde(flatten)]
    members: RuleMembers,
}

impl RuleView {
    /// `app`: the name of its app.
    pub fn new(rule: AlertRule, app: Option<String>) -> Self {
        let it = rule.definition;
        let group_by = match it.group_by {
            GroupBy::Rule => "rule",
            GroupBy::App => "app",
            GroupBy::Job => "job",
        };
        let members = RuleMembers {
            name: rule.name,
            app,
            enabled: rule.enabled,
            kinds: it.kinds,
            jobs: it.jobs,
            threshold: it.threshold,
            running_seconds: it.running_seconds,
            running_p95_percent: it.running_p95_percent,
            group_by: group_by.to_owned(),
            group_seconds: it.group_seconds,
            channels: it.channels,
            escalation: serde_json::to_value(&it.escalation).unwrap_or_default(),
            repeat_seconds: it.repeat_seconds,
            recovered: it.recovered,
            silences: serde_json::to_value(&it.silences).unwrap_or_default(),
        };
        Self { id: rule.id, revision: rule.revision, updated_at: Time(rule.updated_at), members }
    }
}

/// Where messages go
#[derive(Serialize, ToSchema)]
#[schema(as = AlertChannelMembers)]
pub struct ChannelMembers {
    /// For people
    #[schema(min_length = 1, max_length = 64)]
    name: String,
    /// `email`, `webhook`, `slack`, `teams`, `dingtalk`, `feishu`, `wecom`, `pagerduty` or `file`; it does not change
    kind: String,
    /// What the kind needs: `host`, `port`, `tls`, `ca`, `user`, `from`, `to`; `url`, `template`
    #[schema(required = false, value_type = Object)]
    settings: Value,
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

/// A channel for messages of alerts, without its secrets
#[derive(Serialize, ToSchema)]
#[schema(as = AlertChannel)]
pub struct ChannelView {
    /// Its number
    #[schema(minimum = 1)]
    id: i64,
    /// Raised by each change
    #[schema(minimum = 1)]
    revision: i64,
    /// When it was changed last
    updated_at: Time,
    /// The names of the secrets that are set; null: this node has no key that decrypts them
    secrets: Option<Vec<String>>,
    #[serde(flatten)]
    members: ChannelMembers,
}

impl From<alerts::ChannelView> for ChannelView {
    fn from(channel: alerts::ChannelView) -> Self {
        let settings = serde_json::to_value(&channel.settings).unwrap_or_default();
        Self {
            id: channel.id,
            revision: channel.revision,
            updated_at: Time(channel.updated_at),
            secrets: channel.secrets,
            members: ChannelMembers {
                name: channel.name,
                kind: channel.kind,
                settings,
                all_apps: channel.all_apps,
                apps: channel.apps,
                language: channel.language,
                zone: channel.zone,
                per_hour: channel.per_hour,
            },
        }
    }
}

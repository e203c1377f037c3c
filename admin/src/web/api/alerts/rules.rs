//! `/alert-rules`

use actix_web::web::Json;
use carillon_alerts::manage::RuleDraft;
use carillon_store::alert::rules::AlertRule;

use crate::web::api::alerts::channels::{READ_ONLY, check_members};
use crate::web::api::alerts::view::{RuleMembers, RuleView};
use crate::web::api::answer::{Answer, Created, Error, NoContent};
use crate::web::api::extract::{Body, Caller, Id, RequestBody, edited, from_json};
use crate::web::api::view::List;
use crate::web::state::{Shared, State};

const MEMBERS: &str = "name, app, enabled, kinds, jobs, threshold, running_seconds, running_p95_percent, group_by, \
    group_seconds, channels, escalation, repeat_seconds, recovered, silences";

edited!(AlertRuleRequest: "rule" of RuleMembers, READ_ONLY,
    "a rule, such as {\"name\":\"failures\",\"kinds\":[\"failed\"],\"channels\":[1]}",
    "A rule; an answer may be changed and sent back");

fn draft(body: &AlertRuleRequest) -> Result<RuleDraft, Error> {
    check_members(&body.value, AlertRuleRequest::WHAT, MEMBERS)?;
    from_json(&body.value)
}

pub async fn list(state: Shared, caller: Caller) -> Answer<List<RuleView>> {
    let visible = caller.visible();
    let rules = state.store.alerts().rules(&visible).await?;
    let apps = state.store.apps().list(&visible).await?;
    let view = |rule: AlertRule| {
        let app = apps.iter().find(|app| Some(app.id) == rule.app_id).map(|app| app.name.clone());
        RuleView::new(rule, app)
    };
    Ok(Json(List::whole(rules.into_iter().map(view))))
}

pub async fn get(state: Shared, id: Id) -> Answer<RuleView> {
    let rule = state.alerts.rule(id.0).await?;
    Ok(Json(view(&state, rule).await?))
}

pub async fn create(state: Shared, caller: Caller, body: Body<AlertRuleRequest>) -> Result<Created<RuleView>, Error> {
    let rule = state.alerts.create_rule(draft(&body.0)?, &caller.0).await?;
    Ok(Created::new(view(&state, rule).await?))
}

pub async fn update(state: Shared, caller: Caller, id: Id, body: Body<AlertRuleRequest>) -> Answer<RuleView> {
    let rule = state.alerts.update_rule(id.0, draft(&body.0)?, body.0.revision, &caller.0).await?;
    Ok(Json(view(&state, rule).await?))
}

pub async fn delete(state: Shared, caller: Caller, id: Id) -> Result<NoContent, Error> {
    state.alerts.delete_rule(id.0, &caller.0).await?;
    Ok(NoContent)
}

async fn view(state: &State, rule: AlertRule) -> Result<RuleView, Error> {
    let app = match rule.app_id {
        Some(id) => state.store.apps().get(id).await?.map(|app| app.name),
        None => None,
    };
    Ok(RuleView::new(rule, app))
}

use super::block::BlockStrategy;
use super::draft::JobDraft;
use super::http::HttpDraft;
use super::parts::Parts;
use super::validate::validate_app_name;
use crate::retry::RetryDelay;
use crate::route::RouteStrategy;
use crate::schedule::{Schedule, ScheduleContext, ScheduleDraft};
use crate::time::Millis;

const NOW: Millis = 1_751_641_200_000; // 2025-07-04T15:00:00Z

fn draft() -> JobDraft {
    JobDraft::new("billing", " Close the day ", "closeDay")
}

fn wrong(change: impl FnOnce(&mut JobDraft)) -> String {
    let mut draft = draft();
    change(&mut draft);
    let errors = draft.validate(&ScheduleContext::from_anchor(NOW), None, NOW).unwrap_err();
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_draft_becomes_a_spec() {
    let spec = draft().validate(&ScheduleContext::from_anchor(NOW), None, NOW).unwrap();
    assert_eq!((spec.name.as_str(), spec.handler.as_str()), ("Close the day", "closeDay"));
    assert_eq!(spec.schedule.kind(), "none");
}

#[test]
fn every_wrong_member_has_its_message() {
    let errors = wrong(|draft| {
        draft.app = "b".into();
        draft.name = " ".into();
        draft.handler = "close\nDay".into();
        draft.params = "x".repeat(65_537);
        draft.schedule = ScheduleDraft::cron("0 0 25 * * ?", "UTC");
        draft.misfire_threshold_seconds = 0;
        draft.route_labels = "gpu".into();
        draft.timeout_seconds = -1;
        draft.retries = 101;
        draft.retry_delay = RetryDelay::Fixed { seconds: vec![] };
        draft.children = vec![3, 3];
        draft.flag_after_seconds = 86_401;
    });
    assert_eq!(
        errors.lines().collect::<Vec<_>>(),
        [
            "app: an app name has 4 to 64 characters, this has 1",
            "name: must not be empty; 1 to 255 characters",
            "handler: must be one line without control characters",
            "params: has 65537 bytes; at most 65536 (64 KiB) are allowed",
            "schedule.expression: hour field: 25 is not allowed; hours are 0 to 23 (field 3 of 6: `25`)",
            "misfire_threshold_seconds: 0 is not allowed; 1 to 86400 seconds",
            "route_labels: `gpu` is no label; write key=value, several with commas between",
            "timeout_seconds: -1 is not allowed; 0 to 604800 seconds (0: no limit)",
            "retries: 101 is not allowed; 0 to 100",
            "retry_delay: seconds has 0 numbers; 1 to 100",
            "children: names job 3 twice",
            "flag_after_seconds: 86401 is not allowed; 0 to 86400 seconds (0: as the server says)",
        ]
    );
}

#[test]
fn labels_are_normalised_and_the_route_by_label_needs_some() {
    let mut draft = draft();
    draft.route_labels = " zone = eu, gpu=yes".into();
    let spec = draft.validate(&ScheduleContext::from_anchor(NOW), None, NOW).unwrap();
    assert_eq!(spec.route_labels.to_string(), "gpu=yes,zone=eu");
    assert_eq!(
        wrong(|draft| draft.route = RouteStrategy::Label),
        "route_labels: the route `label` needs one at least, such as zone=eu"
    );
}

// covers: 001-44
#[test]
fn the_parts_of_an_http_job_need_no_block_strategy() {
    let split = |draft: &mut JobDraft| {
        draft.parts = Parts::Count(3);
        draft.block = BlockStrategy::CoverEarly;
    };
    assert!(wrong(split).starts_with("parts: needs the block strategy `serial`"));
    let mut draft = JobDraft { handler: String::new(), http: Some(HttpDraft::new("http://a/")), ..draft() };
    split(&mut draft);
    assert!(draft.validate(&ScheduleContext::from_anchor(NOW), None, NOW).is_ok());
}

#[test]
fn app_names() {
    for name in ["billing", "xxl-job-executor-sample", "Data.Sync_2", "4444"] {
        assert_eq!(validate_app_name(name), Ok(()), "{name}");
    }
    assert!(validate_app_name("-app").unwrap_err().contains("begins with"));
    assert!(validate_app_name("bill ing").unwrap_err().starts_with("' ' is not allowed"));
}

#[test]
fn an_exhausted_job_stays_editable_but_a_schedule_that_is_over_is_refused() {
    let facts = ScheduleContext::from_anchor(NOW);
    let mut draft = draft();
    draft.schedule = ScheduleDraft::once(NOW - 1_500);
    let errors = draft.validate(&facts, None, NOW).unwrap_err();
    assert_eq!(errors[0].to_string(), "schedule.at: 2025-07-04T14:59:59Z is over; the job would never run");
    let stored = Schedule::parse(&draft.schedule, &facts).unwrap().draft();
    draft.name = "another".into();
    assert!(draft.validate(&facts, Some(&stored), NOW).is_ok());
    draft.schedule = ScheduleDraft::once(NOW - 9_500);
    assert!(draft.validate(&facts, Some(&stored), NOW).is_err());
    draft.schedule.end_at = Some(NOW - 1);
    assert!(draft.validate(&facts, Some(&stored), NOW).is_err());
}

#[test]
fn a_schedule_that_never_fires_is_refused_quickly() {
    for expression in ["0 0 0 30 2 ?", "0 0 0 1 1 ? 2020", "* * * * * ? 2300", "0 0 0 ? 2 2#5 2025-2027"] {
        let refuse = || wrong(|draft| draft.schedule = ScheduleDraft::cron(expression, "America/New_York"));
        let error = refuse();
        assert!(error.starts_with(&format!("schedule.expression: `{expression}` never fires")), "{error}");
        // The fastest of several, because the machine may be busy.
        let took = (0..5).map(|_| {
            let started = std::time::Instant::now();
            refuse();
            started.elapsed()
        });
        assert!(took.min().unwrap().as_millis() < 20, "{expression} takes long");
    }
}

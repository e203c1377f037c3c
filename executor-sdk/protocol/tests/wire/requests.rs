use carillon_protocol::{BlockStrategy, JobRef, LogRequest, Registration, RunRequest, join_url, parse_registration};

const RUN: &str = include_str!("../golden/run_request.json");

fn run_request() -> RunRequest {
    RunRequest {
        job_id: 7,
        handler: "report".into(),
        params: r#"{"day":"today"}"#.into(),
        block_strategy: BlockStrategy::Serial.as_str().into(),
        timeout_seconds: 30,
        log_id: 4711,
        log_date_time: 1_790_000_000_000,
        glue_type: carillon_protocol::GLUE_BEAN.into(),
        glue_source: String::new(),
        glue_updatetime: 0,
        broadcast_index: 0,
        broadcast_total: 1,
    }
}

#[test]
fn a_run_request_has_the_twelve_members_in_order() {
    let text = serde_json::to_string(&run_request()).unwrap();
    assert_eq!(text, RUN.trim_end());
    assert_eq!(serde_json::from_str::<RunRequest>(RUN).unwrap(), run_request());
    let empty = serde_json::to_value(RunRequest::default()).unwrap();
    assert_eq!(empty.as_object().unwrap().len(), 12, "empty members are sent too");
}

#[test]
fn a_run_request_is_read_as_gson_does() {
    let request: RunRequest = serde_json::from_str(
        r#"{"jobId":"7","logId":"4711","executorTimeout":3.0,"executorHandler":null,
            "jobId":8,"glueUpdatetime":"","later":{"x":[1]},"executorParams":{"a":1}}"#,
    )
    .unwrap();
    assert_eq!((request.job_id, request.log_id), (8, 4711));
    assert_eq!((request.timeout_seconds, request.glue_updatetime), (3, 0));
    assert_eq!((request.handler.as_str(), request.params.as_str()), ("", r#"{"a":1}"#));
}

#[test]
fn a_wrong_number_is_named() {
    for (body, message) in [
        (r#"{"jobId":"x"}"#, r#"jobId: "x" is not a whole number"#),
        (r#"{"jobId":4294967296}"#, "jobId: 4294967296 does not fit into 32 bits"),
        (r#"{"logId":1.5}"#, "logId: 1.5 is not a whole number"),
        (r#"{"logId":true}"#, "logId: invalid type: boolean"),
        ("[]", "expected a run request"),
    ] {
        let error = serde_json::from_str::<RunRequest>(body).unwrap_err().to_string();
        assert!(error.contains(message), "{body}: {error}");
    }
}

#[test]
fn a_log_request_carries_both_names_of_its_instant() {
    let request = LogRequest { log_date_time: 5, log_id: 6, from_line: 1 };
    let text = serde_json::to_string(&request).unwrap();
    assert_eq!(text, r#"{"logDateTim":5,"logDateTime":5,"logId":6,"fromLineNum":1}"#);
    for one_name in
        [r#"{"logDateTim":"5","logId":6,"fromLineNum":1}"#, r#"{"logDateTime":5,"logId":6,"fromLineNum":1}"#]
    {
        assert_eq!(serde_json::from_str::<LogRequest>(one_name).unwrap(), request);
    }
    let job: JobRef = serde_json::from_str(r#"{"jobId":"3"}"#).unwrap();
    assert_eq!(serde_json::to_string(&job).unwrap(), r#"{"jobId":3}"#);
}

#[test]
fn a_registration_names_the_blank_member() {
    let good = br#"{"registryGroup":"EXECUTOR","registryKey":"app","registryValue":"http://h:1/"}"#;
    let registration = parse_registration(good).unwrap();
    assert_eq!(registration, Registration::executor("app", "http://h:1/"));
    assert_eq!(serde_json::to_vec(&registration).unwrap(), good);
    for (body, member) in [
        (r#"{"registryGroup":"EXECUTOR","registryValue":"http://h:1"}"#, "registryKey"),
        (r#"{"registryGroup":"EXECUTOR","registryKey":"app","registryValue":" "}"#, "registryValue"),
        (r#"{"registryGroup":null,"registryKey":"app","registryValue":"x"}"#, "registryGroup"),
    ] {
        let error = parse_registration(body.as_bytes()).unwrap_err();
        assert_eq!(error, format!("{member} is missing or blank"));
    }
    assert!(parse_registration(b"").unwrap_err().contains("EOF while parsing"));
}

#[test]
fn addresses_are_joined_with_one_slash() {
    for (base, path, joined) in [
        ("http://h:1", "/run", "http://h:1/run"),
        ("http://h:1/", "/run", "http://h:1/run"),
        ("http://h:1/prefix//", "run", "http://h:1/prefix/run"),
        ("http://h/xxl-job-admin", "/api/registry", "http://h/xxl-job-admin/api/registry"),
    ] {
        assert_eq!(join_url(base, path), joined);
    }
}

#[test]
fn unknown_block_strategies_are_serial() {
    assert_eq!(BlockStrategy::from_wire("COVER_EARLY"), BlockStrategy::CoverEarly);
    assert_eq!(BlockStrategy::from_wire(""), BlockStrategy::Serial);
    assert_eq!(BlockStrategy::from_wire("cover_early"), BlockStrategy::Serial);
}

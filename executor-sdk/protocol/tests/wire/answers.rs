use carillon_protocol::{Answer, LogAnswer, LogPage, Verdict, parse_answer, parse_log_page};

fn accepted() -> Verdict {
    Verdict::Accepted { message: None, content: None }
}

fn refused(code: i32, message: &str) -> Verdict {
    Verdict::Refused { code, message: message.to_owned() }
}

#[test]
fn answers_are_written_with_both_payload_names() {
    for (answer, text) in [
        (Answer::ok(), r#"{"code":200,"msg":null,"content":null,"data":null}"#),
        (Answer::ok_with("x"), r#"{"code":200,"msg":null,"content":"x","data":"x"}"#),
        (Answer::fail("no"), r#"{"code":500,"msg":"no","content":null,"data":null}"#),
    ] {
        assert_eq!(serde_json::to_string(&answer).unwrap(), text);
    }
}

#[test]
fn every_generation_of_success_is_accepted() {
    for body in
        [r#"{"code":200}"#, r#"{"code":200,"msg":null,"content":null}"#, r#"{"code":"200","data":null,"success":true}"#]
    {
        assert_eq!(parse_answer(200, body.as_bytes()), accepted(), "{body}");
    }
}

// covers: 004-24
#[test]
fn refusals_are_definite_and_keep_their_reason() {
    let unknown = br#"{"code":500,"msg":"job handler [nope] not found."}"#;
    assert_eq!(parse_answer(200, unknown), refused(500, "job handler [nope] not found."));
    let go = parse_answer(200, include_bytes!("../golden/run_refused_go.json"));
    assert_eq!(go, refused(500, "There are tasks running"));
    assert_eq!(parse_answer(200, br#"{"code":500}"#), refused(500, "code 500 without a reason"));
    assert_eq!(parse_answer(404, b""), refused(404, "HTTP 404"));
    assert_eq!(parse_answer(401, b"<b>\nno"), refused(401, "HTTP 401: <b> no"));
}

#[test]
fn what_may_have_run_is_unclear() {
    for (status, body) in [
        (500, "Internal Server Error"),
        (502, r#"{"code":200}"#),
        (408, ""),
        (301, ""),
        (204, ""),
        (200, ""),
        (200, "<html>login</html>"),
        (200, "{}"),
        (200, "[]"),
        (200, r#"[{"handleCode":200}]"#),
        (200, "null"),
    ] {
        let verdict = parse_answer(status, body.as_bytes());
        assert!(matches!(verdict, Verdict::Unclear { .. }), "{status} {body}: {verdict:?}");
    }
}

#[test]
fn a_repeated_run_and_a_wrong_token_are_recognised() {
    for text in ["repeate trigger job, logId:7", "repeat trigger job, logId:7"] {
        assert!(refused(500, text).is_duplicate_of(7));
        assert!(!refused(500, text).is_duplicate_of(70));
    }
    assert!(!accepted().is_duplicate_of(7));
    assert!(refused(500, "The access token is wrong.").is_wrong_token());
    assert!(!refused(500, "not now").is_wrong_token() && !accepted().is_wrong_token());
}

#[test]
fn a_log_page_is_found_under_either_name() {
    let page = LogPage { from_line: 1, to_line: 2, content: "a\nb\n".into(), is_end: true };
    let ours = serde_json::to_vec(&Answer::ok_with(page.clone())).unwrap();
    assert_eq!(parse_log_page(&ours), Ok(LogAnswer::Page(page.clone())));
    for member in ["content", "data"] {
        let body = format!(
            r#"{{"code":200,"{member}":{{"fromLineNum":1,"toLineNum":"2","logContent":"a\nb\n","end":true}}}}"#
        );
        assert_eq!(parse_log_page(body.as_bytes()), Ok(LogAnswer::Page(page.clone())));
    }
    assert_eq!(parse_log_page(br#"{"code":200,"content":null}"#), Ok(LogAnswer::NoLog));
    assert_eq!(parse_log_page(br#"{"code":500,"msg":"no"}"#), Err("no".to_owned()));
    assert!(parse_log_page(br#"{"code":200,"content":"text"}"#).unwrap_err().contains("log page"));
}

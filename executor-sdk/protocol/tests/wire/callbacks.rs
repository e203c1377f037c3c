use carillon_protocol::{CallbackItem, MAX_CALLBACK_ITEMS, parse_callbacks};

fn item(log_id: i64, code: i32, message: Option<&str>) -> CallbackItem {
    CallbackItem { log_id, log_date_time: 1_790_000_000_000, code, message: message.map(str::to_owned) }
}

#[test]
fn lists_keep_order_and_repeats() {
    let items = parse_callbacks(include_bytes!("../golden/callback_array.json")).unwrap();
    let expected =
        [item(1, 200, None), item(2, 502, Some("job execute timeout ")), item(2, 200, Some("a repeat is kept"))];
    assert_eq!(items, expected);
}

#[test]
fn the_nested_result_of_2_2_is_read_when_there_is_no_other() {
    let items = parse_callbacks(include_bytes!("../golden/callback_2_2_nested.json")).unwrap();
    assert_eq!(items, [item(1, 200, None), item(2, 500, Some("boom"))]);
    let both = br#"{"logId":3,"handleCode":500,"handleMsg":"x","executeResult":{"code":200}}"#;
    assert_eq!(parse_callbacks(both).unwrap()[0].code, 500);
}

#[test]
fn the_snapshot_wraps_the_list_and_one_result_may_stand_alone() {
    let items = parse_callbacks(include_bytes!("../golden/callback_snapshot.json")).unwrap();
    assert_eq!(items, [item(1, 200, Some("done"))]);
    let alone = br#"{"logId":1,"logDateTim":1790000000000,"handleCode":200,"handleMsg":"done"}"#;
    assert_eq!(parse_callbacks(alone).unwrap(), items);
    assert_eq!(parse_callbacks(br#"{"callbackList":[]}"#).unwrap(), Vec::new());
}

#[test]
fn a_message_of_any_json_type_becomes_text() {
    let items = parse_callbacks(include_bytes!("../golden/callback_pyxxl.json")).unwrap();
    assert_eq!(items[0].message.as_deref(), Some(r#"{"rows":42}"#));
    let others =
        br#"[{"logId":1,"handleMsg":[1, "\u00e9"]},{"logId":2,"handleMsg":7.50},{"logId":3,"handleMsg":"a\u00e9\n"}]"#;
    let texts: Vec<_> = parse_callbacks(others).unwrap().into_iter().map(|item| item.message.unwrap()).collect();
    assert_eq!(texts, [r#"[1, "\u00e9"]"#, "7.50", "a\u{e9}\n"], "as it was written, but for a text");
}

#[test]
fn what_cannot_be_a_list_of_results_is_refused_by_name() {
    for (body, message) in [
        ("", "EOF"),
        ("null", "expected a list of results"),
        ("[1]", "expected a result, which is a JSON object"),
        ("{}", "logId of item 1 is missing"),
        (r#"[{"logId":1},{"logId":0}]"#, "logId of item 2 is missing or not a run"),
        (r#"[{"logId":"one"}]"#, r#"logId: "one" is not a whole number"#),
        (r#"{"callbackList":3}"#, "a list of results in callbackList"),
    ] {
        let error = parse_callbacks(body.as_bytes()).unwrap_err();
        assert!(error.contains(message), "{body}: {error}");
    }
}

// covers: S22
#[test]
fn the_list_and_its_depth_are_limited() {
    let list = |count| format!("[{}]", vec![r#"{"logId":1}"#; count].join(","));
    assert_eq!(parse_callbacks(list(MAX_CALLBACK_ITEMS).as_bytes()).unwrap().len(), 5_000);
    let error = parse_callbacks(list(MAX_CALLBACK_ITEMS + 1).as_bytes()).unwrap_err();
    assert!(error.contains("more than 5000 items"), "{error}");

    let nested = format!(r#"[{{"logId":1,"x":{}1{}}}]"#, "[".repeat(15), "]".repeat(15));
    let error = parse_callbacks(nested.as_bytes()).unwrap_err();
    assert!(error.contains("deeper than 16 levels"), "{error}");
}

#[test]
fn a_result_is_written_in_the_spelling_of_3_4() {
    let text = serde_json::to_string(&[item(1, 200, None)]).unwrap();
    assert_eq!(text, r#"[{"logId":1,"logDateTim":1790000000000,"handleCode":200,"handleMsg":null}]"#);
}

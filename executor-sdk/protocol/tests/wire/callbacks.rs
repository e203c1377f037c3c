use carillon_protocol::{CallbackItem, MAX_CALLBACK_ITEMS, parse_callbacks};

/// All results of a body that has no others.
#[expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
fn items(body: &[u8]) -> Vec<CallbackItem> {
    let found = parse_callbacks(body).unwrap();
    assert_eq!((found.unusable, found.problems.len()), (0, 0), "{:?}", found.problems);
    found.items
}

fn item(log_id: i64, code: i32, message: Option<&str>) -> CallbackItem {
    CallbackItem { log_id, log_date_time: 1_790_000_000_000, code, message: message.map(str::to_owned), received_at: 0 }
}

#[test]
fn lists_keep_order_and_repeats() {
    let found = items(include_bytes!("../golden/callback_array.json"));
    let expected =
        [item(1, 200, None), item(2, 502, Some("job execute timeout ")), item(2, 200, Some("a repeat is kept"))];
    assert_eq!(found, expected);
}

#[test]
fn the_nested_result_of_2_2_is_read_when_there_is_no_other() {
    let found = items(include_bytes!("../golden/callback_2_2_nested.json"));
    assert_eq!(found, [item(1, 200, None), item(2, 500, Some("boom"))]);
    let both = br#"{"logId":3,"handleCode":500,"handleMsg":"x","executeResult":{"code":200}}"#;
    assert_eq!(items(both)[0].code, 500);
}

#[test]
fn the_snapshot_wraps_the_list_and_one_result_may_stand_alone() {
    let found = items(include_bytes!("../golden/callback_snapshot.json"));
    assert_eq!(found, [item(1, 200, Some("done"))]);
    let alone = br#"{"logId":1,"logDateTim":1790000000000,"handleCode":200,"handleMsg":"done"}"#;
    assert_eq!(items(alone), found);
    assert_eq!(items(br#"{"callbackList":[]}"#), []);
}

#[test]
fn a_message_of_any_json_type_becomes_text() {
    let found = items(include_bytes!("../golden/callback_pyxxl.json"));
    assert_eq!(found[0].message.as_deref(), Some(r#"{"rows":42}"#));
    let others =
        br#"[{"logId":1,"handleMsg":[1, "\u00e9"]},{"logId":2,"handleMsg":7.50},{"logId":3,"handleMsg":"a\u00e9\n"}]"#;
    let texts: Vec<_> = items(others).into_iter().map(|item| item.message.unwrap()).collect();
    assert_eq!(texts, [r#"[1, "\u00e9"]"#, "7.50", "a\u{e9}\n"], "as it was written, but for a text");
}

#[test]
fn what_cannot_be_a_list_of_results_is_refused_by_name() {
    for (body, message) in [
        ("", "EOF"),
        ("null", "expected a list of results"),
        (r#"{"callbackList":3}"#, "a list of results in callbackList"),
    ] {
        let error = parse_callbacks(body.as_bytes()).unwrap_err();
        assert!(error.contains(message), "{body}: {error}");
    }
}

// covers: R062
#[test]
fn a_result_that_cannot_be_used_holds_up_no_other() {
    for (body, ids, problem) in [
        ("[1]", vec![], "item 1: invalid type: integer `1`, expected a result, which is a JSON object"),
        ("{}", vec![], "logId of item 1 is missing or not a run"),
        (r#"[{"logId":1},{"logId":null},{"logId":3}]"#, vec![1, 3], "logId of item 2 is missing or not a run"),
        (r#"[{"logId":1},{"logId":"one"}]"#, vec![1], r#"item 2: logId: "one" is not a whole number"#),
        (r#"{"callbackList":[{"logId":0},{"logId":7}]}"#, vec![7], "logId of item 1 is missing or not a run"),
        (
            r#"[{"logId":1,"handleCode":99999999999},{"logId":2}]"#,
            vec![2],
            "item 1: handleCode: 99999999999 does not fit",
        ),
    ] {
        let found = parse_callbacks(body.as_bytes()).unwrap();
        assert_eq!(found.items.iter().map(|item| item.log_id).collect::<Vec<_>>(), ids, "{body}");
        assert!(found.unusable == 1 && found.problems[0].starts_with(problem), "{body}: {:?}", found.problems);
    }
    let found =
        parse_callbacks(br#"[{"logId":1,"handleMsg":"a"},{"logId":2,"handleMsg":"\udce9"},{"logId":3}]"#).unwrap();
    assert_eq!((found.items.len(), found.items[1].message.as_deref(), found.unusable), (3, Some("\u{fffd}"), 0));
    // What JSON does not allow is repaired in each result, also beside one that cannot be used.
    for body in [
        r#"[null,{"logId":5,"handleCode":200,"handleMsg":"caf\udce9"}]"#,
        r#"{"callbackList":[null,{"logId":5,"handleCode":200,"handleMsg":"caf\udce9"}]}"#,
        r#"{"\udce9":1,"callbackList":[null,{"logId":5,"handleCode":200,"handleMsg":"caf\udce9"}]}"#,
        "[{'logId':0},{'logId':5,'handleCode':200,'handleMsg':'caf\\udce9'}]",
    ] {
        let found = parse_callbacks(body.as_bytes()).unwrap();
        let items: Vec<_> = found.items.iter().map(|item| (item.log_id, item.code, item.message.as_deref())).collect();
        assert_eq!((items, found.unusable), (vec![(5, 200, Some("caf\u{fffd}"))], 1), "{body}");
    }
}

// covers: R061
#[test]
fn a_number_in_a_text_is_read_as_gson_reads_it() {
    for (text, expected) in [("200", 200), ("200.0", 200), ("2e2", 200), (" 502 ", 502), ("-1.0", -1), ("", 0)] {
        let body = format!(r#"[{{"logId":"5.0","handleCode":"{text}"}}]"#);
        let items = items(body.as_bytes());
        assert_eq!((items[0].log_id, items[0].code), (5, expected), "{text}");
    }
    for text in ["200.5", "two", "NaN", "inf", "1e300"] {
        let found = parse_callbacks(format!(r#"[{{"logId":5,"handleCode":"{text}"}}]"#).as_bytes()).unwrap();
        let expected = format!("item 1: handleCode: \"{text}\" is not a whole number");
        assert!(found.items.is_empty() && found.problems[0].starts_with(&expected), "{:?}", found.problems);
    }
}

// covers: S22, R063
#[test]
fn the_list_and_its_depth_are_limited() {
    let list = |count| format!("[{}]", vec![r#"{"logId":1}"#; count].join(","));
    assert_eq!(items(list(6_000).as_bytes()).len(), 6_000);
    let found = parse_callbacks(list(MAX_CALLBACK_ITEMS + 7).as_bytes()).unwrap();
    assert_eq!((found.items.len(), found.unusable, found.problems.len()), (MAX_CALLBACK_ITEMS, 7, 5));
    assert_eq!(found.problems[0], "item 100001 is one of more than 100000");

    let nested = format!(r#"[{{"logId":1,"x":{}1{}}}]"#, "[".repeat(15), "]".repeat(15));
    let error = parse_callbacks(nested.as_bytes()).unwrap_err();
    assert!(error.contains("deeper than 16 levels"), "{error}");
}

#[test]
fn a_result_is_written_in_the_spelling_of_3_4() {
    let text = serde_json::to_string(&[item(1, 200, None)]).unwrap();
    assert_eq!(text, r#"[{"logId":1,"logDateTim":1790000000000,"handleCode":200,"handleMsg":null}]"#);
}

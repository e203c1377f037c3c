use carillon_protocol::{
    Answer, BatchRun, DeliveredItem, Delivery, ItemQuery, ItemResult, ItemResults, MapPage, MappedItem, Reduction,
    Verdict, headers, parse_answer, parse_items,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Compares in both directions.
fn assert_golden<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T, golden: &str) {
    assert_eq!(serde_json::to_string(value).ok().as_deref(), Some(golden.trim_end()));
    assert_eq!(parse_items::<T>(golden.as_bytes()).as_ref(), Ok(value));
}

fn mapped() -> Vec<MappedItem> {
    vec![
        MappedItem { item: 0, code: 200, msg: Some("done".into()), params: "/images/0.png".into() },
        MappedItem { item: 1, code: 500, msg: None, params: "1".into() },
    ]
}

#[test]
fn pages_results_and_deliveries_are_written_byte_for_byte() {
    let items = vec!["/images/0.png".into(), "a \"b\" ß".into()];
    let page = MapPage { log_id: 4711, page: 0, items, chunk: Some(50), reduce: true };
    assert_golden(&page, include_str!("../golden/map_page.json"));

    let result = |item, code, msg: Option<&str>| ItemResult { item, code, msg: msg.map(str::to_owned) };
    let results = vec![result(17, 200, Some("done")), result(18, 500, Some("no such image")), result(19, 200, None)];
    assert_golden(&ItemResults { log_id: 4720, results }, include_str!("../golden/map_results.json"));

    let item = |item, params: &str| DeliveredItem { item, params: params.to_owned() };
    let items = vec![item(17, "/images/17.png"), item(18, r#"{"a":1}"#)];
    assert_golden(&Delivery { map: 4711, delivery: 1, items }, include_str!("../golden/map_delivery.json"));

    assert_golden(&Reduction { map: 4711, items: 100, failed: 3 }, r#"{"map":4711,"items":100,"failed":3}"#);
    assert_golden(&ItemQuery { log_id: 4790, after: -1 }, r#"{"logId":4790,"after":-1}"#);
}

#[test]
fn the_items_of_a_reduce_run_are_a_text_in_the_answer() {
    let answer = Answer::ok_with(serde_json::to_string(&mapped()).unwrap());
    let golden = include_str!("../golden/map_items_answer.json").trim_end();
    assert_eq!(serde_json::to_string(&answer).unwrap(), golden);
    let Verdict::Accepted { content: Some(content), .. } = parse_answer(200, golden.as_bytes()) else {
        panic!("{golden}");
    };
    let list: String = serde_json::from_str(&content).unwrap();
    assert_eq!(serde_json::from_str::<Vec<MappedItem>>(&list).unwrap(), mapped());
}

#[test]
fn a_run_of_a_batch_has_its_phase_as_a_member_and_others_have_none() {
    let run = BatchRun { phase: Some(headers::PHASE_ITEMS.to_owned()), ..BatchRun::default() };
    let text = serde_json::to_string(&run).unwrap();
    assert!(text.ends_with(r#""notAfter":0,"phase":"items"}"#), "{text}");
    assert_eq!(serde_json::from_str::<BatchRun>(&text).unwrap(), run);
    assert!(!serde_json::to_string(&BatchRun::default()).unwrap().contains("phase"));
}

//! Reports as programs read them.

use serde_json::json;

use super::client::api;

#[test]
fn a_report_is_grouped_sorted_and_limited() {
    api(async |api| {
        let empty = api.get("/reports").await.ok();
        assert_eq!((&empty["items"], &empty["more"], &empty["total"]["runs"]), (&json!([]), &json!(false), &json!(0)));
        assert_eq!(empty["total"]["success_rate"], json!(null));
        for (query, wrong) in [
            ("days=0", "400 invalid days"),
            ("days=91", "400 invalid days"),
            ("group=week", "400 invalid group"),
            ("sort=size", "400 invalid sort"),
            ("job_id=x", "400 invalid job_id"),
            ("app=nothing", "400 invalid app: there is no app “nothing”"),
            ("colour=red", "400 invalid colour"),
        ] {
            let error = api.get(&format!("/reports?{query}")).await.error();
            assert!(error.starts_with(wrong), "{error}");
        }
    });
}

use carillon_scheduler::{JobDraft, MisfirePolicy, Overlap, ScheduleDraft};

use super::{KubernetesOptions, Manifest, definitions};
use crate::Definitions;

fn of(text: &str) -> Definitions {
    let file = Manifest { name: "jobs.yaml".to_owned(), text: text.to_owned() };
    let options = KubernetesOptions { app: "operations", zone: "UTC", handler: "pod", now: 0 };
    definitions(&[file], &options).unwrap_or_else(|faults| panic!("{faults:?}"))
}

fn cron_job(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: batch/v1\nkind: CronJob\nmetadata: {{name: {name}, namespace: shop}}\nspec:\n  schedule: \"0 3 * * *\"\n{spec}  jobTemplate:\n    \
         spec:\n      template:\n        spec:\n          containers:\n            - name: main\n              image: shop/backup:3\n              \
         args: [--all, \"012\"]\n              env:\n                - {{name: PASSWORD, value: hunter2}}\n"
    )
}

fn only(done: &Definitions) -> &JobDraft {
    let [job] = &done.jobs[..] else { panic!("{done:?}") };
    job
}

#[test]
fn a_cron_job_becomes_a_paused_job_with_the_defaults_of_kubernetes() {
    let done = of(&cron_job("backup", ""));
    let job = only(&done);
    assert_eq!((job.key.as_str(), job.name.as_str(), job.handler.as_str()), ("shop.backup", "backup", "pod"));
    assert_eq!(job.schedule, ScheduleDraft::unix_cron("0 3 * * *", "UTC"));
    assert_eq!(
        (job.misfire, job.overlap, job.retries, job.enabled),
        (MisfirePolicy::FireOnce, Overlap::Allow, 6, false)
    );
    assert_eq!(job.params, r#"{"args":["--all","012"],"command":[],"image":"shop/backup:3"}"#);
    assert!(!done.file("kubernetes", "operations").contains("hunter2"));
    assert!(done.remarks.iter().any(|remark| remark.text == "its environment is left out: PASSWORD"));
}

#[test]
fn what_it_says_is_taken_over_or_remarked() {
    let done = of(&cron_job(
        "backup",
        "  timeZone: Europe/Berlin\n  startingDeadlineSeconds: 5\n  concurrencyPolicy: Forbid\n  suspend: true\n",
    ));
    let job = only(&done);
    assert_eq!((job.misfire, job.misfire_window_seconds, job.overlap), (MisfirePolicy::FireWithin, 5, Overlap::Skip));
    let said: Vec<&str> = done.remarks.iter().map(|remark| remark.text.as_str()).collect();
    for part in ["less than 10 s", "suspended", "repeated when clocks go back", "only the latest instant"] {
        assert!(said.iter().any(|text| text.contains(part)), "{part}: {said:?}");
    }
}

#[test]
fn numbers_that_are_too_large_here_are_cut_and_remarked() {
    let text = cron_job("backup", "");
    let head = "  jobTemplate:\n    spec:\n";
    let done =
        of(&text.replace(head, &format!("{head}      backoffLimit: 101\n      activeDeadlineSeconds: 604801\n")));
    let job = only(&done);
    assert_eq!((job.retries, job.timeout_seconds), (100, 604_800));
    for said in ["backoffLimit 101 is cut to 100", "activeDeadlineSeconds 604801 is cut to 604800"] {
        assert!(done.remarks.iter().any(|remark| remark.text == said), "{said}: {:?}", done.remarks);
    }
}

#[test]
fn several_documents_and_lists_are_read_and_other_objects_passed_over() {
    let list = r#"{"kind": "List", "items": [{"kind": "ConfigMap"}, {"kind": "CronJob", "metadata": {"name": "b"},
        "spec": {"schedule": "@hourly", "concurrencyPolicy": "Replace", "jobTemplate": {"spec": {"backoffLimit": 0,
        "activeDeadlineSeconds": 90, "parallelism": 2, "template": {"spec": {"containers": [{"image": "x"}]}}}}}}]}"#;
    let done = of(&format!("{}---\nkind: Service\n---\n{list}\n", cron_job("a", "")));
    let keys: Vec<&str> = done.jobs.iter().map(|job| job.key.as_str()).collect();
    assert_eq!(keys, ["shop.a", "b"]);
    let second = &done.jobs[1];
    assert_eq!((second.overlap, second.retries, second.timeout_seconds), (Overlap::Cancel, 0, 90));
    assert!(done.remarks.iter().any(|remark| remark.place == "cronjob/b" && remark.text.starts_with("parallelism")));
}

#[test]
fn what_cannot_be_taken_over_is_named_with_its_line() {
    let text = cron_job("backup", "").replace("0 3 * * *", "0 3 */2 * 1");
    let done = of(&format!("kind: Service\n---\n{text}"));
    assert_eq!(done.jobs, []);
    assert_eq!(done.left_out[0].place, "cronjob/shop.backup (line 3)");
    let wrong = Manifest { name: "chart.yaml".to_owned(), text: "name: {{ .Release.Name }}\n".to_owned() };
    let options = KubernetesOptions { app: "operations", zone: "UTC", handler: "pod", now: 0 };
    let faults = definitions(&[wrong], &options).unwrap_err();
    assert!(faults[0].starts_with("chart.yaml:1: "), "{faults:?}");
}

#[test]
fn apply_reads_the_file() {
    let done = of(&cron_job("backup", ""));
    let text = done.file("kubernetes", "operations");
    let set = carillon_files::document::read([("jobs.yaml", text.as_str())])
        .unwrap_or_else(|faults| panic!("{faults:?}\n{text}"));
    assert_eq!(set.jobs[0].draft, JobDraft { set: "kubernetes".to_owned(), ..only(&done).clone() });
}

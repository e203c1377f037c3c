//! Reports, their file, and the chart of the dashboard.

use super::client::{Console, START};
use super::run;

const DAY: i64 = 86_400_000;
const HOUR: i64 = 3_600_000;

/// Summaries of today and yesterday: 9 succeeded, 1 failed; and of a deleted job.
pub async fn fill(console: &Console, job_id: i64, app_id: i64) {
    let raw = sea_orm::Database::connect(console.database_url()).await.unwrap();
    let (day, hour) = (START / DAY, START / HOUR);
    for text in [
        format!("INSERT INTO report_day VALUES ({day}, {job_id}, {app_id}, 4, 1, 0, 0, 0, '70:5;20:5')"),
        format!("INSERT INTO report_day VALUES ({day}, -{app_id}, {app_id}, 4, 1, 0, 0, 0, '70:5;20:5')"),
        format!("INSERT INTO report_day VALUES ({}, 999, {app_id}, 5, 0, 0, 0, 0, '30:5;20:5')", day - 1),
        format!("INSERT INTO report_day VALUES ({}, -{app_id}, {app_id}, 5, 0, 0, 0, 0, '30:5;20:5')", day - 1),
        format!("INSERT INTO report_hour VALUES ({hour}, {app_id}, 4, 1, 0, 0, 0)"),
        format!("INSERT INTO report_hour VALUES ({}, {app_id}, 5, 0, 0, 0, 0)", hour - 100),
    ] {
        sea_orm::ConnectionTrait::execute_unprepared(&raw, &text).await.unwrap();
    }
}

#[test]
fn reports_by_day_app_and_job_and_their_file() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        assert!(admin.get("/reports").await.body.contains("No runs in this period"));
        let job = console.job(|draft| draft.name = "=cmd <b>".to_owned()).await;
        fill(&console, job.id, job.app_id).await;
        let page = admin.get("/reports").await.body;
        assert!(
            page.contains("on the day of UTC on which") && page.contains("90.0 %") && page.contains("2025-10-09"),
            "{page}"
        );
        let days: Vec<&str> = page.split("<tr data-key=\"").skip(1).map(|row| row.split('"').next().unwrap()).collect();
        assert_eq!(days, [(START / DAY).to_string(), (START / DAY - 1).to_string()], "the latest first");
        let today = admin.get("/reports?days=1").await.body;
        assert!(today.contains("80.0 %") && !today.contains("90.0 %"));
        let jobs = admin.get("/reports?group=job&sort=duration").await.body;
        assert!(jobs.contains("=cmd &#60;b&#62;") && jobs.contains("deleted job 999"), "{jobs}");
        assert!(jobs.find("=cmd").unwrap() < jobs.find("deleted job").unwrap());
        assert!(jobs.contains(&format!("/reports?group=day&#38;job={}", job.id)), "{jobs}");
        let of_job = admin.get(&format!("/reports?job={}", job.id)).await.body;
        assert!(of_job.contains("80.0 %") && of_job.contains("Clear"));
        let file = admin.get("/reports/export?group=job&sort=name").await;
        assert_eq!(file.header("content-disposition"), "attachment; filename=\"report.csv\"");
        let lines: Vec<&str> = file.body.lines().collect();
        assert!(lines[0].starts_with("\"id\",\"name\",\"runs\",\"succeeded\",\"failed\",\"killed\","));
        assert!(
            lines[1].starts_with(&format!(
                "\"{}\",\"'=cmd <b>\",\"5\",\"4\",\"1\",\"0\",\"0\",\"0\",\"0.800000\",",
                job.id
            )),
            "{}",
            lines[1]
        );
        let wrong = admin.get("/reports?days=91&group=week&sort=size&job=x&app=nothing").await;
        assert_eq!(wrong.status, 400);
        for text in ["no number from 1 to 90", "none of day, app, job", "none of name, runs", "an id is a number"] {
            assert!(wrong.body.contains(text), "{text}");
        }
        let wrong = admin.get("/reports?app=nothing").await;
        assert!(wrong.status == 400 && wrong.body.contains("there is no app “nothing”"));
    });
}

#[test]
fn the_chart_of_the_dashboard_reaches_back_a_month() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let job = console.job(|_| {}).await;
        fill(&console, job.id, job.app_id).await;
        let rects = async |path: &str| admin.get(path).await.body.matches("<rect").count();
        // The hour has a failure too.
        assert_eq!((rects("/?runs=24h").await, rects("/?runs=7d").await, rects("/?runs=30d").await), (2, 3, 3));
        let page = admin.get("/?runs=7d").await.body;
        assert!(page.contains("Runs, 7 days") && page.contains("aria-current=\"page\">7 days"), "{page}");
        assert_eq!(admin.get("/?runs=century").await.status, 200);
    });
}

#[test]
fn killed_runs_have_a_column() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let job = console.job(|_| {}).await;
        fill(&console, job.id, job.app_id).await;
        let raw = sea_orm::Database::connect(console.database_url()).await.unwrap();
        sea_orm::ConnectionTrait::execute_unprepared(&raw, "UPDATE report_day SET killed = 3").await.unwrap();
        let page = admin.get("/reports?group=job&sort=killed").await.body;
        assert!(page.contains("data-label=\"Killed\" class=\"right number\">3</td>"), "{page}");
    });
}

#[test]
fn r149_each_cell_of_an_export_is_quoted_and_a_byte_order_mark_comes_on_demand() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let job = console.job(|draft| draft.name = "结算;=1+1".to_owned()).await;
        fill(&console, job.id, job.app_id).await;
        for path in ["/reports/export?group=job", "/audit/export?object=job"] {
            let plain = admin.get(path).await.body;
            assert!(
                plain.starts_with('"') && plain.lines().all(|line| line.starts_with('"') && line.ends_with('"')),
                "{plain}"
            );
            assert!(plain.contains("结算;=1+1"), "{plain}");
            let marked = admin.get(&format!("{path}&bom=true")).await.body;
            assert_eq!(marked, format!("\u{feff}{plain}"));
        }
        for path in ["/reports", "/audit"] {
            assert!(admin.get(path).await.body.contains("bom=true"), "{path}");
        }
    });
}

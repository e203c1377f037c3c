//! What a person sets for the own eyes: colours, time zone and language.

use crate::console::client::Console;
use crate::console::run;

#[test]
fn colours_and_zone_are_kept_and_lead_back() {
    run(async {
        let console = Console::start().await;
        console.job(|_| ()).await;
        let admin = console.admin().await;
        let answer = admin.submit("/preferences", &[("theme", "dark"), ("next", "/jobs?text=a")]).await;
        assert_eq!(answer.location(), "/jobs?text=a");
        admin.submit("/preferences", &[("zone", "Asia/Tokyo"), ("next", "//evil.example")]).await;
        let page = admin.get("/jobs/1").await.body;
        assert!(page.contains("data-theme=\"dark\"") && page.contains("Times in Asia/Tokyo"));
        admin.submit("/preferences", &[("zone", "<script>"), ("theme", "\"x")]).await;
        assert!(admin.get("/").await.body.contains("data-theme=\"dark\""), "what is no choice changes nothing");
    });
}

#[test]
fn the_language_is_the_accounts_then_the_cookies_then_the_browsers() {
    run(async {
        let console = Console::start().await;
        let visitor = console.visitor();
        assert!(visitor.get("/login").await.body.contains("<html lang=\"en\""));
        let chinese = console.visitor().with("accept-language", "zh-CN,zh;q=0.9,en;q=0.8");
        let login = chinese.get("/login").await.body;
        assert!(login.contains("<html lang=\"zh-CN\"") && login.contains("<h1>登录</h1>"), "{login}");
        let wish = [("language", "en"), ("next", "/login")];
        chinese.post("/preferences", Some(chinese.url()), &wish).await;
        assert!(
            chinese.get("/login").await.body.contains("<html lang=\"en\""),
            "a choice counts more than the browser's wish"
        );
        let admin = console.admin().await;
        let answer = admin.submit("/preferences", &[("language", "zh"), ("next", "/jobs")]).await;
        assert_eq!(answer.location(), "/jobs");
        let page = admin.get("/jobs").await.body;
        assert!(page.contains("任务管理") && page.contains("时间按"), "{page}");
        admin.submit("/preferences", &[("language", "tlh")]).await;
        assert!(admin.get("/jobs").await.body.contains("任务管理"), "what is no choice changes nothing");
        let elsewhere = console.admin().await;
        assert!(elsewhere.get("/jobs").await.body.contains("任务管理"), "the account keeps it");
    });
}

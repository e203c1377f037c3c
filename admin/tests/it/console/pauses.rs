//! Pauses of apps in the console.

use carillon_engine::runtime::Service as _;

use super::client::Console;
use super::run;

#[test]
fn a_pause_is_made_seen_on_every_page_and_ended() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        assert!(admin.get("/pauses").await.body.contains("Nothing is paused"));
        let refused = admin.submit("/pauses", &[("app", ""), ("note", "deployment"), ("until", "tomorrow")]).await;
        assert_eq!(refused.status, 422);
        assert_eq!(refused.error("app"), Some("Choose an app."));
        assert!(refused.error("until").is_some_and(|text| text.contains("is no time")), "{}", refused.body);
        assert!(refused.body.contains("value=\"deployment\""), "what was typed is kept");
        let made = admin.submit("/pauses", &[("app", "all"), ("note", "deployment <b>")]).await;
        assert_eq!((made.status, made.location()), (303, "/pauses"));
        console.engine.services.pause_refresher.step().await;
        let page = admin.get("/jobs").await.body;
        assert!(page.contains("All apps are paused") && page.contains("deployment &#60;b&#62;"), "{page}");
        let pause = console.store.pauses_from(0).await.unwrap().remove(0);
        let ended = admin.submit(&format!("/pauses/{}/end", pause.id), &[]).await;
        assert_eq!(ended.status, 303);
        let again = admin.submit(&format!("/pauses/{}/end", pause.id), &[]).await;
        assert_eq!(again.status, 303);
        console.engine.services.pause_refresher.step().await;
        assert!(!admin.get("/jobs").await.body.contains("All apps are paused"));
    });
}

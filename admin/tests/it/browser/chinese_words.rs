//! The console in Chinese has no English words, except names: what templates mark as data (`translate="no"`), code, and a short
//! list.

use super::chromium::{Browser, Kind};
use super::pages::{Filled, SIGNED_OUT};
use super::run;

/// Names that Chinese texts hold, too.
const NAMES: &[&str] = &[
    "API",
    "Aegis",
    "CSV",
    "Carillon",
    "Cron",
    "FreeOTP",
    "HTTP",
    "ID",
    "JSON",
    "JobHandler",
    "KiB",
    "Lines",
    "MiB",
    "OpenID",
    "Redis",
    "TLS",
    "UTC",
    "URL",
    "Unix",
    "Webhook",
    "xxl",
    "job",
];

/// The words of the page of two letters or more that are in no element of data, each with its text: of all texts, also of menus
/// that are closed, and of the attributes that people read. Times with their zone are left out.
const WORDS: &str = r#"
    const names = new Set(JSON.parse('NAMES'));
    const data = 'code, pre, script, style, [translate=no], [lang=en]';
    const time = /\d{4}-\d\d-\d\d( \d\d:\d\d(:\d\d)?(\.\d+)?( [A-Z]{2,5}\b)?)?/g;
    const found = [];
    const look = (where, text) => {
        const words = (text.replace(time, ' ').match(/[A-Za-z]{2,}/g) || []).filter(word => !names.has(word));
        if (words.length) found.push(`${words.join(' ')} in ${where}: ${text.trim().slice(0, 120)}`);
    };
    const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const parent = walker.currentNode.parentElement;
        if (!parent.closest(data)) look(parent.tagName.toLowerCase(), walker.currentNode.data);
    }
    for (const name of ['title', 'placeholder', 'aria-label', 'alt']) {
        for (const element of document.querySelectorAll(`[${name}]`)) {
            if (!element.closest(data)) look(name, element.getAttribute(name));
        }
    }
    return found;
"#;

async fn english(browser: &Browser, path: &str) -> Vec<String> {
    browser.go(path).await;
    browser.find("html[lang=zh-CN] h1").await;
    let script = WORDS.replace("NAMES", &serde_json::to_string(NAMES).unwrap());
    let found: Vec<String> = serde_json::from_value(browser.script(&script).await).unwrap();
    found.into_iter().map(|text| format!("{path}: {text}")).collect()
}

// covers: A6
#[test]
fn the_chinese_console_has_no_english_words() {
    run(async {
        let filled = Filled::start().await;
        let kind = Kind { chinese: true, ..Kind::default() };
        let browser = Browser::open(&filled.live, kind).await;
        let mut found = vec![];
        for path in SIGNED_OUT {
            found.extend(english(&browser, path).await);
        }
        browser.go("/login").await;
        browser.sign_in(filled.live.name, &filled.live.password).await;
        browser.until_at("/").await;
        for path in filled.paths(&browser).await {
            found.extend(english(&browser, &path).await);
        }
        assert!(found.is_empty(), "{} texts with English words:\n{}", found.len(), found.join("\n"));
        browser.close().await;
    });
}

//! Each page of a node with the longest texts that it takes: nothing reaches beyond its window or card, the browser reports no error, and
//! axe finds no violation. The pages in Chinese have no English words.

use super::chinese_words::english;
use super::chromium::{Browser, Kind, Rules};
use super::pages::{Filled, SIGNED_OUT};
use super::run;

const WIDTHS: [u32; 4] = [1440, 1024, 768, 360];

/// What is wrong with all pages, as this kind of browser shows them.
async fn tour(kind: Kind) {
    let filled = Filled::start().await;
    let axe = std::fs::read_to_string(crate::services::setting("CARILLON_TEST_AXE")).unwrap();
    let browser = Browser::open(&filled.live, kind).await;
    let mut faults = vec![];
    for path in SIGNED_OUT {
        look(&browser, path, kind, &axe, &mut faults).await;
    }
    browser.go("/login").await;
    browser.sign_in(filled.live.name, &filled.live.password).await;
    browser.until_at("/").await;
    for path in filled.paths(&browser).await {
        look(&browser, &path, kind, &axe, &mut faults).await;
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    browser.close().await;
}

async fn look(browser: &Browser, path: &str, kind: Kind, axe: &str, faults: &mut Vec<String>) {
    browser.go(path).await;
    browser.find(if kind.chinese { "html[lang=zh-CN] h1" } else { "html[lang=en] h1" }).await;
    let is_error = browser.has("[data-testid=error]").await;
    assert_eq!(
        is_error,
        path.contains("such") || path.starts_with("/reset"),
        "{path} is an error page, or should be one"
    );
    inspect(browser, path, kind, axe, faults).await;
}

/// What is wrong with the page that the browser shows.
pub(super) async fn inspect(browser: &Browser, name: &str, kind: Kind, axe: &str, faults: &mut Vec<String>) {
    let widths: &[u32] = match kind {
        Kind { phone: true, .. } => &[360],
        _ => &WIDTHS,
    };
    for width in widths {
        if !kind.phone {
            browser.resize(*width).await;
        }
        faults.extend(browser.too_wide().await.map(|what| format!("{name}: {what}")));
    }
    let mut add = |place: &str, what: Vec<String>| {
        faults.extend(what.into_iter().map(|what| format!("{name}{place}: {what}")));
    };
    if kind.phone {
        // It has the colours of the others.
        add("", browser.violations(axe, Rules::NoColors).await);
    } else {
        browser.resize(1280).await;
        add("", browser.violations(axe, Rules::All).await);
        browser.set_dark(true).await;
        add(" in the dark", browser.violations(axe, Rules::Colors).await);
        browser.set_dark(false).await;
    }
    if kind.chinese {
        add(" in Chinese", english(browser).await);
    }
    browser.assert_quiet().await;
}

// covers: A6
#[test]
fn every_page_fits_every_window_and_is_readable_in_the_dark() {
    run(tour(Kind::default()));
}

#[test]
fn every_page_fits_a_phone() {
    run(tour(Kind { phone: true, ..Kind::default() }));
}

#[test]
fn every_page_fits_in_chinese_and_has_no_english_words() {
    run(tour(Kind { phone: true, chinese: true, ..Kind::default() }));
}

//! The console in Chinese has no English words, except names: what templates mark as data (`translate="no"`), code, and a short
//! list.

use super::chromium::Browser;
use super::pages::NAMES;

/// Names that Chinese texts hold, too.
const ALSO_CHINESE: &str = "API Aegis AppName BOM CSV Carillon Cron English Excel FRI FreeOTP HASH HTTP ID JSON Java JobHandler Kubernetes KiB Lark Lines MON MiB \
    Microsoft OAuth OpenID PagerDuty Quartz Redis Rust SDK STARTTLS SUN Slack TLS Teams URL UTC Unix Webhook crontab curl job tzdata xxl";

/// The words of the page of two letters or more in elements that hold no data, each with its text: of all texts, also of menus
/// that are closed, and of the attributes that people read. Sentences may hold data: the names that the test has made, what
/// was typed (in quotation marks), addresses, ids of nodes, names of zones, and times.
const WORDS: &str = r#"
    const [names, data] = [new Set('WANTED'.split(' ')), DATA];
    const holdsData = 'code, pre, textarea, datalist, script, style, noscript, [translate=no], [lang=en]';
    const patterns = [
        /“[^”]*”/g, /https?:\/\/\S+/g, /节点 [\w-]{16}/g, /\b[A-Z][A-Za-z]+(\/[A-Za-z_+-]+)+/g, /(.)\1{20,}/g,
        /\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d)?(\.\d+)?( ?[A-Z]{1,5}\b)?)?( to \d{4}-\d\d-\d\d)?/g,
    ];
    const found = [];
    const look = (where, text) => {
        const plain = data.reduce((text, name) => text.replaceAll(name, ' '), text);
        const words = patterns.reduce((text, it) => text.replace(it, ' '), plain).match(/[A-Za-z]{2,}/g) || [];
        const unknown = words.filter(word => !names.has(word));
        if (unknown.length) found.push(`${unknown.join(' ')} in ${where}: ${text.trim().slice(0, 120)}`);
    };
    const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const parent = walker.currentNode.parentElement;
        if (!parent.closest(holdsData)) look(parent.tagName.toLowerCase(), walker.currentNode.data);
    }
    for (const name of ['title', 'placeholder', 'aria-label', 'alt']) {
        for (const element of document.querySelectorAll(`[${name}]`)) {
            if (!element.closest('[translate=no]')) look(name, element.getAttribute(name));
        }
    }
    return found;
"#;

/// What is English on the page that the browser shows.
pub async fn english(browser: &Browser) -> Vec<String> {
    let data = serde_json::to_string(&NAMES).unwrap();
    let script = WORDS.replace("WANTED", ALSO_CHINESE).replace("DATA", &data);
    serde_json::from_value(browser.script(&script).await).unwrap()
}

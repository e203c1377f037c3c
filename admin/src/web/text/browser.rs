//! The browser of a session in a few words, from the long text that it sends.

use crate::web::locale::Language;

/// `Chrome on Windows`; the text itself where it is of another kind.
pub fn browser_text(language: Language, agent: &str) -> String {
    let name = |names: &[(&str, &'static str)]| names.iter().find(|(mark, _)| agent.contains(mark)).map(|it| it.1);
    // The order matters: most browsers name those that they imitate.
    let browsers = [
        ("Edg/", "Edge"),
        ("OPR/", "Opera"),
        ("Firefox/", "Firefox"),
        ("Chrome/", "Chrome"),
        ("CriOS/", "Chrome"),
        ("Safari/", "Safari"),
    ];
    let systems = [
        ("Android", "Android"),
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Windows", "Windows"),
        ("Mac OS X", "macOS"),
        ("Linux", "Linux"),
    ];
    match (name(&browsers), name(&systems)) {
        (Some(browser), Some(system)) => {
            language.text("browser-on").with("browser", browser).with("system", system).to_string()
        }
        (Some(browser), None) => browser.to_owned(),
        _ if agent.is_empty() => language.text("unknown").to_string(),
        _ => agent.chars().take(60).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_browsers_are_named_and_others_shown_as_they_are() {
        let text = |agent: &str| browser_text(Language::English, agent);
        let chrome =
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0 Safari/537.36";
        assert_eq!(text(chrome), "Chrome on Linux");
        assert_eq!(text(&format!("{chrome} Edg/156.0")), "Edge on Linux");
        let safari = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605 Version/19.0 Safari/604.1";
        assert_eq!(text(safari), "Safari on iPhone");
        assert_eq!(text("curl/8.9"), "curl/8.9");
        assert_eq!(text(""), "unknown");
    }
}

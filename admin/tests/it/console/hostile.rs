//! Texts that were run as script, or that leave the place that they were put in, in other consoles.

pub const HOSTILE: [&str; 50] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "'><svg onload=alert(1)>",
    "</textarea><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "--><script>alert(1)</script>",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "java\tscript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:msgbox(1)",
    "{{7*7}}${7*7}<%= 7 %>",
    "{{constructor.constructor('alert(1)')()}}",
    "${alert(1)}",
    "#{7*7}",
    "[[${7*7}]]",
    "<img src=x onerror=\"alert(1)\">",
    "<img/src=x/onerror=alert(1)>",
    "<IMG SRC=x ONERROR=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<svg/onload=alert(1)>",
    "<svg><animate onbegin=alert(1) attributeName=x></svg>",
    "<body onload=alert(1)>",
    "<iframe src=javascript:alert(1)>",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "<object data=javascript:alert(1)>",
    "<embed src=javascript:alert(1)>",
    "<a href=javascript:alert(1)>x</a>",
    "<form action=javascript:alert(1)><input type=submit>",
    "<button formaction=javascript:alert(1)>x</button>",
    "<input autofocus onfocus=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "<video><source onerror=alert(1)></video>",
    "<marquee onstart=alert(1)>",
    "<math><mtext></mtext><mglyph><style><img src=x onerror=alert(1)></style></mglyph></math>",
    "<style>@import 'http://evil.example/x.css';</style>",
    "<link rel=stylesheet href=http://evil.example/x.css>",
    "<meta http-equiv=refresh content=\"0;url=http://evil.example/\">",
    "<base href=http://evil.example/>",
    "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\"></noscript>",
    "<template><script>alert(1)</script></template>",
    "\" autofocus onfocus=alert(1) x=\"",
    "' autofocus onfocus=alert(1) x='",
    "` onmouseover=alert(1) x=`",
    "</script><script>alert(1)</script>",
    "\\\"};alert(1);//",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "\u{202e}<script>alert(1)</script>\u{2066}",
    "<div hx-get=\"http://evil.example/\" hx-trigger=load>",
];

/// Whether a page holds a text as markup: unescaped, or as the target of a link or a form.
pub fn holds_as_markup(page: &str, text: &str) -> bool {
    let escapes = text.contains(['<', '>', '"', '\'', '&']);
    let target = |attribute: &str| page.contains(&format!("{attribute}=\"{text}"));
    escapes && page.contains(text) || ["href", "src", "action", "formaction", "hx-get"].iter().any(|it| target(it))
}

#[test]
fn markup_is_found() {
    let script = HOSTILE[0];
    assert!(holds_as_markup(&format!("<p>{script}</p>"), script));
    assert!(!holds_as_markup("<p>&#60;script&#62;alert(1)&#60;/script&#62;</p>", script));
    assert!(holds_as_markup("<a href=\"javascript:alert(1)\">", HOSTILE[6]));
    assert!(!holds_as_markup("<p>javascript:alert(1)</p>", HOSTILE[6]));
}

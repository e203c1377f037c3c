//! What others send costs memory in proportion to its length.

use carillon_protocol::{LogAnswer, parse_answer, parse_callbacks, parse_log_page};

/// The most memory that this process has ever had resident, in bytes.
#[expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib: usize = line.unwrap().split_whitespace().nth(1).unwrap().parse().unwrap();
    kib << 10
}

/// As long as a callback may be, and worth 4 million values.
fn zeros() -> String {
    format!("[{}0]", "0,".repeat(4_000_000))
}

// covers: V12.7
#[test]
fn a_member_that_is_no_text_is_not_read_into_a_tree() {
    let zeros = zeros();
    let bodies = [
        format!(r#"[{{"logId":1,"handleCode":500,"handleMsg":{zeros}}}]"#),
        format!(r#"{{"code":200,"content":{zeros}}}"#),
        format!(r#"{{"code":200,"data":{{"logContent":{zeros},"isEnd":{zeros}}}}}"#),
    ];
    let before = peak();
    let items = parse_callbacks(bodies[0].as_bytes()).unwrap().items;
    assert_eq!(items[0].message.as_deref(), Some(&*zeros));
    drop(items);
    parse_answer(200, bodies[1].as_bytes());
    let LogAnswer::Page(page) = parse_log_page(bodies[2].as_bytes()).unwrap() else { panic!("no page") };
    assert_eq!((page.content.len(), page.is_end), (zeros.len(), false));
    let grown = peak() - before;
    assert!(grown < 64 << 20, "{} MiB for bodies of 8 MiB", grown >> 20);
    // Millions of results that cannot be used.
    let before = peak();
    let found = parse_callbacks(zeros.as_bytes()).unwrap();
    assert_eq!((found.items.len(), found.unusable), (0, 4_000_001));
    let grown = peak() - before;
    assert!(grown < 64 << 20, "{} MiB for a body of 8 MiB", grown >> 20);
}

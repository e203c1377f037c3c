//! The blocks of a Markdown file.

/// What stands between two fences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The word behind the fence; empty if there is none.
    pub language: String,
    /// Without the indentation of its fence.
    pub text: String,
    /// The number of its fence's line.
    pub line: usize,
    /// The number of headings before it.
    pub section: usize,
}

/// A block of commands, and what it must print.
#[derive(Debug)]
pub struct Commands {
    pub block: Block,
    pub output: Option<String>,
}

pub fn blocks(markdown: &str) -> Vec<Block> {
    let (mut blocks, mut open, mut section) = (Vec::<Block>::new(), None, 0);
    for (index, line) in markdown.lines().enumerate() {
        let indent = line.len() - line.trim_start().len();
        let fence = line.trim_start().strip_prefix("```");
        match (open, fence) {
            (None, Some(language)) => {
                let language = language.trim().to_owned();
                blocks.push(Block { language, text: String::new(), line: index + 1, section });
                open = Some(indent);
            }
            (None, None) => section += usize::from(line.starts_with('#')),
            (Some(_), Some(_)) => open = None,
            (Some(fence), None) => {
                let text = &mut blocks.last_mut().unwrap().text;
                text.push_str(line.get(fence.min(indent)..).unwrap_or_default());
                text.push('\n');
            }
        }
    }
    assert!(open.is_none(), "the last block has no end");
    blocks
}

/// The blocks of commands. A `text` block that comes next in the same section is the output.
pub fn commands(markdown: &str) -> Vec<Commands> {
    let blocks = blocks(markdown);
    let next = blocks.iter().skip(1).map(Some).chain([None]);
    let both = blocks.iter().zip(next).filter(|(block, _)| block.language == "sh");
    both.map(|(block, next)| {
        let output = next.filter(|next| next.language == "text" && next.section == block.section);
        Commands { block: block.clone(), output: output.map(|it| it.text.clone()) }
    })
    .collect()
}

/// Why this block would escape the test: another name for a shell's language, or a session with prompts.
pub fn disguised(block: &Block) -> Option<&'static str> {
    if ["bash", "shell", "console", "zsh", "shell-session"].contains(&block.language.as_str()) {
        return Some("commands are written in blocks of `sh`");
    }
    let is_prompt = |line: &str| line.starts_with("$ ") || line.starts_with("# carillon");
    let is_session = block.language == "text" && block.text.lines().any(is_prompt);
    is_session.then_some("commands stand in a block of `sh` before their output, without a prompt")
}

#[test]
fn blocks_are_found_with_their_outputs() {
    let text = "# A\n```sh\none\n```\nIt says:\n```text\n1\n```\n1. list\n   ```sh\n   two\n     more\n   ```\n## B\n```text\nother\n```\n";
    let found = commands(text);
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].block.text.as_str(), found[0].output.as_deref()), ("one\n", Some("1\n")));
    assert_eq!((found[1].block.text.as_str(), found[1].output.as_deref()), ("two\n  more\n", None));
    assert_eq!(found[1].block.line, 10);
    let disguises = ["```bash\nls\n```\n", "```text\n$ ls\n```\n", "```text\n# carillon serve\n```\n"];
    for text in disguises {
        assert!(disguised(&blocks(text)[0]).is_some(), "{text}");
    }
    assert!(disguised(&blocks("```text\nls\n```\n")[0]).is_none());
}

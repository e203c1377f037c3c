//! Which crates and which rooms a source names: its paths, with `use` trees spelled out.
//!
//! The source is cut into tokens as the compiler cuts it, so comments and literals say nothing, and what is written
//! inside macros and attributes counts.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

use super::tree::Source;

/// Words after which a path may start with `::`, and which are no part of it.
const BEFORE_A_PATH: [&str; 12] =
    ["use", "in", "as", "return", "impl", "for", "dyn", "mut", "where", "match", "if", "pub"];

/// A path of at least two segments, or a single name after `use`.
pub struct Name {
    pub line: usize,
    /// `crate::store::Store` -> `["crate", "store", "Store"]`. `super` and `self` at the start are resolved to `crate`.
    pub segments: Vec<String>,
}

/// Every path in the source.
pub fn names(source: &Source) -> Vec<Name> {
    let tokens: TokenStream = source.text.parse().unwrap_or_else(|error| panic!("{}: {error}", source.path));
    let mut reader = Reader { module: module(&source.path), names: Vec::new() };
    reader.read(tokens, &[]);
    reader.names
}

/// `store/mod.rs` -> `[store]`, `store/claim.rs` -> `[store, claim]`, `lib.rs` -> `[]`.
fn module(path: &str) -> Vec<String> {
    let path = path.strip_suffix(".rs").unwrap_or(path);
    let path = path.strip_suffix("/mod").unwrap_or(path);
    match path {
        "lib" | "main" => Vec::new(),
        path => path.split('/').map(str::to_owned).collect(),
    }
}

struct Reader {
    module: Vec<String>,
    names: Vec<Name>,
}

impl Reader {
    /// Reads tokens that continue the path `prefix`: not empty inside the braces of a `use` tree.
    fn read(&mut self, tokens: TokenStream, prefix: &[String]) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            at = match &tokens[at] {
                TokenTree::Ident(first) if first == "mod" => self.inline_module(&tokens, at),
                TokenTree::Ident(word) if BEFORE_A_PATH.iter().any(|w| word == w) => at + 1,
                TokenTree::Ident(_) => self.path(&tokens, at, prefix),
                TokenTree::Group(group) => {
                    self.read(group.stream(), prefix);
                    at + 1
                }
                _ => at + 1,
            };
        }
    }

    /// `mod tests { … }`: `super` means one more level in there. Gives the place after it.
    fn inline_module(&mut self, tokens: &[TokenTree], at: usize) -> usize {
        if let (Some(TokenTree::Ident(name)), Some(TokenTree::Group(body))) = (tokens.get(at + 1), tokens.get(at + 2)) {
            self.module.push(name.to_string());
            self.read(body.stream(), &[]);
            self.module.pop();
            return at + 3;
        }
        at + 1
    }

    /// One path from its first segment. Gives the place after it.
    fn path(&mut self, tokens: &[TokenTree], start: usize, prefix: &[String]) -> usize {
        let mut segments = prefix.to_vec();
        let mut at = start;
        while let Some(TokenTree::Ident(segment)) = tokens.get(at) {
            segments.push(segment.to_string().trim_start_matches("r#").to_owned());
            at += 1;
            if !is_path_separator(tokens, at) {
                break;
            }
            at += 2;
            if let Some(TokenTree::Group(tree)) = tokens.get(at)
                && tree.delimiter() == Delimiter::Brace
            {
                self.read(tree.stream(), &segments);
                return at + 1;
            }
        }
        let after_use = tokens[..start].iter().rev().find(|token| !is_colon(token));
        let after_use = matches!(after_use, Some(TokenTree::Ident(word)) if word == "use" || word == "crate");
        if segments.len() > 1 || after_use {
            let line = tokens[start].span().start().line;
            let segments = self.resolve(segments);
            self.names.push(Name { line, segments });
        }
        at
    }

    /// `super::x` in `store/claim.rs` -> `crate::store::x`; a path that starts with a name stays as it is.
    fn resolve(&self, segments: Vec<String>) -> Vec<String> {
        let ups = segments.iter().take_while(|segment| *segment == "super").count();
        let selves = usize::from(segments[0] == "self");
        if ups + selves == 0 {
            return segments;
        }
        let from = &self.module[..self.module.len().saturating_sub(ups)];
        let start = std::iter::once("crate".to_owned()).chain(from.iter().cloned());
        start.chain(segments.into_iter().skip(ups + selves)).collect()
    }
}

fn is_path_separator(tokens: &[TokenTree], at: usize) -> bool {
    let joint = matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.spacing() == Spacing::Joint);
    joint && tokens.get(at).is_some_and(is_colon) && tokens.get(at + 1).is_some_and(is_colon)
}

fn is_colon(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':')
}

//! Lines of CSV files for spreadsheets.

use std::fmt::Write as _;

pub fn line<const N: usize>(cells: [String; N]) -> String {
    let mut line = String::new();
    for (place, text) in cells.iter().enumerate() {
        let comma = if place == 0 { "" } else { "," };
        // Writing to a text cannot fail.
        let _ = write!(line, "{comma}{}", cell(text));
    }
    line + "\r\n"
}

/// With which formulas begin; the wide ones in a spreadsheet of East Asia.
const FORMULA: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// A spreadsheet takes a cell that begins like a formula for one; an apostrophe before it makes it a text.
fn cell(text: &str) -> String {
    let is_formula = text.starts_with(FORMULA);
    let guard = if is_formula { "'" } else { "" };
    match is_formula || text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{guard}{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: S37
    #[test]
    fn no_cell_is_a_formula() {
        for formula in ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1+1", "＋1", "－1", "＠SUM(A1)"]
        {
            assert_eq!(cell(formula), format!("\"'{formula}\""));
        }
        assert_eq!(cell("plain text"), "plain text");
        assert_eq!(cell("a,\"b\"\n"), "\"a,\"\"b\"\"\n\"");
        assert_eq!(line(["a".into(), "=b".into()]), "a,\"'=b\"\r\n");
    }
}

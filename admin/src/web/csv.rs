//! Lines of CSV files for spreadsheets.

/// Before the first line, on demand: Excel takes a file without it for one in the code page of the machine.
pub const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The head of a file.
pub fn head<const N: usize>(columns: [&str; N], with_mark: bool) -> String {
    let mark = if with_mark { BYTE_ORDER_MARK } else { "" };
    format!("{mark}{}", line(columns.map(str::to_owned)))
}

pub fn line<const N: usize>(cells: [String; N]) -> String {
    cells.map(|text| cell(&text)).join(",") + "\r\n"
}

/// With which formulas begin; the wide ones in a spreadsheet of East Asia.
const FORMULA: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// In quotation marks, as spreadsheets of some countries separate cells by `;`. A spreadsheet takes a cell that begins like a formula
/// for one; an apostrophe before it makes it a text.
fn cell(text: &str) -> String {
    let guard = if text.starts_with(FORMULA) { "'" } else { "" };
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
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
        assert_eq!(cell("a,\"b\"\n"), "\"a,\"\"b\"\"\n\"");
        assert_eq!(line(["a".into(), "=b".into()]), "\"a\",\"'=b\"\r\n");
    }

    // covers: W17
    #[test]
    fn each_cell_is_quoted() {
        // Where `;` separates cells, the second one would begin a formula.
        assert_eq!(line(["plain".into(), "a;=1+1".into(), String::new()]), "\"plain\",\"a;=1+1\",\"\"\r\n");
        assert_eq!(head(["id", "name"], true), "\u{feff}\"id\",\"name\"\r\n");
        assert_eq!(head(["id", "name"], false), "\"id\",\"name\"\r\n");
    }
}

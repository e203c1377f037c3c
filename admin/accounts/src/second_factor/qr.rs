//! A QR code as the path of an SVG image.

use qrcode::{Color, QrCode};

/// Free space around it, in squares, that readers need.
const MARGIN: usize = 4;

/// Its width in squares, and the path of the dark ones. None: the text is too long.
pub fn path(text: &str) -> Option<(usize, String)> {
    let code = QrCode::new(text).ok()?;
    let (width, colors) = (code.width(), code.to_colors());
    let mut path = String::new();
    for (y, row) in colors.chunks(width).enumerate() {
        let mut x = 0;
        for run in row.chunk_by(|one, next| one == next) {
            if run[0] == Color::Dark {
                path.push_str(&format!("M{} {}h{}v1h-{}z", x + MARGIN, y + MARGIN, run.len(), run.len()));
            }
            x += run.len();
        }
    }
    Some((width + 2 * MARGIN, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_has_the_corner_squares() {
        let (width, path) = path("otpauth://totp/Carillon:ada?secret=ABCD").unwrap();
        assert_eq!((width - 8) % 4, 1, "QR codes have 21, 25, 29, … squares");
        assert!(path.starts_with("M4 4h7v1h-7z"), "{path}");
        assert!(super::path(&"x".repeat(10_000)).is_none());
    }
}

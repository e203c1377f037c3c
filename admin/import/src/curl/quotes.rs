//! `$'…'` of bash, in which browsers write texts with quotes and line ends.

use std::iter::Peekable;
use std::str::Chars;

/// The text up to the quotation mark at its end, and whether there is one. No text: an escape in it is not a character.
pub(super) fn ansi_quoted(chars: &mut Peekable<Chars<'_>>) -> (Option<String>, bool) {
    let mut bytes = vec![];
    let mut is_right = true;
    while let Some(c) = chars.next() {
        match c {
            '\'' => return (String::from_utf8(bytes).ok().filter(|_| is_right), true),
            '\\' => is_right &= escape(chars, &mut bytes).is_some(),
            _ => push(&mut bytes, c),
        }
    }
    (Some(String::new()), false)
}

/// What follows a backslash. None: a number that is not a character.
fn escape(chars: &mut Peekable<Chars<'_>>, bytes: &mut Vec<u8>) -> Option<()> {
    // At the end of the text the quote is not closed.
    let Some(c) = chars.next() else { return Some(()) };
    match c {
        'n' => bytes.push(b'\n'),
        'r' => bytes.push(b'\r'),
        't' => bytes.push(b'\t'),
        'a' => bytes.push(0x07),
        'b' => bytes.push(0x08),
        'v' => bytes.push(0x0b),
        'f' => bytes.push(0x0c),
        'e' | 'E' => bytes.push(0x1b),
        '\\' | '\'' | '"' | '?' => push(bytes, c),
        'x' => bytes.push(u8::try_from(number(&digits(chars, 16, 2), 16)?).ok()?),
        'u' => push(bytes, unicode(chars)?),
        'U' => push(bytes, char::from_u32(number(&digits(chars, 16, 8), 16)?)?),
        '0'..='7' => {
            let number = number(&format!("{c}{}", digits(chars, 8, 2)), 8)?;
            bytes.push(u8::try_from(number & 0xff).ok()?);
        }
        _ => {
            bytes.push(b'\\');
            push(bytes, c);
        }
    }
    Some(())
}

/// Browsers write a character beyond U+FFFF as two escapes.
fn unicode(chars: &mut Peekable<Chars<'_>>) -> Option<char> {
    let first = number(&digits(chars, 16, 4), 16)?;
    if !(0xd800..0xdc00).contains(&first) {
        return char::from_u32(first);
    }
    chars.next_if_eq(&'\\')?;
    chars.next_if_eq(&'u')?;
    let second = number(&digits(chars, 16, 4), 16)?;
    let pair = [u16::try_from(first).ok()?, u16::try_from(second).ok()?];
    char::decode_utf16(pair).next()?.ok()
}

fn digits(chars: &mut Peekable<Chars<'_>>, radix: u32, most: usize) -> String {
    let mut found = String::new();
    while found.len() < most
        && let Some(digit) = chars.next_if(|c| c.is_digit(radix))
    {
        found.push(digit);
    }
    found
}

fn number(digits: &str, radix: u32) -> Option<u32> {
    u32::from_str_radix(digits, radix).ok()
}

fn push(bytes: &mut Vec<u8>, c: char) {
    bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
}

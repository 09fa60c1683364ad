//! Reads one JSON value and forgives what judges do to JSON, as long as only one reading is
//! possible: raw control characters in strings, comments, trailing commas, single or curly quotes,
//! bare keys, Python's and JavaScript's words, lone surrogates. Text inside strings is never changed.
//! One pass, no going back: time is linear in what is read.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// Values deeper than this are refused. Stage replies are four deep; `serde_json` allows 128.
const MAX_DEPTH: usize = 64;

/// What is expected where a value should stand.
pub(super) const VALUE: &str = "a JSON value";

/// Why no value could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The text ended first.
    End,
    /// Something else stood at this byte.
    Bad { at: usize, expected: &'static str },
}

/// Reads values from a text at a given byte.
pub(super) struct Reader<'text> {
    text: &'text str,
    at: usize,
    depth: usize,
    colons: usize,
    mended: BTreeSet<&'static str>,
}

impl<'text> Reader<'text> {
    /// A reader that starts at a byte of the text, which must be a character's first.
    pub(super) fn new(text: &'text str, at: usize) -> Self {
        Self {
            text,
            at,
            depth: 0,
            colons: 0,
            mended: BTreeSet::new(),
        }
    }

    /// One past the last byte read.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// True once a key with its colon was read: what looked like an object was meant as one.
    pub(super) fn met_a_member(&self) -> bool {
        self.colons > 0
    }

    /// What was forgiven, in words.
    pub(super) fn into_mended(self) -> BTreeSet<&'static str> {
        self.mended
    }

    /// Reads a value.
    pub(super) fn value(&mut self) -> Result<Value, Stop> {
        self.space()?;
        match self.peek() {
            None => Err(Stop::End),
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'0'..=b'9' | b'-' | b'+' | b'.') => self.number(),
            Some(byte) if is_word_start(byte) => self.word_value(),
            Some(_) => match self.quoted()? {
                Some(text) => Ok(Value::String(text)),
                None => Err(self.bad(VALUE)),
            },
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Value, Stop>) -> Result<Value, Stop> {
        if self.depth == MAX_DEPTH {
            return Err(self.bad("a value less deeply nested"));
        }
        self.depth += 1;
        self.at += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn object(&mut self) -> Result<Value, Stop> {
        let mut map = Map::new();
        self.space()?;
        while self.peek() != Some(b'}') {
            let key = self.key()?;
            self.space()?;
            self.expect(b':', "a colon after the key")?;
            self.colons += 1;
            let value = self.value()?;
            map.insert(key, value);
            if !self.comma(b'}', "a comma or a closing brace")? {
                break;
            }
        }
        self.at += 1;
        Ok(Value::Object(map))
    }

    fn array(&mut self) -> Result<Value, Stop> {
        let mut items = Vec::new();
        self.space()?;
        while self.peek() != Some(b']') {
            items.push(self.value()?);
            if !self.comma(b']', "a comma or a closing bracket")? {
                break;
            }
        }
        self.at += 1;
        Ok(Value::Array(items))
    }

    /// After an item: true when another may follow. A comma before the closing mark is forgiven.
    fn comma(&mut self, close: u8, expected: &'static str) -> Result<bool, Stop> {
        self.space()?;
        match self.peek() {
            None => Err(Stop::End),
            Some(b',') => {
                self.at += 1;
                self.space()?;
                if self.peek() == Some(close) {
                    self.mended.insert("trailing commas");
                }
                Ok(true)
            }
            Some(byte) if byte == close => Ok(false),
            Some(_) => Err(self.bad(expected)),
        }
    }

    fn key(&mut self) -> Result<String, Stop> {
        match self.peek() {
            None => Err(Stop::End),
            Some(byte) if is_word_start(byte) => {
                self.mended.insert("keys without quotation marks");
                Ok(self.word().to_owned())
            }
            Some(_) => self.quoted()?.ok_or_else(|| self.bad("a key in quotation marks")),
        }
    }

    /// A string in any kind of quotation marks; `None` when none opens here.
    fn quoted(&mut self) -> Result<Option<String>, Stop> {
        let (open, close) = match self.peek() {
            Some(b'"') => (1, "\""),
            Some(b'\'') => (1, "'"),
            Some(_) if self.rest().starts_with('\u{201c}') => ('\u{201c}'.len_utf8(), "\u{201d}"),
            _ => return Ok(None),
        };
        if close != "\"" {
            self.mended.insert("other quotation marks");
        }
        self.at += open;
        self.string_until(close).map(Some)
    }

    fn string_until(&mut self, close: &str) -> Result<String, Stop> {
        let mut text = String::new();
        let mut copied = self.at;
        loop {
            let Some(byte) = self.peek() else {
                return Err(Stop::End);
            };
            if self.rest().starts_with(close) {
                text.push_str(self.slice(copied, self.at));
                self.at += close.len();
                return Ok(text);
            }
            if byte == b'\\' {
                text.push_str(self.slice(copied, self.at));
                self.escape(&mut text)?;
                copied = self.at;
                continue;
            }
            if byte < 0x20 {
                self.mended.insert("raw line breaks or control characters in strings");
            }
            self.at += char_len(byte);
        }
    }

    /// At a backslash. What is no escape of JSON stands for itself, backslash and all.
    fn escape(&mut self, text: &mut String) -> Result<(), Stop> {
        let Some(byte) = self.byte(self.at + 1) else {
            return Err(Stop::End);
        };
        let plain = match byte {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode_escape(text),
            b'\'' => {
                self.mended.insert("escapes that JSON does not know");
                '\''
            }
            _ => {
                self.mended.insert("escapes that JSON does not know");
                text.push('\\');
                self.at += 1;
                return Ok(());
            }
        };
        text.push(plain);
        self.at += 2;
        Ok(())
    }

    fn unicode_escape(&mut self, text: &mut String) -> Result<(), Stop> {
        let Some(first) = self.hex4(self.at + 2) else {
            if self.at + 6 > self.text.len() {
                return Err(Stop::End);
            }
            self.mended.insert("escapes that JSON does not know");
            text.push('\\');
            self.at += 1;
            return Ok(());
        };
        let second = (self.slice(self.at + 6, self.at + 8) == "\\u")
            .then(|| self.hex4(self.at + 8))
            .flatten();
        if let Some(Ok(c)) = second.and_then(|low| char::decode_utf16([first, low]).next())
            && u32::from(c) > 0xffff
        {
            text.push(c);
            self.at += 12;
            return Ok(());
        }
        if let Some(c) = char::from_u32(u32::from(first)) {
            text.push(c);
        } else {
            self.mended.insert("lone surrogates");
            text.push(char::REPLACEMENT_CHARACTER);
        }
        self.at += 6;
        Ok(())
    }

    fn hex4(&self, at: usize) -> Option<u16> {
        let digits = self.text.get(at..at + 4)?;
        digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(())?;
        u16::from_str_radix(digits, 16).ok()
    }

    fn number(&mut self) -> Result<Value, Stop> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')) {
            self.at += 1;
        }
        let digits = self.slice(start, self.at);
        if matches!(digits, "-" | "+") && self.peek().is_some_and(is_word_start) {
            return match self.word() {
                "Infinity" | "inf" | "Inf" | "NaN" | "nan" => Ok(self.no_number()),
                _ => Err(Stop::Bad {
                    at: start,
                    expected: VALUE,
                }),
            };
        }
        if self.peek().is_none() && self.depth > 0 {
            return Err(Stop::End);
        }
        serde_json::from_str::<serde_json::Number>(digits)
            .map(Value::Number)
            .map_err(|_| Stop::Bad {
                at: start,
                expected: VALUE,
            })
    }

    fn no_number(&mut self) -> Value {
        self.mended.insert("NaN or infinity");
        Value::Null
    }

    fn word_value(&mut self) -> Result<Value, Stop> {
        let start = self.at;
        let word = self.word();
        let value = match word {
            "true" => return Ok(Value::Bool(true)),
            "false" => return Ok(Value::Bool(false)),
            "null" => return Ok(Value::Null),
            "True" | "TRUE" => Value::Bool(true),
            "False" | "FALSE" => Value::Bool(false),
            "None" | "NULL" | "Null" | "undefined" | "nil" => Value::Null,
            "NaN" | "nan" | "Infinity" | "inf" => return Ok(self.no_number()),
            _ if self.peek().is_none() => return Err(Stop::End),
            _ => {
                return Err(Stop::Bad {
                    at: start,
                    expected: VALUE,
                });
            }
        };
        self.mended.insert("words that JSON does not know");
        Ok(value)
    }

    fn word(&mut self) -> &'text str {
        let start = self.at;
        while self
            .peek()
            .is_some_and(|byte| is_word_start(byte) || byte.is_ascii_digit() || byte == b'-')
        {
            self.at += 1;
        }
        self.slice(start, self.at)
    }

    /// White space and comments.
    fn space(&mut self) -> Result<(), Stop> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                Some(b'#') => self.comment_to("\n")?,
                Some(b'/') if self.byte(self.at + 1) == Some(b'/') => self.comment_to("\n")?,
                Some(b'/') if self.byte(self.at + 1) == Some(b'*') => {
                    self.at += 2;
                    self.comment_to("*/")?;
                }
                Some(0xa0..) => match self.rest().chars().next() {
                    Some(c) if c.is_whitespace() || c == '\u{feff}' => {
                        self.mended.insert("white space that JSON does not know");
                        self.at += c.len_utf8();
                    }
                    _ => return Ok(()),
                },
                _ => return Ok(()),
            }
        }
    }

    fn comment_to(&mut self, close: &str) -> Result<(), Stop> {
        self.mended.insert("comments");
        let Some(found) = memchr::memmem::find(self.rest().as_bytes(), close.as_bytes()) else {
            self.at = self.text.len();
            return Err(Stop::End);
        };
        self.at += found + close.len();
        Ok(())
    }

    fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), Stop> {
        match self.peek() {
            None => Err(Stop::End),
            Some(found) if found == byte => {
                self.at += 1;
                Ok(())
            }
            Some(_) => Err(self.bad(expected)),
        }
    }

    fn bad(&self, expected: &'static str) -> Stop {
        Stop::Bad { at: self.at, expected }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn peek(&self) -> Option<u8> {
        self.byte(self.at)
    }

    fn rest(&self) -> &'text str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn slice(&self, start: usize, end: usize) -> &'text str {
        self.text.get(start..end).unwrap_or("")
    }
}

fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$'
}

/// Bytes of the character that starts with this byte.
fn char_len(first: u8) -> usize {
    match first {
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0.. => 4,
        _ => 1,
    }
}

//! Bytes to chunks: a line of JSONL, or the lines of one JSON document.
//!
//! Only `\n` ends a line. A raw U+2028 or U+0085 inside a string is text, whatever other
//! readers make of it.

use std::io::{self, BufRead};

/// Where the lines of a file come from, with room to give lines back.
pub(super) struct Lines<R> {
    reader: R,
    /// Bytes given back, to be read again before the reader's.
    carry: Vec<u8>,
    carry_at: usize,
    /// Number of the last line handed out, 1-based.
    number: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self {
            reader,
            carry: Vec::new(),
            carry_at: 0,
            number: 0,
        }
    }

    /// Number of the last line handed out.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Appends the next line, its `\n` included. `false` at the end of the file.
    pub(super) fn append(&mut self, buffer: &mut Vec<u8>) -> io::Result<bool> {
        let rest = self.carry.get(self.carry_at..).unwrap_or_default();
        if !rest.is_empty() {
            let take = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
            buffer.extend_from_slice(rest.get(..take).unwrap_or_default());
            self.carry_at += take;
            if self.carry_at >= self.carry.len() {
                self.carry = Vec::new();
                self.carry_at = 0;
            }
            self.number += 1;
            return Ok(true);
        }
        let read = self.reader.read_until(b'\n', buffer)?;
        self.number += u64::from(read > 0);
        Ok(read > 0)
    }

    /// Replaces the buffer by the next line that is not blank.
    pub(super) fn next(&mut self, buffer: &mut Vec<u8>) -> io::Result<bool> {
        loop {
            buffer.clear();
            if !self.append(buffer)? {
                return Ok(false);
            }
            if !is_blank(buffer) {
                return Ok(true);
            }
        }
    }

    /// Takes whole lines back, so that the next read hands them out again.
    pub(super) fn give_back(&mut self, lines: &[u8]) {
        let count = memchr::memchr_iter(b'\n', lines).count() + usize::from(!lines.ends_with(b"\n"));
        let rest = self.carry.get(self.carry_at..).unwrap_or_default();
        let mut carry = Vec::with_capacity(lines.len() + rest.len());
        carry.extend_from_slice(lines);
        carry.extend_from_slice(rest);
        self.carry = carry;
        self.carry_at = 0;
        self.number = self.number.saturating_sub(count as u64);
    }

    /// Is there nothing but blank lines left? Reads ahead one line and gives it back.
    pub(super) fn at_end(&mut self) -> io::Result<bool> {
        let before = self.number;
        let mut line = Vec::new();
        if !self.next(&mut line)? {
            self.number = before;
            return Ok(true);
        }
        self.give_back(&line);
        Ok(false)
    }
}

/// White space, a byte order mark and the record separator of JSON text sequences only.
pub(super) fn is_blank(line: &[u8]) -> bool {
    strip_marks(line).iter().all(u8::is_ascii_whitespace)
}

/// The line without a leading byte order mark or record separator (U+001E).
pub(super) fn strip_marks(mut line: &[u8]) -> &[u8] {
    loop {
        let rest = line
            .strip_prefix(b"\xef\xbb\xbf")
            .or_else(|| line.strip_prefix(b"\x1e"));
        match rest {
            Some(rest) => line = rest,
            None => return line,
        }
    }
}

/// What became of a line that does not stand on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joined {
    /// The buffer now holds a whole document.
    Whole,
    /// It cannot be joined with what follows: a line was cut, or the text is not JSON.
    Torn,
    /// The file ended first.
    Cut,
}

/// Joins lines to the first one until brackets and strings close. With [`Joined::Torn`] and
/// [`Joined::Cut`] the buffer keeps the failed part only; lines after it that stand on their
/// own are given back, so that one cut line never takes its neighbours with it.
pub(super) fn join<R: BufRead>(lines: &mut Lines<R>, buffer: &mut Vec<u8>) -> io::Result<Joined> {
    let mut nesting = Nesting::default();
    if !nesting.feed(buffer) {
        return Ok(Joined::Torn);
    }
    let mut starts = Vec::new();
    let end = loop {
        if nesting.closed() {
            return Ok(Joined::Whole);
        }
        let from = buffer.len();
        if !lines.append(buffer)? {
            break Joined::Cut;
        }
        starts.push(from);
        if !nesting.feed(buffer.get(from..).unwrap_or_default()) {
            break Joined::Torn;
        }
    };
    let mut bounds = starts
        .iter()
        .copied()
        .zip(starts.iter().skip(1).copied().chain([buffer.len()]));
    let own = bounds.find(|&(from, to)| buffer.get(from..to).is_some_and(stands_alone));
    if let Some((from, _)) = own {
        lines.give_back(buffer.get(from..).unwrap_or_default());
        buffer.truncate(from);
    }
    Ok(end)
}

/// Does this line, from its first column, hold a whole object or list (a comma may follow)?
pub(super) fn stands_alone(line: &[u8]) -> bool {
    let line = strip_marks(line).trim_ascii_end();
    let line = line.strip_suffix(b",").unwrap_or(line);
    let mut nesting = Nesting::default();
    matches!(line.first(), Some(b'{' | b'[')) && line.len() > 2 && nesting.feed(line) && nesting.closed()
}

/// Where the bracket that opens `text` closes, strings minded.
pub(super) fn object_end(text: &[u8]) -> Option<usize> {
    let mut nesting = Nesting::default();
    text.iter().enumerate().find_map(|(at, byte)| {
        let sound = nesting.byte(*byte);
        (!sound || nesting.closed()).then_some(sound.then_some(at + 1))
    })?
}

/// The text up to the last bracket that closes before byte `end`, with everything closed that
/// is open there, and how much of the text that keeps.
pub(super) fn close(text: &str, end: usize) -> Option<(String, usize)> {
    let mut nesting = Nesting::default();
    let mut last = None;
    for (at, byte) in text.bytes().enumerate().take(end) {
        let sound = nesting.byte(byte);
        if sound && matches!(byte, b'}' | b']') && !nesting.in_string && !nesting.open.is_empty() {
            last = Some((at + 1, nesting.open.clone()));
        }
        if !sound {
            break;
        }
    }
    let (kept, open) = last?;
    let mut closed = text.get(..kept)?.to_owned();
    closed.extend(open.iter().rev().map(|opener| if *opener == b'{' { '}' } else { ']' }));
    Some((closed, kept))
}

/// Only closing brackets and commas: the tail of a broken document.
pub(super) fn is_closing(line: &[u8]) -> bool {
    line.iter()
        .all(|byte| matches!(byte, b'}' | b']' | b',') || byte.is_ascii_whitespace())
}

/// Brackets and strings of JSON text, followed byte by byte over many lines.
#[derive(Default)]
struct Nesting {
    open: Vec<u8>,
    in_string: bool,
    escaped: bool,
    /// Last byte that is not white space, outside strings.
    last: u8,
}

impl Nesting {
    /// Everything opened is closed.
    fn closed(&self) -> bool {
        self.open.is_empty() && !self.in_string
    }

    /// Follows one line. `false` when no continuation can make this JSON: a string that runs
    /// over the line's end, a bracket that does not match, a value where none can stand.
    fn feed(&mut self, line: &[u8]) -> bool {
        line.iter().all(|byte| self.byte(*byte))
            // The last line of a file has no `\n`; a string open there is cut all the same.
            && (!self.in_string || line.ends_with(b"\n"))
    }

    fn byte(&mut self, byte: u8) -> bool {
        if self.in_string {
            match byte {
                b'\n' => return false,
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return true;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => {
                if !self.open.is_empty() && !matches!(self.last, b'[' | b',' | b':') {
                    return false;
                }
                self.open.push(byte);
            }
            b'}' | b']' => {
                let opener = if byte == b'}' { b'{' } else { b'[' };
                if self.open.pop() != Some(opener) {
                    return false;
                }
            }
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            self.last = byte;
        }
        true
    }
}

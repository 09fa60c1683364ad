//! Reading records out of JSON Lines or one JSON document, a row at a time.

use std::io::{self, BufRead};

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// A row type that may wrap further rows in an `items` list, as the published `summary.json` does.
pub trait Row: DeserializeOwned {
    /// The raw `items` member, when the row has one.
    fn items(&mut self) -> Option<Box<RawValue>>;
}

/// Calls `each` for every record with the 1-based line it starts on (`None` inside a file that
/// is one JSON document) and the record or why it could not be read.
///
/// The form is told from the content: a first line that is a whole JSON value makes the file
/// JSON Lines, anything else is read as one document; a list, or an object with a list under
/// `items`, stands for its elements. A byte order mark, blank lines and CRLF are passed over.
/// A bad record does not end the file. Memory holds one line, or one document.
///
/// # Errors
/// Only what the reader itself reports.
pub fn for_each_row<T: Row>(
    mut reader: impl BufRead,
    mut each: impl FnMut(Option<u64>, Result<T, serde_json::Error>),
) -> io::Result<()> {
    let mut buffer = Vec::new();
    let mut line = 0_u64;
    let mut first = true;
    loop {
        buffer.clear();
        if reader.read_until(b'\n', &mut buffer)? == 0 {
            return Ok(());
        }
        line += 1;
        let text = trim(if line == 1 { without_mark(&buffer) } else { &buffer });
        if text.is_empty() {
            continue;
        }
        if std::mem::take(&mut first) && opens_document(text) {
            let start = line;
            let mut document = text.to_vec();
            document.push(b'\n');
            reader.read_to_end(&mut document)?;
            return read_document(&document, start, &mut each);
        }
        read_value(text, Some(line), &mut each);
    }
}

/// True when the line is the beginning of a longer value rather than a whole one.
fn opens_document(text: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(text).is_err_and(|error| error.is_eof())
}

fn read_document<T: Row>(
    document: &[u8],
    start: u64,
    each: &mut impl FnMut(Option<u64>, Result<T, serde_json::Error>),
) -> io::Result<()> {
    if serde_json::from_slice::<serde::de::IgnoredAny>(document).is_ok() {
        read_value(document, None, each);
        return Ok(());
    }
    // Not one document after all: JSON Lines with a torn first line.
    for (number, text) in (start..).zip(document.split(|byte| *byte == b'\n')) {
        let text = trim(text);
        if !text.is_empty() {
            read_value(text, Some(number), each);
        }
    }
    Ok(())
}

fn read_value<T: Row>(
    text: &[u8],
    line: Option<u64>,
    each: &mut impl FnMut(Option<u64>, Result<T, serde_json::Error>),
) {
    if text.first() == Some(&b'[') {
        match serde_json::from_slice::<Vec<&RawValue>>(text) {
            Ok(rows) => rows.iter().for_each(|row| each(line, serde_json::from_str(row.get()))),
            Err(error) => each(line, Err(error)),
        }
        return;
    }
    match serde_json::from_slice::<T>(text) {
        Ok(mut row) => match row.items().filter(|items| items.get().starts_with('[')) {
            Some(items) => read_value(items.get().as_bytes(), line, each),
            None => each(line, Ok(row)),
        },
        Err(error) => each(line, Err(error)),
    }
}

fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text)
}

fn trim(text: &[u8]) -> &[u8] {
    text.trim_ascii()
}

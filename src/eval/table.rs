//! Tables as aligned text, Markdown and CSV.

use unicode_width::UnicodeWidthStr;

/// A table of text cells. The first columns are left-aligned, the others right.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// What the table shows.
    pub title: String,
    /// Column heads.
    pub head: Vec<String>,
    /// Rows, each as long as the head.
    pub rows: Vec<Vec<String>>,
    /// How many columns are words, and left-aligned.
    pub words: usize,
}

impl Table {
    /// An empty table.
    #[must_use]
    pub fn new(title: impl Into<String>, head: &[&str]) -> Self {
        Self {
            title: title.into(),
            head: head.iter().map(|cell| (*cell).to_owned()).collect(),
            rows: Vec::new(),
            words: 1,
        }
    }

    /// The same table with the first `words` columns left-aligned.
    #[must_use]
    pub fn with_words(mut self, words: usize) -> Self {
        self.words = words;
        self
    }

    /// Aligned text: title, head, a rule, rows, each line ended by a newline. Cells are shown on one
    /// line each and without control characters, since they may come from a run.
    #[must_use]
    pub fn text(&self) -> String {
        let rows: Vec<Vec<String>> = std::iter::once(&self.head)
            .chain(&self.rows)
            .map(|row| row.iter().map(|cell| plain(cell)).collect())
            .collect();
        let mut widths: Vec<usize> = vec![0; self.head.len()];
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
        let mut out = format!("{}\n", plain(&self.title));
        for (number, row) in rows.iter().enumerate() {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let pad = " ".repeat(width.saturating_sub(cell.width()));
                if column > 0 {
                    line.push_str("  ");
                }
                let words = column < self.words;
                let parts = if words {
                    [cell.as_str(), pad.as_str()]
                } else {
                    [pad.as_str(), cell.as_str()]
                };
                line.extend(parts);
            }
            out.push_str(line.trim_end());
            out.push('\n');
            if number == 0 {
                let total = widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1);
                out.push_str(&"─".repeat(total));
                out.push('\n');
            }
        }
        out
    }

    /// A Markdown table under its title in bold.
    #[must_use]
    pub fn markdown(&self) -> String {
        let cell = |text: &String| {
            plain(text)
                .replace('\\', "\\\\")
                .replace('|', "\\|")
                .replace('<', "&lt;")
        };
        let line = |row: &Vec<String>| format!("| {} |\n", row.iter().map(cell).collect::<Vec<_>>().join(" | "));
        let rule: Vec<&str> = (0..self.head.len())
            .map(|column| if column < self.words { ":--" } else { "--:" })
            .collect();
        let mut out = format!(
            "**{}**\n\n{}| {} |\n",
            cell(&self.title),
            line(&self.head),
            rule.join(" | ")
        );
        self.rows.iter().for_each(|row| out.push_str(&line(row)));
        out
    }

    /// CSV (RFC 4180, LF) with the head as first line and without the title.
    #[must_use]
    pub fn csv(&self) -> String {
        let mut out = String::new();
        for row in std::iter::once(&self.head).chain(&self.rows) {
            let cells: Vec<String> = row.iter().map(|cell| csv_cell(cell)).collect();
            out.push_str(&cells.join(","));
            out.push('\n');
        }
        out
    }
}

fn csv_cell(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

/// The text on one line, with control and text-direction characters replaced.
fn plain(text: &str) -> String {
    let bidi = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars()
        .map(|c| if c.is_control() || bidi(c) { '\u{fffd}' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new("t", &["row", "x"]);
        table.rows = vec![
            vec!["日本".to_owned(), "1.0".to_owned()],
            vec!["a|\"b\u{1b}[31m".to_owned(), "–".to_owned()],
        ];
        table
    }

    #[test]
    fn text_is_aligned_by_display_width_and_harmless() {
        let text = table().text();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "row          x");
        assert_eq!(lines[3], "日本       1.0");
        assert!(!text.contains('\u{1b}'));
    }

    #[test]
    fn markdown_and_csv_quote_what_would_break_them() {
        assert!(table().markdown().contains("| a\\|\"b\u{fffd}[31m | – |"));
        assert_eq!(table().csv().lines().nth(2), Some("\"a|\"\"b\u{1b}[31m\",–"));
    }
}

//! Why a text is no answer, in words that the judge who wrote it can act on.

/// Characters of the judge's own text shown in an error.
const NEAR: usize = 40;

/// Why a reply does not read as its stage's answer. The message goes back to the judge on a re-ask,
/// so it says what to send instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// No text at all.
    #[error("the reply was empty; send one JSON object")]
    Empty,
    /// A reasoning block that never ends, or nothing after it.
    #[error("the reply held only reasoning and no answer after it; send one JSON object as the answer")]
    ReasoningOnly,
    /// Text without any object.
    #[error("the reply held no JSON object; send one JSON object and nothing else")]
    NoObject,
    /// The last object does not end.
    #[error(
        "the JSON object was not complete: the text ended after {chars} characters, before the object was closed; \
         send the whole object, with shorter texts"
    )]
    Cut {
        /// Unicode scalar values of the whole reply.
        chars: usize,
    },
    /// The object is not JSON, and mending it would be guessing.
    #[error("the reply was not valid JSON: {expected} was expected at line {line}, column {column}, near `{near}`")]
    Syntax {
        /// What should have stood there.
        expected: &'static str,
        /// 1-based line of the reply.
        line: usize,
        /// 1-based column in Unicode scalar values.
        column: usize,
        /// What stands there.
        near: String,
    },
    /// Valid JSON of another shape.
    #[error("the reply does not have the shape asked for: {problem}")]
    Shape {
        /// Which key, what is wrong with it, what is wanted.
        problem: String,
    },
    /// Several objects in one wrapper, of which any could be the answer.
    #[error("the reply held {count} objects side by side in one list or wrapper; send one JSON object")]
    Several {
        /// How many.
        count: usize,
    },
    /// Parts of an object outside any complete object.
    #[error(
        "parts of a JSON object stand outside the complete one, at line {line}, column {column}, near `{near}`; \
         escape quotation marks inside strings as \\\" and send one object"
    )]
    Loose {
        /// 1-based line of the reply.
        line: usize,
        /// 1-based column in Unicode scalar values.
        column: usize,
        /// What stands there.
        near: String,
    },
}

impl Misfit {
    /// A shape problem.
    pub(super) fn shape(problem: impl Into<String>) -> Self {
        Self::Shape {
            problem: problem.into(),
        }
    }

    /// A syntax problem at a byte of the text.
    pub(super) fn syntax(text: &str, at: usize, expected: &'static str) -> Self {
        let (line, column, near) = place(text, at);
        Self::Syntax {
            expected,
            line,
            column,
            near,
        }
    }

    /// A stray part of an object at a byte of the text.
    pub(super) fn loose(text: &str, at: usize) -> Self {
        let (line, column, near) = place(text, at);
        Self::Loose { line, column, near }
    }
}

/// Line and column (both 1-based) of a byte, and the text that follows it, on one line.
fn place(text: &str, at: usize) -> (usize, usize, String) {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let (before, after) = text.split_at(at);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    let near = after
        .chars()
        .take(NEAR)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    (line, column, near)
}

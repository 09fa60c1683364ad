//! Python's `repr` of dataclasses, as logs that store `str(step)` hold it.

use serde_json::Value;

/// How deep calls, lists and dicts may nest.
const DEPTH: usize = 64;

/// Reads `Name(field=value, …)` into an object of its fields; `None` for anything else.
pub(crate) fn object(text: &str) -> Option<Value> {
    let text = text.trim();
    let mut reader = Reader { rest: text, depth: 0 };
    let value = reader.value()?;
    (reader.rest.trim().is_empty() && value.is_object()).then_some(value)
}

struct Reader<'a> {
    rest: &'a str,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn eat(&mut self, token: &str) -> bool {
        let trimmed = self.rest.trim_start();
        match trimmed.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn word(&mut self) -> &'a str {
        let trimmed = self.rest.trim_start();
        let end = trimmed
            .find(|c: char| !(c.is_alphanumeric() || "_.+-".contains(c)))
            .unwrap_or(trimmed.len());
        let (word, rest) = trimmed.split_at(end);
        self.rest = rest;
        word
    }

    fn value(&mut self) -> Option<Value> {
        self.depth += 1;
        if self.depth > DEPTH {
            return None;
        }
        let value = self.any();
        self.depth -= 1;
        value
    }

    fn any(&mut self) -> Option<Value> {
        let trimmed = self.rest.trim_start();
        match trimmed.chars().next()? {
            '\'' | '"' => self.string(),
            '[' => self.sequence("[", "]"),
            '(' => self.sequence("(", ")"),
            '{' => self.dict(),
            // An enum member: `<MessageRole.USER: 'user'>`; its value is what JSON would hold.
            '<' => {
                let end = trimmed.find('>')?;
                let inside = trimmed.get(1..end)?;
                self.rest = trimmed.get(end + 1..)?;
                let value = inside.split_once(": ").map_or(inside, |(_, value)| value);
                Some(Value::from(value.trim_matches('\'')))
            }
            _ => self.named(),
        }
    }

    fn named(&mut self) -> Option<Value> {
        let word = self.word();
        if self.eat("(") {
            return self.call();
        }
        Some(match word {
            "" => return None,
            "None" => Value::Null,
            "True" => Value::Bool(true),
            "False" => Value::Bool(false),
            number => serde_json::from_str(number)
                .ok()
                .filter(Value::is_number)
                .unwrap_or_else(|| Value::from(number)),
        })
    }

    fn call(&mut self) -> Option<Value> {
        let mut fields = Vec::new();
        while !self.eat(")") {
            let before = self.rest;
            let key = self.word().to_owned();
            let value = if self.eat("=") {
                self.value()?
            } else {
                self.rest = before;
                self.value()?
            };
            fields.push((if key.is_empty() { "value".to_owned() } else { key }, value));
            if !self.eat(",") && !self.rest.trim_start().starts_with(')') {
                return None;
            }
        }
        Some(super::smolagents::object_of(fields))
    }

    fn sequence(&mut self, open: &str, close: &str) -> Option<Value> {
        self.eat(open);
        let mut list = Vec::new();
        while !self.eat(close) {
            list.push(self.value()?);
            if !self.eat(",") && !self.rest.trim_start().starts_with(close) {
                return None;
            }
        }
        Some(Value::Array(list))
    }

    fn dict(&mut self) -> Option<Value> {
        self.eat("{");
        let mut fields = Vec::new();
        while !self.eat("}") {
            let key = self.value()?;
            if !self.eat(":") {
                return None;
            }
            let key = key.as_str().map_or_else(|| key.to_string(), str::to_owned);
            fields.push((key, self.value()?));
            if !self.eat(",") && !self.rest.trim_start().starts_with('}') {
                return None;
            }
        }
        Some(super::smolagents::object_of(fields))
    }

    fn string(&mut self) -> Option<Value> {
        let trimmed = self.rest.trim_start();
        let quote = trimmed.chars().next()?;
        let mut out = String::new();
        let mut chars = trimmed.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            if c == quote {
                self.rest = trimmed.get(at + c.len_utf8()..)?;
                return Some(Value::from(out));
            }
            if c != '\\' {
                out.push(c);
                continue;
            }
            let (_, escape) = chars.next()?;
            match escape {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                'r' => out.push('\r'),
                'x' | 'u' | 'U' => {
                    let length = match escape {
                        'x' => 2,
                        'u' => 4,
                        _ => 8,
                    };
                    let digits: String = chars.by_ref().take(length).map(|(_, digit)| digit).collect();
                    let code = u32::from_str_radix(&digits, 16).ok()?;
                    out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
                }
                '\\' | '\'' | '"' => out.push(escape),
                other => {
                    out.push('\\');
                    out.push(other);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn steps_are_read_like_json() {
        let text = r#"ActionStep(step_number=1, t=Timing(a=1.5), m=[ChatMessage(role=<MessageRole.USER: 'user'>, content=[{'type': 'text', 'text': 'it\'s \n "q" \u00e9'}])], error=None, ok=True)"#;
        let expected = json!({"step_number": 1, "t": {"a": 1.5},
            "m": [{"role": "user", "content": [{"type": "text", "text": "it's \n \"q\" é"}]}], "error": null, "ok": true});
        assert_eq!(object(text), Some(expected));
    }

    #[test]
    fn other_text_is_none() {
        for text in [
            "",
            "Thought: f(x) is fine",
            "f(",
            "f(a=1",
            "f(a='x)",
            "1",
            "{'a': 1} tail",
            "f(a=1) and more",
        ] {
            assert_eq!(object(text), None, "{text}");
        }
        assert_eq!(object(&"f(a=[".repeat(500)), None);
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "[a-z(){}\\[\\]'\"=,:<>\\\\xuU0-9 é]{0,60}") {
            object(&text);
        }
    }
}

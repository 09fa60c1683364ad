//! The prompt files: embedded or the user's, checked before any call, and rendered.

use std::collections::BTreeMap;

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value};

use super::{Fence, Rendered, blocks, schema};
use crate::audit::{Ask, Method, Outcome, Question, UserKnows};
use crate::trajectory::{Stage, Trajectory};

/// The system message; plain text, no template.
const SYSTEM: &str = "system.md";
/// Opens the message of every stage: everything that the seeker and the tracer of a run share.
const CONTEXT: &str = "context.j2";
/// Closes the message of a re-ask.
const REASK: &str = "reask.j2";

/// A prompt file. Values that come from the run, a judge or the user carry their fence already, so that
/// no template can put them outside one.
struct File {
    name: &'static str,
    text: &'static str,
    /// What it may use.
    given: &'static [&'static str],
    /// What it must use: without it a judge would be asked about text that it is not shown.
    needed: &'static [&'static str],
}

const FILES: [File; 8] = [
    File {
        name: SYSTEM,
        text: include_str!("../../prompts/system.md"),
        given: &[],
        needed: &[],
    },
    File {
        name: CONTEXT,
        text: include_str!("../../prompts/context.j2"),
        given: &[
            "mark",
            "task",
            "outcome",
            "reference",
            "run",
            "ledger",
            "packet",
            "partial",
        ],
        needed: &["mark", "task", "run", "ledger", "packet"],
    },
    File {
        name: "keeper.j2",
        text: include_str!("../../prompts/keeper.j2"),
        given: &["mark", "quotes", "partial"],
        needed: &[],
    },
    File {
        name: "seeker.j2",
        text: include_str!("../../prompts/seeker.j2"),
        given: &["mark", "quotes", "partial"],
        needed: &[],
    },
    File {
        name: "tracer.j2",
        text: include_str!("../../prompts/tracer.j2"),
        given: &["mark", "quotes", "partial", "packet_only", "support"],
        needed: &["support"],
    },
    File {
        name: "bare.j2",
        text: include_str!("../../prompts/bare.j2"),
        given: &["mark", "quotes", "partial"],
        needed: &[],
    },
    File {
        name: "gd.j2",
        text: include_str!("../../prompts/gd.j2"),
        given: &["mark", "quotes", "partial", "constraints", "turn"],
        needed: &["constraints", "turn"],
    },
    File {
        name: REASK,
        text: include_str!("../../prompts/reask.j2"),
        given: &["mark", "earlier", "error"],
        needed: &["error"],
    },
];

/// What is wrong with a set of prompt files. Found before any call is made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PromptError {
    /// A file that no stage reads.
    #[error("prompt file \"{name}\" is not known; known are {known}")]
    Unknown {
        /// Its name.
        name: String,
        /// The names that are.
        known: String,
    },
    /// A file that is needed and not there.
    #[error("prompt file \"{name}\" is missing; `auditor prompts export` writes the whole set")]
    Missing {
        /// Its name.
        name: &'static str,
    },
    /// A template that cannot be parsed or rendered.
    #[error("prompt file \"{name}\", line {line}: {message}")]
    Template {
        /// The file.
        name: String,
        /// 1-based line.
        line: usize,
        /// What is wrong there.
        message: String,
    },
    /// A template uses a name that it is not given.
    #[error("prompt file \"{name}\" uses `{variable}`, which it is not given; it is given {given}")]
    Undeclared {
        /// The file.
        name: String,
        /// The name used.
        variable: String,
        /// The names it is given.
        given: String,
    },
    /// A template does not use what its question is about.
    #[error("prompt file \"{name}\" does not use `{variable}`: the judge would not see it")]
    Unused {
        /// The file.
        name: &'static str,
        /// The name that is not used.
        variable: &'static str,
    },
    /// A message without the word JSON: endpoints refuse to answer in JSON then.
    #[error("prompt file \"{name}\" must say the word JSON: endpoints refuse the JSON mode without it")]
    NoJson {
        /// The file.
        name: &'static str,
    },
}

/// A checked set of prompt files.
#[derive(Clone, Debug)]
pub struct Prompts {
    texts: BTreeMap<String, String>,
    templates: Environment<'static>,
}

impl Prompts {
    /// The prompts that come with the program.
    ///
    /// # Errors
    /// None in a build whose tests pass.
    pub fn embedded() -> Result<Self, PromptError> {
        let texts = FILES.iter().map(|file| (file.name.to_owned(), file.text.to_owned()));
        Self::from_texts(texts.collect())
    }

    /// Prompts from file names and their texts: all the files of [`Self::texts`] and no others.
    ///
    /// # Errors
    /// A [`PromptError`] names the first thing wrong: an unknown or missing file, a template that
    /// cannot be parsed or fails on a small run, a name that the file is not given, a stage file without
    /// the word JSON.
    pub fn from_texts(texts: BTreeMap<String, String>) -> Result<Self, PromptError> {
        if let Some(name) = texts.keys().find(|name| !FILES.iter().any(|file| file.name == *name)) {
            return Err(PromptError::Unknown {
                name: name.clone(),
                known: listed(FILES.iter().map(|file| file.name)),
            });
        }
        let mut templates = environment()?;
        for file in &FILES {
            let text = texts.get(file.name).ok_or(PromptError::Missing { name: file.name })?;
            if file.name != SYSTEM {
                templates
                    .add_template_owned(file.name, text.clone())
                    .map_err(|error| template_error(file.name, &error))?;
                check(file, text, &templates)?;
            }
        }
        let prompts = Self { texts, templates };
        super::rehearsal::rehearse(&prompts)?;
        Ok(prompts)
    }

    /// File names and their texts.
    #[must_use]
    pub fn texts(&self) -> &BTreeMap<String, String> {
        &self.texts
    }

    /// Hash of all names and texts, 64 hex digits: part of what a recording is valid for.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for part in self.texts.iter().flat_map(|(name, text)| [name, text]) {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }

    /// Renders a question.
    ///
    /// # Errors
    /// A template that fails on this run although it did not on the small one it was checked with.
    pub fn render(&self, ask: &Ask) -> Result<Rendered, PromptError> {
        let stage = match ask.question {
            Question::Keeper(_) => Stage::Keeper,
            Question::Seeker(_) => Stage::Seeker,
            Question::Tracer(_) => Stage::Tracer,
            Question::Bare(_) => Stage::Bare,
            Question::Gd(_) => Stage::Gd,
        };
        let (schema_name, schema) = schema::of(&ask.question, ask.id.method);
        Ok(Rendered {
            stage,
            system: self
                .texts
                .get(SYSTEM)
                .map(|text| text.trim_end().to_owned())
                .unwrap_or_default(),
            user: vec![self.message(ask)?],
            schema_name,
            schema,
            max_output: ask.max_output,
        })
    }

    /// The user message for a question.
    pub(super) fn message(&self, ask: &Ask) -> Result<String, PromptError> {
        let run = ask.question.run();
        let fence = Fence::of(run);
        let file = match ask.question {
            Question::Keeper(_) => "keeper.j2",
            Question::Seeker(_) => "seeker.j2",
            Question::Tracer(_) => "tracer.j2",
            Question::Bare(_) => "bare.j2",
            Question::Gd(_) => "gd.j2",
        };
        let (context, partial) = context(&fence, run, &ask.question);
        let mut message = self.part(CONTEXT, context)?;
        let method = ask.id.method;
        let mut own = BTreeMap::from([
            ("mark", Value::from(fence.mark())),
            ("quotes", Value::from(method != Method::Paper)),
            ("partial", Value::from(partial)),
        ]);
        if let Question::Tracer(question) = &ask.question {
            own.insert("packet_only", Value::from(method == Method::Paper));
            own.insert("support", Value::from(blocks::support(&fence, &question.support)));
        }
        if let Question::Gd(question) = &ask.question {
            own.insert(
                "constraints",
                Value::from(blocks::constraints(&fence, &question.constraints)),
            );
            own.insert("turn", Value::from(blocks::turn(&fence, run, question.turn)));
        }
        message.push_str("\n\n");
        message.push_str(&self.part(file, own)?);
        if let Some(previous) = &ask.previous {
            let (earlier, error) = blocks::earlier(&fence, previous);
            let values = BTreeMap::from([
                ("mark", Value::from(fence.mark())),
                ("earlier", Value::from(earlier)),
                ("error", Value::from(error)),
            ]);
            message.push_str("\n\n");
            message.push_str(&self.part(REASK, values)?);
        }
        Ok(message)
    }

    /// [`Rendered::hash`] of a question. One that cannot be rendered hashes as its error, which no
    /// recorded answer has.
    #[must_use]
    pub fn request_hash(&self, ask: &Ask) -> String {
        match self.render(ask) {
            Ok(rendered) => rendered.hash(),
            Err(error) => blake3::hash(error.to_string().as_bytes()).to_hex().to_string(),
        }
    }

    fn part(&self, name: &str, values: BTreeMap<&'static str, Value>) -> Result<String, PromptError> {
        let template = self
            .templates
            .get_template(name)
            .map_err(|error| template_error(name, &error))?;
        let text = template.render(values).map_err(|error| template_error(name, &error))?;
        Ok(text.trim_end().to_owned())
    }
}

/// Values for the part that opens every message, and whether text of the run is left out in it.
fn context(fence: &Fence, run: &Trajectory, question: &Question) -> (BTreeMap<&'static str, Value>, bool) {
    let none = || (String::new(), false);
    let nothing_known = UserKnows::default();
    let (user, (shown, cut), ledger, (packet, lacking)) = match question {
        Question::Keeper(q) => (&q.user, blocks::run_view(fence, run, &q.view, &[]), None, none()),
        Question::Bare(q) => (&q.user, blocks::run_view(fence, run, &q.view, &[]), None, none()),
        Question::Gd(q) => {
            let shown = blocks::run_view(fence, run, &q.view, &q.roles);
            (&nothing_known, shown, None, none())
        }
        Question::Seeker(q) => (&q.user, none(), Some(&q.ledger), blocks::packet(fence, run, &q.packet)),
        Question::Tracer(q) => (&q.user, none(), Some(&q.ledger), blocks::packet(fence, run, &q.packet)),
    };
    let UserKnows {
        outcome,
        reference_answer,
    } = user;
    let outcome = match outcome {
        Outcome::Failed => "failed",
        Outcome::Correct => "correct",
        Outcome::Unknown => "",
    };
    let reference = reference_answer
        .as_deref()
        .map(|answer| blocks::reference(fence, answer));
    let ledger = ledger.map(|ledger| blocks::ledger(fence, ledger));
    let partial = cut || lacking;
    let values = BTreeMap::from([
        ("mark", Value::from(fence.mark())),
        ("task", Value::from(blocks::task(fence, run))),
        ("outcome", Value::from(outcome)),
        ("reference", Value::from(reference.unwrap_or_default())),
        ("run", Value::from(shown)),
        ("ledger", Value::from(ledger.unwrap_or_default())),
        ("packet", Value::from(packet)),
        ("partial", Value::from(partial)),
    ]);
    (values, partial)
}

/// Checks the names that a template uses, and that a stage's own file says the word JSON.
fn check(file: &File, text: &str, templates: &Environment<'_>) -> Result<(), PromptError> {
    let File {
        name, given, needed, ..
    } = *file;
    let template = templates
        .get_template(name)
        .map_err(|error| template_error(name, &error))?;
    let used = template.undeclared_variables(false);
    if let Some(variable) = used.iter().filter(|used| !given.contains(&used.as_str())).min() {
        return Err(PromptError::Undeclared {
            name: name.to_owned(),
            variable: variable.clone(),
            given: listed(given.iter().copied()),
        });
    }
    if let Some(variable) = needed.iter().find(|needed| !used.contains(**needed)) {
        return Err(PromptError::Unused { name, variable });
    }
    if name != CONTEXT && !text.contains("JSON") {
        return Err(PromptError::NoJson { name });
    }
    Ok(())
}

fn environment() -> Result<Environment<'static>, PromptError> {
    let mut templates = Environment::new();
    templates.set_undefined_behavior(UndefinedBehavior::Strict);
    templates.set_auto_escape_callback(|_| AutoEscape::None);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    templates.set_syntax(syntax.map_err(|error| template_error("", &error))?);
    Ok(templates)
}

fn template_error(name: &str, error: &minijinja::Error) -> PromptError {
    PromptError::Template {
        name: error.name().unwrap_or(name).to_owned(),
        line: error.line().unwrap_or(1),
        message: error.detail().map_or_else(|| error.kind().to_string(), str::to_owned),
    }
}

fn listed<'name>(names: impl Iterator<Item = &'name str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

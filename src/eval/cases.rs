//! The labelled runs of an evaluation, packed: a hundred thousand of them fit in a few hundred bytes each.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::notes::Notes;
use crate::trajectory::{Gold, Span, Trajectory};

/// A span of a run by number: below the run's span count it is the span's position, above it an
/// id that the run's span list does not have.
pub type Mark = u32;

/// The span ids of a run in order, with a look-up. Runs with the same ids share one.
#[derive(Debug, PartialEq, Eq, Hash)]
struct SpanIds {
    in_order: Vec<String>,
    sorted: Vec<u32>,
}

impl SpanIds {
    fn new(in_order: Vec<String>) -> Self {
        let mut sorted: Vec<u32> = (0..).take(in_order.len()).collect();
        sorted.sort_by(|a, b| id_at(&in_order, *a).cmp(id_at(&in_order, *b)).then(a.cmp(b)));
        Self { in_order, sorted }
    }

    /// Position of the first span with this id.
    fn position(&self, id: &str) -> Option<u32> {
        let at = self
            .sorted
            .partition_point(|position| id_at(&self.in_order, *position) < id);
        self.sorted
            .get(at)
            .copied()
            .filter(|position| id_at(&self.in_order, *position) == id)
    }
}

fn id_at(ids: &[String], position: u32) -> &str {
    ids.get(position as usize).map_or("", String::as_str)
}

/// One labelled run.
#[derive(Debug)]
pub struct Case {
    /// The run's id.
    pub id: String,
    /// The harmful spans in the label file's order, each once.
    pub gold: Vec<Mark>,
    /// For each key of [`CaseSet::keys`], the number of this run's value in [`CaseSet::value`].
    pub groups: Vec<u32>,
    /// Number of the cluster that the run is resampled with; unused without a cluster key.
    pub cluster: u32,
    /// Annotated error types: (span, number of the type in [`CaseSet::error_type`]).
    pub types: Vec<(Mark, u32)>,
    spans: Option<Arc<SpanIds>>,
    extras: Vec<String>,
}

impl Case {
    /// Number of spans, when the run's spans are known.
    #[must_use]
    pub fn span_count(&self) -> Option<u32> {
        self.spans
            .as_ref()
            .map(|spans| u32::try_from(spans.in_order.len()).unwrap_or(u32::MAX))
    }

    /// The id of a marked span.
    #[must_use]
    pub fn span_id(&self, mark: Mark) -> &str {
        let known = self.spans.as_ref().map_or(&[] as &[String], |spans| &spans.in_order);
        match known.get(mark as usize) {
            Some(id) => id,
            None => self
                .extras
                .get((mark as usize).saturating_sub(known.len()))
                .map_or("", String::as_str),
        }
    }

    /// True when the mark is a span of the run (or the run's spans are not known).
    #[must_use]
    pub fn is_span(&self, mark: Mark) -> bool {
        self.span_count().is_none_or(|count| mark < count)
    }

    /// The first of the marked spans by position; by natural order of the ids when the run's spans
    /// are not known. Ids the run does not have come after all spans.
    #[must_use]
    pub fn first(&self, marks: &[Mark]) -> Option<Mark> {
        if self.spans.is_some() {
            return marks.iter().copied().min();
        }
        marks
            .iter()
            .copied()
            .min_by(|a, b| natural_order(self.span_id(*a), self.span_id(*b)))
    }

    fn mark(&mut self, id: &str) -> Mark {
        if let Some(position) = self.spans.as_ref().and_then(|spans| spans.position(id)) {
            return position;
        }
        let known = self.span_count().unwrap_or(0);
        let at = self.extras.iter().position(|extra| extra == id).unwrap_or_else(|| {
            self.extras.push(id.to_owned());
            self.extras.len() - 1
        });
        known.saturating_add(u32::try_from(at).unwrap_or(u32::MAX))
    }

    /// The ids as marks in the same order, each once.
    pub(super) fn marks(&mut self, ids: &[String]) -> Vec<Mark> {
        let mut marks = Vec::with_capacity(ids.len());
        for id in ids {
            let mark = self.mark(id);
            if !marks.contains(&mark) {
                marks.push(mark);
            }
        }
        marks
    }
}

/// Orders ids as a reader would: digit runs by their number, the rest by character.
#[must_use]
pub fn natural_order(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a, b);
    loop {
        let (Some(x), Some(y)) = (left.chars().next(), right.chars().next()) else {
            return left.len().cmp(&right.len()).then_with(|| a.cmp(b));
        };
        if x.is_ascii_digit() && y.is_ascii_digit() {
            let (digits_x, rest_x) = split_digits(left);
            let (digits_y, rest_y) = split_digits(right);
            let (value_x, value_y) = (digits_x.trim_start_matches('0'), digits_y.trim_start_matches('0'));
            match value_x.len().cmp(&value_y.len()).then_with(|| value_x.cmp(value_y)) {
                Ordering::Equal => (left, right) = (rest_x, rest_y),
                other => return other,
            }
        } else if x == y {
            (left, right) = (
                left.get(x.len_utf8()..).unwrap_or(""),
                right.get(y.len_utf8()..).unwrap_or(""),
            );
        } else {
            return x.cmp(&y);
        }
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// A set of labels numbered in order of first sight.
#[derive(Debug, Default)]
struct Interned {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Interned {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    fn name(&self, number: u32) -> &str {
        id_at(&self.names, number)
    }
}

/// The key that splits go by in most label files.
const SPLIT: &str = "split";

/// The labelled runs, in the order of the gold file.
#[derive(Debug, Default)]
pub struct CaseSet {
    cases: Vec<Case>,
    by_id: HashMap<String, u32>,
    keys: Vec<String>,
    asked: Vec<String>,
    cluster_key: Option<String>,
    values: Vec<Interned>,
    clusters: Interned,
    types: Interned,
    shared: HashMap<u64, Vec<Arc<SpanIds>>>,
    data: HashMap<String, Arc<SpanIds>>,
    /// Runs without a label, which are no part of the evaluation.
    pub unlabelled: u64,
    /// What was odd about the gold file.
    pub notes: Notes,
}

impl CaseSet {
    /// The value of a key that a run does not have.
    pub const NONE: &str = "(none)";

    /// An empty set that keeps, of each run's `meta`, the values of `keys` (dotted paths; a leading
    /// `meta.` may be left out) and of `split` for breakdowns, and of `cluster_key` for resampling.
    #[must_use]
    pub fn new(asked: Vec<String>, cluster_key: Option<String>) -> Self {
        let mut keys: Vec<String> = Vec::new();
        for key in asked.iter().map(String::as_str).chain([SPLIT]) {
            if !keys.iter().any(|known| known == key) {
                keys.push(key.to_owned());
            }
        }
        Self {
            values: keys.iter().map(|_| Interned::default()).collect(),
            keys,
            asked,
            cluster_key,
            ..Self::default()
        }
    }

    /// True when the caller named this key.
    #[must_use]
    pub fn asked_for(&self, key: &str) -> bool {
        self.asked.iter().any(|asked| asked == key)
    }

    /// Gives the span ids of a run, for gold rows that come without spans. Call before [`Self::push`].
    pub fn push_spans(&mut self, case_id: &str, span_ids: Vec<String>) {
        if !span_ids.is_empty() {
            let (shared, _) = self.share(span_ids);
            self.data.insert(case_id.to_owned(), shared);
        }
    }

    /// Adds a labelled run. A repeated id replaces the earlier row, and is noted; an unlabelled row
    /// is counted and left out.
    pub fn push(&mut self, gold: Gold) {
        for note in &gold.notes {
            self.notes.add("odd_gold_row", &format!("{}: {note}", gold.case_id));
        }
        if !gold.labelled {
            self.unlabelled += 1;
            self.notes.add("unlabelled", &gold.case_id);
            return;
        }
        let types = gold.error_types();
        let spans = if gold.span_ids.is_empty() {
            self.data.get(&gold.case_id).cloned()
        } else {
            let (spans, repeated) = self.share(gold.span_ids);
            if repeated {
                self.notes.add("duplicate_span_ids", &gold.case_id);
            }
            Some(spans)
        };
        if spans.is_none() {
            self.notes.add("no_spans", &gold.case_id);
        }
        let groups = self
            .keys
            .iter()
            .zip(&mut self.values)
            .map(|(key, values)| values.number(&value_at(&gold.meta, key)))
            .collect();
        let cluster = match &self.cluster_key {
            Some(key) => self.clusters.number(&value_at(&gold.meta, key)),
            None => 0,
        };
        let mut case = Case {
            id: gold.case_id,
            gold: Vec::new(),
            groups,
            cluster,
            types: Vec::new(),
            spans,
            extras: Vec::new(),
        };
        case.gold = case.marks(&gold.error_span_ids);
        if case.gold.len() < gold.error_span_ids.len() {
            self.notes.add("repeated_gold_spans", &case.id);
        }
        for mark in &case.gold {
            if !case.is_span(*mark) {
                self.notes
                    .add("unknown_gold_spans", &format!("{}: {}", case.id, case.span_id(*mark)));
            }
        }
        for (span, kind) in &types {
            let mark = case.mark(span);
            if case.gold.contains(&mark) {
                case.types.push((mark, self.types.number(kind)));
            }
        }
        self.insert(case);
    }

    fn insert(&mut self, case: Case) {
        if let Some(number) = self.by_id.get(&case.id) {
            self.notes.add("duplicate_gold", &case.id);
            if let Some(place) = self.cases.get_mut(*number as usize) {
                *place = case;
            }
            return;
        }
        self.by_id
            .insert(case.id.clone(), u32::try_from(self.cases.len()).unwrap_or(u32::MAX));
        self.cases.push(case);
    }

    /// The look-up of these ids. Repeated ids get the names that [`Trajectory`] gives them, which
    /// are the names that results know them by; the second part says that there were some.
    fn share(&mut self, span_ids: Vec<String>) -> (Arc<SpanIds>, bool) {
        use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
        let key = BuildHasherDefault::<DefaultHasher>::default().hash_one(&span_ids);
        let known = self.shared.entry(key).or_default();
        if let Some(found) = known.iter().find(|found| found.in_order == span_ids) {
            return (Arc::clone(found), false);
        }
        let fresh = SpanIds::new(span_ids);
        if has_duplicate(&fresh) {
            return (Arc::new(SpanIds::new(distinct(fresh.in_order))), true);
        }
        let fresh = Arc::new(fresh);
        known.push(Arc::clone(&fresh));
        (fresh, false)
    }

    /// Keeps the runs that `keep` says, and forgets the others. To be called before predictions are read.
    pub fn retain(&mut self, mut keep: impl FnMut(usize, &Case) -> bool) {
        let mut number = 0;
        self.cases.retain(|case| {
            number += 1;
            keep(number - 1, case)
        });
        self.by_id = self
            .cases
            .iter()
            .zip(0..)
            .map(|(case, number)| (case.id.clone(), number))
            .collect();
    }

    /// The runs.
    #[must_use]
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// Number of the run with this id.
    #[must_use]
    pub fn find(&self, case_id: &str) -> Option<usize> {
        self.by_id.get(case_id).map(|number| *number as usize)
    }

    /// The keys that runs can be grouped by.
    #[must_use]
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    /// The value with this number of the key with that number.
    #[must_use]
    pub fn value(&self, key: usize, number: u32) -> &str {
        self.values.get(key).map_or("", |values| values.name(number))
    }

    /// The cluster key, when runs are resampled by cluster.
    #[must_use]
    pub fn cluster_key(&self) -> Option<&str> {
        self.cluster_key.as_deref()
    }

    /// The annotated error type with this number.
    #[must_use]
    pub fn error_type(&self, number: u32) -> &str {
        self.types.name(number)
    }

    /// How many annotated error types there are.
    #[must_use]
    pub fn error_type_count(&self) -> usize {
        self.types.names.len()
    }

    pub(super) fn case_mut(&mut self, number: usize) -> Option<&mut Case> {
        self.cases.get_mut(number)
    }
}

/// The ids as [`Trajectory`] makes them unique.
fn distinct(ids: Vec<String>) -> Vec<String> {
    let spans = ids.into_iter().map(|id| Span { id, ..Span::default() });
    let (run, _) = Trajectory::new("", "", spans.collect());
    run.spans().iter().map(|span| span.id.clone()).collect()
}

fn has_duplicate(spans: &SpanIds) -> bool {
    spans
        .sorted
        .windows(2)
        .any(|pair| matches!(pair, [a, b] if id_at(&spans.in_order, *a) == id_at(&spans.in_order, *b)))
}

/// The value of `meta` at a dotted path as text; `(none)` when there is none.
fn value_at(meta: &Map<String, Value>, key: &str) -> String {
    let whole = meta.get(key);
    let found = whole.or_else(|| {
        let mut parts = key.strip_prefix("meta.").unwrap_or(key).split('.');
        let mut value = meta.get(parts.next()?)?;
        for part in parts {
            value = value.get(part)?;
        }
        Some(value)
    });
    match found {
        None | Some(Value::Null) => CaseSet::NONE.to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

//! The packet of `drift`: every claim's own spans and the last span of the run first, then what
//! the claims' words, numbers and names find, a share for each claim; then context around it.

use std::collections::HashMap;
use std::ops::Range;

use super::index::Index;
use super::packet::in_order;
use super::relevance::{Found, Queries, Query, Relevance, Searchable};
use super::terms::named_things;
use super::{Chunk, ContextRequest, GrepRow, Packet, PacketLimits};
use crate::trajectory::Trajectory;

/// Hits kept for a claim or a constraint as a whole.
const MAIN_HITS: usize = 8;
/// Hits kept for a number, a name or a quoted string.
const THING_HITS: usize = 3;
/// Numbers, names and quoted strings of one claim that are searched for themselves.
const MAX_THINGS: usize = 6;
/// Hard constraints that are searched for.
const MAX_CONSTRAINTS: usize = 12;
/// A hit has at least this share of the weight of its query's words.
const LEAST_SHARE: f64 = 0.2;
/// Hits of each claim that come before any context.
const FIRST_HITS: usize = 2;
/// Share of the budget, in hundredths, that the claims' own spans may fill: with very many of them
/// there must still be room for what the search finds.
const OWN_PERCENT: usize = 90;
/// Share of the budget, in hundredths, that hits may fill before context gets its turn.
const HITS_PERCENT: usize = 75;
/// Cells of context on either side of what was fetched.
const CONTEXT_CELLS: usize = 3;
/// Share of the run, in hundredths, that a packet holds at most. It is sent to two stages after
/// the Claim Keeper has had the whole run: more would send everything twice over.
const RUN_PERCENT: usize = 55;
/// Below this many Unicode scalar values a run is sent whole.
const SMALL_RUN_CHARS: usize = 8000;

/// Unicode scalar values of a packet of `drift` unless the user says otherwise: a share of the run,
/// never more than a published packet holds.
#[must_use]
pub fn default_budget(run: &Trajectory) -> usize {
    let total: usize = run.spans().iter().map(|span| span.text.chars().count()).sum();
    (total.saturating_mul(RUN_PERCENT) / 100)
        .max(SMALL_RUN_CHARS)
        .min(PacketLimits::default().chars())
}

/// A query and the cells it found, best first.
struct Row {
    query: String,
    hits: Vec<usize>,
}

/// Someone who has a share of the budget: a claim, or the hard constraints together.
struct Owner {
    claim_id: String,
    /// The statement in each of the owner's spans.
    own: Vec<usize>,
    /// The whole claim first, then what it names.
    rows: Vec<Row>,
    /// How many of the rows search for whole claims or constraints.
    main_rows: usize,
}

impl Owner {
    /// Hits of the main rows below `depth`, then one of each other row, then the rest in turns.
    fn hits_in_turns(&self, rows: Range<usize>) -> Vec<usize> {
        let rows = self.rows.get(rows).unwrap_or(&[]);
        let deepest = rows.iter().map(|row| row.hits.len()).max().unwrap_or(0);
        (0..deepest)
            .flat_map(|depth| rows.iter().filter_map(move |row| row.hits.get(depth).copied()))
            .collect()
    }

    fn main_hits(&self) -> Vec<usize> {
        self.hits_in_turns(0..self.main_rows)
    }

    fn thing_hits(&self) -> Vec<usize> {
        self.hits_in_turns(self.main_rows..self.rows.len())
    }
}

/// A text to be searched for, before the search.
struct Wanted {
    claim_id: String,
    spans: Vec<usize>,
    /// All queries as one, to find statements by.
    whole: Query,
    main: Vec<(String, Query)>,
    things: Vec<(String, Query)>,
}

impl Wanted {
    fn new<'text>(
        queries: &mut Queries,
        claim_id: &str,
        spans: Vec<usize>,
        texts: impl Iterator<Item = &'text str>,
        most_things: usize,
    ) -> Self {
        let texts: Vec<&str> = texts.map(str::trim).filter(|text| !text.is_empty()).collect();
        let mut things: Vec<String> = texts.iter().flat_map(|text| named_things(text)).collect();
        things.retain(|thing| !texts.contains(&thing.as_str()));
        things.truncate(most_things);
        Self {
            claim_id: claim_id.to_owned(),
            spans,
            whole: queries.enter(&texts.join("\n")),
            main: texts
                .into_iter()
                .map(|text| (text.to_owned(), queries.enter(text)))
                .collect(),
            things: things
                .into_iter()
                .map(|thing| (thing.clone(), queries.enter(&thing)))
                .collect(),
        }
    }

    fn search(self, found: &Found<'_>, searchable: &Searchable) -> Owner {
        let whole = found.relevance(&self.whole);
        let main = self.main.iter().map(|(text, query)| {
            let relevance = found.relevance(query);
            let all = 0..searchable.cells().len();
            Row {
                query: text.clone(),
                hits: relevance.ranked(all, LEAST_SHARE * relevance.best, MAIN_HITS),
            }
        });
        // Among the places that have a thing, those that speak of the claim come first.
        let things = self.things.iter().map(|(text, query)| Row {
            query: text.clone(),
            hits: whole.ranked(found.cells_with_all(query).into_iter(), 0.0, THING_HITS),
        });
        Owner {
            own: self
                .spans
                .iter()
                .filter_map(|&span| statement(searchable, &whole, span))
                .collect(),
            main_rows: self.main.len(),
            rows: main.chain(things).collect(),
            claim_id: self.claim_id,
        }
    }
}

/// The cell of a span that states a claim: the most relevant one, else the last with any text.
fn statement(searchable: &Searchable, relevance: &Relevance, span: usize) -> Option<usize> {
    let cells = searchable.cells_of(span);
    let best = relevance.ranked(cells, 0.0, 1).first().copied();
    best.or_else(|| last_cell(searchable, span))
}

fn last_cell(searchable: &Searchable, span: usize) -> Option<usize> {
    searchable.cells_of(span).last()
}

/// Cells taken into the packet.
struct Taken<'run> {
    searchable: &'run Searchable,
    cells: Vec<bool>,
    chars: usize,
    budget: usize,
}

impl Taken<'_> {
    /// Takes a cell if it fits; true if it was not there before and is now.
    fn take(&mut self, cell: usize, budget: usize) -> bool {
        let Some(length) = self.searchable.cells().get(cell).map(|cell| cell.chars.len()) else {
            return false;
        };
        match self.cells.get_mut(cell) {
            Some(there) if !*there && self.chars + length <= budget => {
                *there = true;
                self.chars += length;
                true
            }
            _ => false,
        }
    }

    /// Takes from each list in turn, one new cell a turn, until none has more, at most `turns`
    /// times round.
    fn take_in_turns(&mut self, lists: Vec<Vec<usize>>, turns: usize, budget: usize) {
        let mut lists: Vec<_> = lists.into_iter().map(Vec::into_iter).collect();
        for _ in 0..turns {
            let mut any = false;
            for list in &mut lists {
                any |= list.any(|cell| self.take(cell, budget));
            }
            if !any {
                return;
            }
        }
    }

    /// Takes the cells at a distance from those given, within their spans.
    fn take_around(&mut self, cells: &[usize], distance: usize) {
        for &cell in cells {
            let Some(span) = self.searchable.cells().get(cell).map(|cell| cell.span) else {
                continue;
            };
            let range = self.searchable.cells_of(span);
            for near in [Some(cell + distance), cell.checked_sub(distance)]
                .into_iter()
                .flatten()
            {
                if range.contains(&near) {
                    self.take(near, self.budget);
                }
            }
        }
    }

    /// The taken cells, neighbours put together, in trajectory order; and for each taken cell the
    /// excerpt it stands in.
    fn excerpts(&self) -> (Vec<Chunk>, HashMap<usize, usize>) {
        let mut excerpts: Vec<Chunk> = Vec::new();
        let mut places = HashMap::new();
        let all = self.searchable.cells().iter().zip(&self.cells).enumerate();
        for (number, (cell, _)) in all.filter(|(_, (_, taken))| **taken) {
            match excerpts.last_mut() {
                Some(last) if last.span == cell.span && last.bytes.end == cell.bytes.start => {
                    last.chars.end = cell.chars.end;
                    last.bytes.end = cell.bytes.end;
                }
                last => {
                    let index = last
                        .filter(|last| last.span == cell.span)
                        .map_or(0, |last| last.index + 1);
                    excerpts.push(Chunk {
                        span: cell.span,
                        index,
                        chars: cell.chars.clone(),
                        bytes: cell.bytes.clone(),
                    });
                }
            }
            places.insert(number, excerpts.len() - 1);
        }
        (excerpts, places)
    }
}

impl Index {
    /// The packet of `drift`, of at most `budget` Unicode scalar values ([`default_budget`]).
    ///
    /// In this order, until the budget is used: the end of the run's last span; in every span that
    /// a request names, the place that states its claim, claims taking turns; the end of other
    /// seeds; the best hits of every claim and of the constraints; context of the statements; hits
    /// of what claims and constraints name (numbers, names, quoted strings), taking turns; more
    /// hits; more context. What is near each other becomes one excerpt; excerpts are in trajectory
    /// order. Rows of `constraints` have an empty claim id.
    #[must_use]
    pub fn drift(
        &self,
        run: &Trajectory,
        seeds: &[usize],
        requests: &[ContextRequest],
        constraints: &[String],
        budget: usize,
    ) -> Packet {
        let spans = run.spans().len();
        let known = |positions: &[usize]| in_order(positions.iter().copied().filter(|&position| position < spans));
        let searchable = self.searchable(run);
        let mut queries = Queries::default();
        let mut wanted: Vec<Wanted> = requests
            .iter()
            .map(|request| {
                let texts = request.queries.iter().map(String::as_str);
                Wanted::new(
                    &mut queries,
                    &request.claim_id,
                    known(&request.spans),
                    texts,
                    MAX_THINGS,
                )
            })
            .collect();
        let texts = constraints.iter().take(MAX_CONSTRAINTS).map(String::as_str);
        wanted.push(Wanted::new(&mut queries, "", Vec::new(), texts, MAX_THINGS));
        let found = queries.search(searchable);
        let owners: Vec<Owner> = wanted
            .into_iter()
            .map(|wanted| wanted.search(&found, searchable))
            .collect();

        let seeds = known(seeds);
        let requested: Vec<usize> = requests
            .iter()
            .flat_map(|request| request.spans.iter().copied())
            .collect();
        let requested = known(&requested);
        let others: Vec<usize> = seeds
            .iter()
            .copied()
            .filter(|seed| requested.binary_search(seed).is_err())
            .collect();
        let taken = choose(searchable, spans, &others, &owners, budget);
        let (chunks, places) = taken.excerpts();
        Packet {
            seeds,
            requested,
            grep: owners
                .iter()
                .flat_map(|owner| grep_rows(owner, searchable, &places))
                .collect(),
            chunks,
        }
    }
}

fn choose<'run>(
    searchable: &'run Searchable,
    spans: usize,
    other_seeds: &[usize],
    owners: &[Owner],
    budget: usize,
) -> Taken<'run> {
    let mut taken = Taken {
        searchable,
        cells: vec![false; searchable.cells().len()],
        chars: 0,
        budget,
    };
    let total: usize = searchable.cells().iter().map(|cell| cell.chars.len()).sum();
    if total <= budget {
        taken.cells.fill(true);
        taken.chars = total;
        return taken;
    }
    let last = spans.checked_sub(1).and_then(|span| last_cell(searchable, span));
    let own: Vec<Vec<usize>> = owners.iter().map(|owner| owner.own.clone()).collect();
    let stated: Vec<usize> = last.into_iter().chain(own.iter().flatten().copied()).collect();
    let main: Vec<Vec<usize>> = owners.iter().map(Owner::main_hits).collect();
    let things: Vec<Vec<usize>> = owners.iter().map(Owner::thing_hits).collect();
    let own_budget = budget.saturating_mul(OWN_PERCENT) / 100;
    let hits_budget = budget.saturating_mul(HITS_PERCENT) / 100;

    taken.take_in_turns(vec![last.into_iter().collect()], 1, budget);
    taken.take_in_turns(own, usize::MAX, own_budget);
    let others = other_seeds
        .iter()
        .filter_map(|&span| last_cell(searchable, span))
        .collect();
    taken.take_in_turns(vec![others], usize::MAX, own_budget);
    taken.take_in_turns(main.clone(), FIRST_HITS, budget);
    taken.take_around(&stated, 1);
    taken.take_in_turns(things, usize::MAX, hits_budget);
    let first: Vec<usize> = main
        .iter()
        .flat_map(|hits| hits.iter().take(FIRST_HITS).copied())
        .collect();
    taken.take_around(&first, 1);
    taken.take_in_turns(main, usize::MAX, hits_budget);
    for distance in 2..=CONTEXT_CELLS {
        taken.take_around(&stated, distance);
        taken.take_around(&first, distance);
    }
    taken
}

fn grep_rows(owner: &Owner, searchable: &Searchable, places: &HashMap<usize, usize>) -> Vec<GrepRow> {
    let row = |row: &Row| {
        let mut chunks: Vec<usize> = Vec::new();
        let kept = row.hits.iter().filter(|cell| places.contains_key(cell));
        for &place in kept.clone().filter_map(|cell| places.get(cell)) {
            if !chunks.contains(&place) {
                chunks.push(place);
            }
        }
        GrepRow {
            claim_id: owner.claim_id.clone(),
            query: row.query.clone(),
            chunks,
            spans: in_order(
                kept.filter_map(|&cell| searchable.cells().get(cell))
                    .map(|cell| cell.span),
            ),
        }
    };
    owner.rows.iter().map(row).collect()
}

#[cfg(test)]
mod tests;

//! `auditor` reads the record of an AI agent's run and says where the run went wrong:
//! which span first did the harm, which claims carried it, and the quotes that show it.
//!
//! The method is DRIFT (arXiv 2606.02060): a Claim Keeper, a Support Seeker and a Dependency
//! Tracer ask a judge about one run. The rooms, from the ground floor up:
//!
//! | room | what it holds |
//! |---|---|
//! | [`trajectory`] | a run as an ordered list of spans, its loaders, and gold labels as a type of their own |
//! | [`eval`] | scores: metrics, intervals, paired tests, trivial baselines; stands on `trajectory` alone |
//! | [`evidence`] | chunks, grep, the evidence packet, and looking a quote up in a span |
//! | [`ledger`] | claims, support records and the trace: plain data |
//! | [`reply`] | a model's text read into a typed stage reply, with notes of what was mended |
//! | [`audit`] | the machine: the pipeline as a sans-IO state machine |
//! | [`gd`] | the goal-drift judge: rubric, request, verdict, cheap tiers |
//! | [`prompt`] | typed questions rendered as messages; run text only ever as data |
//! | [`wire`] | what an endpoint accepts and what its replies mean; pure |
//! | [`offline`] | the judge that needs no model: answers typed questions from the text alone |
//! | [`store`] | journal, cache, atomic files |
//! | [`drive`] | where tokio lives: judges, the HTTP client, the driver of an audit |
//! | [`report`] | a result as bytes: text and JSON |
//! | [`cli`] | flags in, exit code out |
//!
//! A room uses only rooms above it in this table (floors in `README.md`). Nothing before
//! [`store`] knows tokio, HTTP, files or a clock.

pub mod audit;
pub mod cli;
pub mod drive;
pub mod eval;
pub mod evidence;
pub mod gd;
pub mod ledger;
pub mod offline;
pub mod prompt;
pub mod reply;
pub mod report;
pub mod store;
pub mod trajectory;
pub mod wire;

//! The judge that needs no model: answers typed questions from the run's text alone. Pure.

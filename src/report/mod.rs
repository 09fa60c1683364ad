//! A result as bytes.

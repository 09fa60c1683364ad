//! Flags in, exit code out: the only room that prints.

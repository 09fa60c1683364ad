//! Journal, cache, atomic files: the lowest room that touches a disk.

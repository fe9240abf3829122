//! Queries over items: which, in which order, and how many.

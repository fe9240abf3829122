//! What goes with items and collections that a write takes away: their ends of relations.

//! What a Leafbase block tree allows: reads through a trait, returns edits.

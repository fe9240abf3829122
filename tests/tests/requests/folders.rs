//! Folders: made, moved, deleted, listed with counts.

//! What goes with what a write takes away: comments of blocks, files that no block shows any more.

//! The searches: across documents, and in one.

mod texts;

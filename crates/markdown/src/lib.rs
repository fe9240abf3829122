//! Markdown to Leafbase blocks and back.

//! How Leafbase reads words from text.

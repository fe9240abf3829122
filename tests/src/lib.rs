//! Integration tests of Leafbase.

//! Tasks: the five scopes, and what is done to them.

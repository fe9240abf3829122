//! A collection as markdown: a table with links to its items.

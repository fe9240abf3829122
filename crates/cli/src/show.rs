//! Text output of the commands.

pub(crate) mod styles;

pub(crate) mod line;

pub(crate) mod table;
pub(crate) mod tree;

pub(crate) mod blocks;
pub(crate) mod items;
pub(crate) mod snippets;
pub(crate) mod tasks;

pub(crate) mod reports;

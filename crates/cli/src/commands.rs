//! The commands, one file each.

pub(crate) mod new;

pub(crate) mod export;
pub(crate) mod import;

pub(crate) mod list;
pub(crate) mod tree;

pub(crate) mod cat;

pub(crate) mod add;
pub(crate) mod edit;
pub(crate) mod mirror;
pub(crate) mod mv;
pub(crate) mod rm;

pub(crate) mod grep;
pub(crate) mod search;
pub(crate) mod tags;

pub(crate) mod tasks;
pub(crate) mod today;

pub(crate) mod collections;
pub(crate) mod query;

pub(crate) mod diff;
pub(crate) mod graph;
pub(crate) mod history;
pub(crate) mod links;
pub(crate) mod log;
pub(crate) mod undo;

pub(crate) mod backup;
pub(crate) mod check;
pub(crate) mod compact;
pub(crate) mod salvage;
pub(crate) mod stats;

pub(crate) mod follow;
pub(crate) mod replicate;
pub(crate) mod restore;

pub(crate) mod shell;
pub(crate) mod tui;

pub(crate) mod completions;
pub(crate) mod man;

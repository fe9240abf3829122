//! What is known of a space that was built: handed on by the process that built it.

use benches::workload::Id;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
pub struct Facts {
    pub folders: Vec<Id>,
    pub documents: Vec<Made>,
    /// How many there are in all.
    pub blocks: usize,
    /// Documents that writes go to.
    pub targets: Vec<Target>,
    /// The document of many tasks.
    pub busy: usize,
}

/// A document as Leafbase keeps it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Made {
    pub id: Id,
    pub title: String,
    /// When it was made, and when it last changed.
    pub times: (i64, i64),
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Target {
    /// Its number.
    pub at: usize,
    pub first: Id,
    pub task: Id,
}

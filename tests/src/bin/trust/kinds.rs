//! All kinds, in the order of the table.

use std::process::ExitCode;

use crate::kind::Kind;

mod model;
mod power_loss;
mod scopes;
mod threads;

pub const ALL: &[Kind] = &[power_loss::KIND, power_loss::SKIPPING, model::KIND, scopes::KIND, threads::KIND];

/// Kinds that need a process of their own start this program again, with arguments that no person gives.
pub fn child(_arguments: &[String]) -> Option<ExitCode> {
    None
}

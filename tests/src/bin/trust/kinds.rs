//! All kinds, in the order of the table.

use std::path::Path;
use std::process::ExitCode;

use crate::kind::Kind;

mod busy_kills;
mod damage;
mod disk_full;
mod io_errors;
mod kills;
mod model;
mod places;
mod power_loss;
mod processes;
mod scopes;
mod system_calls;
mod threads;
mod writers;

pub const ALL: &[Kind] = &[
    power_loss::KIND,
    power_loss::SKIPPING,
    io_errors::KIND,
    disk_full::KIND,
    system_calls::KIND,
    kills::KIND,
    busy_kills::KIND,
    processes::KIND,
    damage::KIND,
    model::KIND,
    scopes::KIND,
    threads::KIND,
    writers::KIND,
    places::KIND,
];

/// All kinds, without those whose tools are missing.
pub fn possible() -> Vec<&'static Kind> {
    let can_trace = system_calls::can_trace();
    if !can_trace {
        eprintln!("{}: left out, strace cannot run here", system_calls::KIND.name);
    }
    ALL.iter().filter(|kind| can_trace || kind.name != system_calls::KIND.name).collect()
}

/// Kinds that need a process of their own start this program again, with arguments that no person
/// gives.
pub fn child(arguments: &[String]) -> Option<ExitCode> {
    match arguments {
        [name, path, seed, lies] if name == kills::ARGUMENT => {
            Some(kills::write(Path::new(path), seed.parse().unwrap_or_default(), lies == "true"))
        }
        [name, path, orders @ ..] if name == busy_kills::BUSY_ARGUMENT => {
            Some(busy_kills::work(Path::new(path), orders))
        }
        [name, path, orders @ ..] if name == processes::SHARING_ARGUMENT => {
            Some(processes::share(Path::new(path), orders))
        }
        [name, seed, same_tokens] if name == places::ARGUMENT => {
            Some(places::serve(seed.parse().unwrap_or_default(), same_tokens == "true"))
        }
        [name, path, seed] if name == system_calls::ARGUMENT => {
            Some(system_calls::write(Path::new(path), seed.parse().unwrap_or_default()))
        }
        _ => None,
    }
}

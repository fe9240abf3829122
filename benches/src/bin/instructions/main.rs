//! The hot paths, each on its own and a fixed number of times, for `instructions.sh` to count the
//! instructions of.
//!
//! Without arguments it prints the names of the paths, one a line. With a name it does that one and
//! prints how many times. INSTRUCTIONS_MORE adds so many in a hundred, without saying so: what the
//! script has to notice.

mod paths;
mod small;

use benches::measure::setting;
use paths::PATHS;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(name) = std::env::args().nth(1) else {
        PATHS.iter().for_each(|path| println!("{}", path.name));
        return ExitCode::SUCCESS;
    };
    let Some(path) = PATHS.iter().find(|path| path.name == name) else {
        eprintln!("instructions: there is no path {name}; without arguments all are listed");
        return ExitCode::FAILURE;
    };
    let done = path.runs + path.runs * setting("INSTRUCTIONS_MORE", 0) / 100;
    let mut run = (path.ready)(done);
    hot_path(done, run.as_mut());
    println!("{}", path.runs);
    ExitCode::SUCCESS
}

/// What is counted: callgrind begins where this is called and ends where it returns. It is found by
/// its name, so it must stay a function.
#[inline(never)]
fn hot_path(runs: usize, run: &mut dyn FnMut(usize)) {
    (0..runs).for_each(run);
}

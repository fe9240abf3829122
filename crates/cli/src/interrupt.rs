//! Ctrl-C: the first one cancels a long operation in an orderly way, the second one ends the
//! program.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// How often a pause looks whether Ctrl-C was pressed.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

static ASKED: AtomicBool = AtomicBool::new(false);
/// Whether the command polls: otherwise the first Ctrl-C ends the program, as without the handler.
static POLLED: AtomicBool = AtomicBool::new(false);

/// Whether Ctrl-C is for a program that this one waits for.
static IGNORED: AtomicBool = AtomicBool::new(false);

/// Installs the handler, for commands that poll [`is_requested`].
pub(crate) fn listen() {
    POLLED.store(true, Ordering::Relaxed);
    install();
}

/// Runs `work`, which waits for a program that has the terminal, and ignores Ctrl-C meanwhile: it
/// is for that program.
pub(crate) fn ignore_during<T>(work: impl FnOnce() -> T) -> T {
    IGNORED.store(true, Ordering::Relaxed);
    install();
    let done = work();
    IGNORED.store(false, Ordering::Relaxed);
    done
}

fn install() {
    let handler = || {
        if IGNORED.load(Ordering::Relaxed) {
            return;
        }
        // Exits at once: a second Ctrl-C means that the orderly end takes too long.
        if !POLLED.load(Ordering::Relaxed) || ASKED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    };
    // Without the handler, Ctrl-C ends the program at once. The store recovers from that as from a
    // crash.
    drop(ctrlc::set_handler(handler));
}

/// Forgets a command of a shell that has ended, and the Ctrl-C that ended it.
pub(crate) fn forget() {
    POLLED.store(false, Ordering::Relaxed);
    ASKED.store(false, Ordering::Relaxed);
}

/// Whether Ctrl-C was pressed.
pub(crate) fn is_requested() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// The same as the control flow of a progress callback.
pub(crate) fn flow() -> ControlFlow<()> {
    if is_requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// Sleeps for `time`; returns true on Ctrl-C.
pub(crate) fn pause(time: Duration) -> bool {
    let mut left = time;
    while !left.is_zero() && !is_requested() {
        let step = left.min(CHECK_INTERVAL);
        thread::sleep(step);
        left -= step;
    }
    is_requested()
}

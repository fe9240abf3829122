//! Ctrl-C: the first one asks a long command to end in order, the second one ends the program.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C only asks to end. For commands that look at [`asked`].
pub(crate) fn listen() {
    let handler = || {
        if ASKED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    };
    // Without a handler Ctrl-C ends the program at once, which a space survives.
    drop(ctrlc::set_handler(handler));
}

/// Whether to end.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// What a long operation is told.
pub(crate) fn flow() -> ControlFlow<()> {
    if asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

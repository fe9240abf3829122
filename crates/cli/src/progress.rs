//! How far a long operation is: a line on the terminal, of what takes more than half a second.

use std::io::{self, IsTerminal};
use std::ops::ControlFlow;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::interrupt;

/// What is over sooner shows nothing.
const PATIENCE: Duration = Duration::from_millis(500);

const KNOWN: &str = "{msg} {wide_bar} {human_pos} of {human_len}  {per_sec}  {eta} left";
const UNKNOWN: &str = "{msg} {spinner} {human_pos}  {per_sec}  {elapsed}";
const WAITING: &str = "{msg} {spinner} {elapsed}";

/// The line of one operation.
pub(crate) struct Line {
    what: &'static str,
    began: Instant,
    /// Whether anybody would see it.
    seen: bool,
    bar: Option<ProgressBar>,
}

impl Line {
    /// The line of an operation that begins now; Ctrl-C asks it to end.
    pub(crate) fn new(what: &'static str) -> Self {
        interrupt::listen();
        Self { what, began: Instant::now(), seen: io::stderr().is_terminal(), bar: None }
    }

    /// Takes in how far the operation is, and tells it whether to go on.
    pub(crate) fn tell(&mut self, done: u64, total: Option<u64>) -> ControlFlow<()> {
        if self.bar.is_none() && self.seen && self.began.elapsed() >= PATIENCE {
            self.bar = Some(bar(self.what, total, ProgressDrawTarget::stderr()).with_elapsed(self.began.elapsed()));
        }
        if let Some(bar) = &self.bar {
            advance(bar, done, total);
        }
        interrupt::flow()
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(what: &'static str, total: Option<u64>, target: ProgressDrawTarget) -> ProgressBar {
    let template = if total.is_some() { KNOWN } else { UNKNOWN };
    ProgressBar::with_draw_target(total, target).with_style(style(template)).with_message(what)
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> ")
}

fn advance(bar: &ProgressBar, done: u64, total: Option<u64>) {
    if let Some(total) = total {
        bar.set_length(total);
    }
    bar.set_position(done);
}

/// Runs what cannot tell how far it is, and shows that it goes on.
pub(crate) fn while_running<T>(what: &'static str, work: impl FnOnce() -> T) -> T {
    if !io::stderr().is_terminal() {
        return work();
    }
    let (ended, wait) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            if wait.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                let bar = ProgressBar::new_spinner().with_style(style(WAITING)).with_message(what);
                let bar = bar.with_elapsed(PATIENCE);
                bar.enable_steady_tick(Duration::from_millis(100));
                // Nothing is sent: the other end goes when the work is done.
                let _gone = wait.recv();
                bar.finish_and_clear();
            }
        });
        let done = work();
        drop(ended);
        done
    })
}

#[cfg(test)]
mod tests {
    use indicatif::{InMemoryTerm, TermLike};

    use super::*;

    /// What a terminal of 80 columns shows.
    fn shown(total: Option<u64>, done: u64) -> String {
        let terminal = InMemoryTerm::new(3, 80);
        let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
        let bar = bar("importing", total, target).with_elapsed(Duration::from_secs(10));
        advance(&bar, done, total);
        bar.tick();
        let line = terminal.contents();
        assert!(line.lines().count() == 1 && line.chars().count() <= usize::from(terminal.width()), "{line}");
        bar.finish_and_clear();
        assert_eq!(terminal.contents(), "", "nothing stays");
        line
    }

    #[test]
    fn a_line_tells_how_much_is_done_how_fast_and_how_long_it_will_take() {
        let line = shown(Some(4_000), 1_000);
        assert!(
            line.starts_with("importing ==") && line.contains("> ") && line.contains(" 1,000 of 4,000  "),
            "{line}"
        );
        assert!(line.contains("/s  ") && line.ends_with("s left"), "{line}");
    }

    #[test]
    fn without_a_total_it_tells_how_much_is_done_how_fast_and_since_when() {
        let line = shown(None, 1_234);
        assert!(line.starts_with("importing ") && line.contains(" 1,234  ") && line.ends_with("/s  10s"), "{line}");
    }

    #[test]
    fn nothing_is_drawn_before_half_a_second_or_where_nobody_looks() {
        let mut line = Line { what: "importing", began: Instant::now(), seen: true, bar: None };
        assert!(line.tell(1, Some(2)).is_continue() && line.bar.is_none(), "too early");
        let began = Instant::now().checked_sub(PATIENCE).unwrap_or_else(Instant::now);
        let mut line = Line { what: "importing", began, seen: false, bar: None };
        assert!(line.tell(1, Some(2)).is_continue() && line.bar.is_none(), "nobody looks");
        line.seen = true;
        assert!(line.tell(1, Some(2)).is_continue() && line.bar.is_some());
    }
}

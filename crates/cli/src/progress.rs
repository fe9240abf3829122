//! The progress line of long operations, drawn on the terminal after half a second.

use std::borrow::Cow;
use std::fmt::Write;
use std::io::{self, IsTerminal};
use std::ops::ControlFlow;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::interrupt;
use crate::show::line;

/// Operations shorter than this draw nothing.
const DRAW_DELAY: Duration = Duration::from_millis(500);

const KNOWN: &str = "{msg} {wide_bar} {human_pos} of {human_len}  {rate}  {left} left";
const UNKNOWN: &str = "{msg} {spinner} {human_pos}  {rate}  {since}";
const WAITING: &str = "{msg} {spinner} {since}";

/// The progress line of one operation.
pub(crate) struct ProgressLine {
    what: &'static str,
    began: Instant,
    /// Whether the standard error is a terminal.
    is_visible: bool,
    bar: Option<ProgressBar>,
}

impl ProgressLine {
    /// Starts the line of an operation; from now on Ctrl-C cancels the operation.
    pub(crate) fn new(what: &'static str) -> Self {
        interrupt::listen();
        Self { what, began: Instant::now(), is_visible: io::stderr().is_terminal(), bar: None }
    }

    /// Reports progress; the result tells the operation whether to continue.
    pub(crate) fn report(&mut self, done: u64, total: Option<u64>) -> ControlFlow<()> {
        // The bar is created late: a short operation leaves no flicker on the terminal.
        if self.bar.is_none() && self.is_visible && self.began.elapsed() >= DRAW_DELAY {
            self.bar = Some(
                bar(self.what, total, ProgressDrawTarget::stderr())
                    .with_elapsed(self.began.elapsed()),
            );
        }
        if let Some(bar) = &self.bar {
            advance(bar, done, total);
        }
        interrupt::flow()
    }
}

impl Drop for ProgressLine {
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
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    // Writing to a string cannot fail.
    let key = |text: fn(&ProgressState) -> String| {
        move |state: &ProgressState, line: &mut dyn Write| {
            let _infallible = line.write_str(&text(state));
        }
    };
    style
        .progress_chars("=> ")
        .with_key("rate", key(|state| rate(state.pos(), state.elapsed())))
        .with_key("left", key(|state| left(state.pos(), state.len().unwrap_or(0), state.elapsed())))
        .with_key("since", key(|state| span(state.elapsed().as_secs())))
}

/// Average rate since the start.
fn rate(done: u64, elapsed: Duration) -> String {
    let each_second = u128::from(done) * 1_000 / elapsed.as_millis().max(1);
    format!("{}/s", line::number(each_second))
}

/// Remaining time at the average rate.
fn left(done: u64, total: u64, elapsed: Duration) -> String {
    let rest = u128::from(total.saturating_sub(done)) * elapsed.as_millis();
    let millis = rest.checked_div(u128::from(done)).unwrap_or(0);
    span(u64::try_from(millis.div_ceil(1_000)).unwrap_or(u64::MAX))
}

/// A duration in at most two units.
fn span(seconds: u64) -> String {
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, seconds) => format!("{minutes}m {seconds:02}s"),
        (hours, minutes, _) => format!("{hours}h {minutes:02}m"),
    }
}

fn advance(bar: &ProgressBar, done: u64, total: Option<u64>) {
    if let Some(total) = total {
        bar.set_length(total);
    }
    bar.set_position(done);
}

/// Runs an operation that reports no progress, with a spinner.
pub(crate) fn while_running<T>(what: impl Into<Cow<'static, str>>, work: impl FnOnce() -> T) -> T {
    // No thread is spawned for output that nothing shows.
    if !io::stderr().is_terminal() {
        return work();
    }
    let (what, (ended, wait)) = (what.into(), mpsc::channel::<()>());
    thread::scope(|scope| {
        scope.spawn(move || {
            if wait.recv_timeout(DRAW_DELAY) == Err(RecvTimeoutError::Timeout) {
                let bar = ProgressBar::new_spinner().with_style(style(WAITING)).with_message(what);
                let bar = bar.with_elapsed(DRAW_DELAY);
                bar.enable_steady_tick(Duration::from_millis(100));
                // No message is ever sent: `recv` returns when the sender is dropped, when the work
                // is done.
                let _gone = wait.recv();
                bar.finish_and_clear();
            }
        });
        // The work runs on this thread: it need not be `Send`, and its panic propagates as usual.
        let done = work();
        drop(ended);
        done
    })
}

#[cfg(test)]
mod tests {
    use indicatif::{InMemoryTerm, TermLike};

    use super::*;

    /// The output on a terminal of 80 columns.
    fn shown(total: Option<u64>, done: u64) -> String {
        let terminal = InMemoryTerm::new(3, 80);
        let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
        let bar = bar("importing", total, target).with_elapsed(Duration::from_secs(10));
        advance(&bar, done, total);
        bar.tick();
        let line = terminal.contents();
        assert!(
            line.lines().count() == 1 && line.chars().count() <= usize::from(terminal.width()),
            "{line}"
        );
        bar.finish_and_clear();
        assert_eq!(terminal.contents(), "", "nothing stays");
        line
    }

    #[test]
    fn a_line_tells_how_much_is_done_how_fast_and_how_long_it_will_take() {
        let line = shown(Some(4_000_000), 1_000_000);
        let (bar, told) = line.split_once(" 1,000,000 of 4,000,000  ").unwrap_or_default();
        assert!(bar.starts_with("importing ==") && bar.contains("> "), "{line}");
        // The clock goes on while it is drawn.
        assert!(told.starts_with("99,") || told.starts_with("100,000/s"), "{line}");
        assert!(told.ends_with("/s  30s left") || told.ends_with("/s  31s left"), "{line}");
    }

    #[test]
    fn rates_are_means_and_what_is_left_goes_on_like_that() {
        let seconds = Duration::from_secs;
        assert_eq!(rate(0, Duration::ZERO), "0/s");
        assert_eq!(rate(12_345, seconds(1)), "12,345/s");
        assert_eq!(rate(u64::MAX, Duration::from_millis(1)), "18,446,744,073,709,551,615/s");
        for (done, total, elapsed, expected) in [
            (0, 10, 5, "0s"),
            (5, 10, 5, "5s"),
            (10, 10, 5, "0s"),
            (11, 10, 5, "0s"),
            (1, 100, 2, "3m 18s"),
            (1, 3_601, 1, "1h 00m"),
            (1, u64::MAX, 86_400, "5124095576030431h 00m"),
        ] {
            assert_eq!(
                left(done, total, seconds(elapsed)),
                expected,
                "{done} of {total} in {elapsed}"
            );
        }
    }

    #[test]
    fn without_a_total_it_tells_how_much_is_done_how_fast_and_since_when() {
        let line = shown(None, 1_234);
        assert!(
            line.starts_with("importing ")
                && line.contains(" 1,234  12")
                && line.ends_with("/s  10s"),
            "{line}"
        );
    }

    #[test]
    fn nothing_is_drawn_before_half_a_second_or_where_nobody_looks() {
        let mut line =
            ProgressLine { what: "importing", began: Instant::now(), is_visible: true, bar: None };
        assert!(line.report(1, Some(2)).is_continue() && line.bar.is_none(), "too early");
        let began = Instant::now().checked_sub(DRAW_DELAY).unwrap_or_else(Instant::now);
        let mut line = ProgressLine { what: "importing", began, is_visible: false, bar: None };
        assert!(line.report(1, Some(2)).is_continue() && line.bar.is_none(), "nobody looks");
        line.is_visible = true;
        assert!(line.report(1, Some(2)).is_continue() && line.bar.is_some());
    }
}

//! Runs one command line, and reports how it ended.

use std::io::Write;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Mutex;

use crate::args::Arguments;
use crate::context::{CommandContext, HeldSpace};
use crate::error::{CliError, Exit};
use crate::options::ColorMode;
use crate::out;

/// Message and location of the last panic.
static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

fn last_panic() -> String {
    LAST_PANIC.lock().map(|message| message.clone()).unwrap_or_default()
}

/// Records panics instead of printing them: the engine turns a panic caused by a damaged store into
/// an error, so only a panic that reaches [`run`] is reported.
pub(crate) fn record_panics() {
    panic::set_hook(Box::new(|panic| {
        if let Ok(mut last) = LAST_PANIC.lock() {
            *last = panic.to_string();
        }
    }));
}

/// Runs the command, on `held` if it is at that space. Errors name the line of a script.
pub(crate) fn run(
    Arguments { options, command }: Arguments,
    held: Option<HeldSpace>,
    line: Option<usize>,
) -> Exit {
    let mut context = CommandContext::new(options, held);
    // Unwind safe: after a panic only the output is used, which holds no invariant.
    let running = AssertUnwindSafe(|| {
        command.run(&mut context).and_then(|exit| context.out.flush().map(|()| exit))
    });
    let result = panic::catch_unwind(running).unwrap_or_else(|_| Err(CliError::bug(&last_panic())));
    result.unwrap_or_else(|error| {
        // Buffered output precedes the error. The flush may fail, too: the error matters more.
        drop(context.out.flush());
        report(error, line, context.options.json, context.options.color)
    })
}

/// Reports an invalid command line. Help and the version are not errors: they go to the standard
/// output.
pub(crate) fn report_usage(error: &clap::Error, line: Option<usize>, wants_json: bool) -> Exit {
    if error.use_stderr() && (wants_json || line.is_some()) {
        let text = error.to_string();
        // The first paragraph: further lines of it name missing arguments and possible values.
        let lines = text.lines().take_while(|line| !line.is_empty()).map(str::trim);
        let sentence = lines.collect::<Vec<_>>().join(" ");
        let sentence = sentence.trim_start_matches("error: ");
        return report(CliError::usage(sentence), line, wants_json, ColorMode::Never);
    }
    // A failed print leaves only the exit code.
    drop(error.print());
    if error.use_stderr() { Exit::Usage } else { Exit::Done }
}

/// Writes the error to the standard error and returns how the program ends.
pub(crate) fn report(error: CliError, line: Option<usize>, json: bool, color: ColorMode) -> Exit {
    let error = match line {
        Some(line) => error.prefixed(&format!("line {line}: ")),
        None => error,
    };
    let CliError::Reported(report) = error else { return Exit::Done };
    let text = if json { report.to_json() } else { report.to_text() };
    // A failed write leaves only the exit code.
    drop(out::error_stream(color).write_all(text.as_bytes()));
    report.exit
}

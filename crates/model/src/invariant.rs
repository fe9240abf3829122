//! `invariant!`: a broken invariant stops the operation instead of turning into an empty value.

use std::any::Any;
use std::fmt;

use crate::{Error, ErrorKind};

/// Checks an invariant of the code itself, never the caller's input.
///
/// `invariant!(condition, "what should hold")` panics if the condition is false and debug
/// assertions are on (tests, fuzzing). In release builds it returns [`ErrorKind::Internal`] with
/// the message from the enclosing function, which returns a `Result` of [`Error`].
/// `invariant!("what should hold")` is the form for an unreachable branch; it has type `!`.
///
/// Check it before a write that relies on the condition, so that nothing is written if it fails.
///
/// ```should_panic
/// fn middle(of: &[u32]) -> leafbase_model::Result<u32> {
///     let Some(value) = of.get(of.len() / 2) else {
///         leafbase_model::invariant!("a leaf has at least one entry")
///     };
///     leafbase_model::invariant!(*value > 0, "an entry is positive, got {value}");
///     Ok(*value)
/// }
///
/// assert_eq!(middle(&[1, 2, 3]).unwrap(), 2);
/// middle(&[]).ok(); // panics: debug assertions are on in tests
/// ```
#[macro_export]
macro_rules! invariant {
    ($message:literal $(, $argument:expr)* $(,)?) => {
        return ::core::result::Result::Err($crate::broken_invariant(
            ::core::format_args!($message $(, $argument)*)
        ))
    };
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return ::core::result::Result::Err($crate::broken_invariant(
                ::core::format_args!($($message)+)
            ));
        }
    };
}

/// What the message of a broken invariant starts with.
const PREFIX: &str = "broken invariant: ";

/// The error of a broken invariant; see [`invariant!`](crate::invariant), which calls it.
///
/// # Panics
///
/// Where debug assertions are on.
#[cold]
#[track_caller]
#[expect(
    clippy::manual_assert,
    clippy::panic,
    reason = "a bug found by a test or a fuzzer must stop it; release builds get the error"
)]
pub fn broken_invariant(message: fmt::Arguments<'_>) -> Error {
    if cfg!(debug_assertions) {
        panic!("{PREFIX}{message}");
    }
    Error::new(ErrorKind::Internal, format!("internal error, please report it: {PREFIX}{message}"))
}

/// Whether a panic is that of a broken invariant. Code that turns the panics of a library into
/// errors resumes it: a bug of our own is not a damaged file.
pub fn is_broken_invariant(panic: &(dyn Any + Send)) -> bool {
    let message = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    message.is_some_and(|message| message.starts_with(PREFIX))
}

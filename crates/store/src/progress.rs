//! Progress of long operations.

use std::ops::ControlFlow;

/// Receives the number of rows done so far; `Break` cancels the operation.
pub type ProgressFn<'a> = &'a mut dyn FnMut(u64) -> ControlFlow<()>;

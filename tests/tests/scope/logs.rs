//! What is logged during a call.

use std::fmt::{Debug, Write};
use std::sync::{Arc, LazyLock, Mutex};

use tracing::dispatcher::{self, Dispatch};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

struct Line<'a>(&'a mut String);

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {field}={value:?}").unwrap();
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut Line(&mut self.0.lock().unwrap()));
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut Line(&mut self.0.lock().unwrap()));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut text = self.0.lock().unwrap();
        write!(text, "\n{:?}", event.metadata()).unwrap();
        event.record(&mut Line(&mut text));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// A second subscriber, so that there is never one alone: with one alone, `tracing-core` asks the
/// thread that meets a callsite first instead of the subscriber, and what another test's thread has
/// met without a subscriber stays unlogged here.
static SECOND: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(Log::default()));

/// What `call` gives, and what it logs at any level on this thread.
pub fn logged<T>(call: impl FnOnce() -> T) -> (T, String) {
    LazyLock::force(&SECOND);
    let log = Log::default();
    let given = dispatcher::with_default(&Dispatch::new(log.clone()), call);
    let text = log.0.lock().unwrap().clone();
    (given, text)
}

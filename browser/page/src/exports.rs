//! What JavaScript sees. Requests and replies are text in JSON; what is thrown is an error of
//! Leafbase as an object, `{"code", "message", ..}`.

use std::panic;

use js_sys::{Date, JSON};
use leafbase::{Clock, Error, Result, Space, SpaceBuilder, Timestamp};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::notes::Notes;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console, js_name = error)]
    fn log_error(message: &str);
}

/// The target has no clock of its own.
struct BrowserClock;

impl Clock for BrowserClock {
    fn now(&self) -> Timestamp {
        #[allow(clippy::cast_possible_truncation, reason = "whole milliseconds, below 2^53")]
        Timestamp::from_millis(Date::now() as i64)
    }
}

fn builder() -> SpaceBuilder {
    panic::set_hook(Box::new(|panic| log_error(&panic.to_string())));
    Space::builder().clock(BrowserClock)
}

fn thrown<T>(result: Result<T>) -> std::result::Result<T, JsValue> {
    result.map_err(|error: Error| {
        let text = serde_json::to_string(&error).unwrap_or_default();
        JSON::parse(&text).unwrap_or_else(|_| JsValue::from_str(error.message()))
    })
}

/// The space of the page.
#[wasm_bindgen(js_name = Notes)]
pub struct ExportedNotes(Notes);

#[wasm_bindgen(js_class = Notes)]
impl ExportedNotes {
    /// An empty space, whose days are those of a time zone such as `Europe/Lisbon`.
    ///
    /// # Errors
    /// Those of [`Notes::create`].
    pub fn create(zone: &str) -> std::result::Result<Self, JsValue> {
        thrown(Notes::create(builder().name("Notes").zone(zone)).map(Self))
    }

    /// The space that was saved.
    ///
    /// # Errors
    /// Those of [`Notes::open`].
    pub fn open(saved: &[u8]) -> std::result::Result<Self, JsValue> {
        thrown(Notes::open(builder(), saved).map(Self))
    }

    /// The entries of the space.
    ///
    /// # Errors
    /// Those of [`Notes::save`].
    pub fn save(&self) -> std::result::Result<Vec<u8>, JsValue> {
        thrown(self.0.save())
    }

    /// Calls an operation.
    ///
    /// # Errors
    /// Those of [`Notes::call`].
    pub fn call(&mut self, operation: &str, request: &str) -> std::result::Result<String, JsValue> {
        thrown(self.0.call(operation, request))
    }
}

//! A text language for block trees and a naive model, for tests.

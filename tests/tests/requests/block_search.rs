//! Search in one document: which blocks patterns match, where, and what is shown around them.

mod costs;
mod found;
mod oracle;
mod parts;
mod refusals;
mod shelf;

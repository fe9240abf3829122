//! Requests as a host passes them on: JSON in, JSON or an error with its code and its path out.

mod host;

mod bounds;
mod deep;
mod drafts;
mod fields;
mod ids;
mod json;
mod positions;
mod rendered;
mod undo;

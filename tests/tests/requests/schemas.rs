//! Collections and their schemas.

mod shelf;

mod made;
mod replaced;

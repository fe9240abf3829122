//! Collections and their schemas.

mod shelf;

mod made;
mod random;
mod replaced;

//! Replicas of spaces that random programs write.

mod dump;
mod programs;
mod stores;

mod damage;
mod followers;
mod leaders;
#[cfg(feature = "object-store")]
mod object_stores;
mod purges;
mod restores;

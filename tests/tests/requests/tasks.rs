//! Tasks: the five scopes, and what is done to them.

mod adding;
mod blocks;
mod desk;
mod inbox;
mod listing;
mod midnight;
mod updating;

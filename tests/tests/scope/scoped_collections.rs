//! Collections on a scoped connection: a relation to what it does not see is nowhere, stays, and
//! moves nothing that is seen.

mod ends;
mod keys;
mod steps;
mod worlds;

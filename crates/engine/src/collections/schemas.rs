//! The operations on collections: list, create, read and replace schemas.

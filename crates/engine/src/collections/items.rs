//! The operations on items: get, add, update, delete.

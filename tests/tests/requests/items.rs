//! Items of collections: what requests make of them, and how replies show them.

mod library;
mod pages;
mod paging;
mod refusals;
mod relations;
mod values;

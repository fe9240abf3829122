//! Requests as a host passes them on: JSON in, JSON or an error with its code and its path out.

mod host;
mod stores;

mod block_search;
mod bounds;
mod collections;
mod comments;
mod days;
mod deep;
mod documents;
mod drafts;
mod fields;
mod files;
mod folders;
mod followers;
mod ids;
mod info;
mod item_queries;
mod items;
mod json;
mod links;
mod lookups;
mod positions;
mod rendered;
mod schemas;
mod tasks;
mod templates;
mod undo;

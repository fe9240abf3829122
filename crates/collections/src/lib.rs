//! Rules of Leafbase collections: schemas, item values, relations between items, and queries.
//!
//! The crate decides and writes nothing. It reads through [`ReadCollections`] and
//! [`IndexStatistics`] and returns values, plans and changes for the caller to store. A collection
//! is a block whose children are its items. Its schema is stored next to it, and an item's values
//! are [`Properties`](leafbase_model::Properties) by key.
//!
//! | Task | Entry point |
//! |---|---|
//! | complete a schema from a request: assign keys, check it | [`complete`] |
//! | give a collection its first schema, or another | [`replace()`]: the schemas at all ends of relations, then [`Replacement::apply`] per item if [`Replacement::touches_items`]; [`LostValues::refuse`] reports blocking items |
//! | read items of a request | [`read_added`], [`read_updated`]: titles, values by [`ValueReader`], new options |
//! | apply their values and relations | [`RelationBatch`]: the changes of each item, then [`RelationBatch::finish`] returns the values of every item concerned |
//! | delete items or collections | [`unlink_items`]; [`remove_collections`] |
//! | return values | scalars as stored; relations by [`related`], or [`inverse_index`] for many items |
//! | describe valid requests | [`items_schema`] |
//! | run a query | [`ItemQuery::new`] compiles it, [`plan()`] chooses the rows to read, [`QueryPageBuilder`] filters and sorts them; [`Groups`] counts |
//! | index an item | [`index_keys`] of each value and of its title |
//! | check stored items after an undo | [`ConstraintCheck`] |
//!
//! A schema from a request is completed with a key for every property. Values from a request are
//! read by the types of their properties:
//!
//! ```
//! use leafbase_collections::{ValueReader, complete};
//! use leafbase_model::{Limits, PropertyDraft, PropertyKind, SchemaDraft};
//!
//! let limits = Limits::default();
//! let draft = SchemaDraft::new("Chores", [PropertyDraft::new("Due date", PropertyKind::Date)]);
//! let schema = complete(draft, &limits)?;
//! assert_eq!(schema.properties[0].key, "due_date");
//!
//! let reader = ValueReader { today: "2026-11-21".parse()?, limits: &limits, new_options: false };
//! let error = reader.read(&schema.properties[0], &"soon".into()).unwrap_err();
//! assert_eq!(error.message(), r#"expected a day YYYY-MM-DD, got "soon""#);
//! # Ok::<(), leafbase_model::Error>(())
//! ```
//!
//! # Relations
//!
//! A relation has two ends: a property in each of two collections, two properties of one
//! collection, or one property that is its own inverse. The end that was declared first owns the
//! relation. Items of that end store the related IDs; the other end iterates back links. There
//! is one source of truth, and whichever end a request sets, items of the owner change.
//! [`RelationBatch`] takes a request as a whole and checks single relations at its end: two items
//! may swap their related items, but no pair is unlinked that the request does not mention.
//!
//! # Queries
//!
//! [`ItemQuery`] documents the conditions, [`plan()`] which of them an index serves. Filters, sorts
//! and indexes compare values of a type alike. [`ItemQuery::matches`] and [`ItemQuery::order_key`]
//! alone define the result: any access that yields a superset of it gives the same page.

mod keys;
mod schemas;

mod patterns;
mod predicates;
mod property_types;
mod sort_keys;
mod value_rules;
mod values;

mod items;
mod json_schema;

mod reader;

mod relation_ends;
mod relations;

mod convert;
mod inverses;
mod replacement;

mod conditions;
mod query;

mod access;
mod groups;
mod intersection;
mod page;
mod plan;

mod constraints;

pub use access::{AccessPath, IndexRange};
pub use constraints::ConstraintCheck;
pub use groups::Groups;
pub use intersection::{IndexIntersection, ScanCost, lookup_cost};
pub use items::{AddedItem, ItemChange, ReadItems, read_added, read_updated};
pub use json_schema::items_schema;
pub use keys::{ColumnKey, KeyGenerator, Keys, is_key, key_of};
pub use page::{PushResult, QueryPage, QueryPageBuilder};
pub use plan::{IndexStatistics, QueryPlan, plan};
pub use query::{ColumnRef, ItemQuery, OrderKey, QueryRow};
pub use reader::{ReadCollections, StoredItem};
pub use relations::{ChangedItem, RelationBatch, inverse_index, related, unlink_items};
pub use replacement::{
    CollectionRemoval, LostValues, Replacement, remove_collections, replace, replace_with_keys,
};
pub use schemas::complete;
pub use sort_keys::{SORT_KEY_BYTES, TEXT_BYTES, fold, index_keys, sort_key};
pub use value_rules::ValueReader;
pub use values::new_options;

//! What a Leafbase collection allows: schemas, the values that items may have, relations between
//! them, and queries over them.
//!
//! It decides and writes nothing. It reads through small traits that a store serves, and returns
//! values, plans and changes that its caller writes. A collection is a block whose children are its
//! items; its schema is kept beside it, and an item's values are
//! [`Properties`](leafbase_model::Properties) by key.
//!
//! | What happens | Here |
//! |---|---|
//! | a schema comes in a request: keys are given, the whole is checked | [`complete`] |
//! | a collection gets its first schema or another | [`replace()`]: the schemas at all ends, then [`Replacement::apply`] for each item, unless [`Replacement::touches_items`] says no; [`Lost::refuse`] names those in the way |
//! | items come in a request | [`read_added`], [`read_updated`]: titles, values by [`Values`], options that are new |
//! | their values, and relations above all, are put in | [`Relating`]: each item's changes, then [`Relating::finish`] tells what every item concerned is to hold |
//! | items go, collections go | [`forget`]; [`remove_collections`] |
//! | values are shown | scalars as they are kept; relations by [`related`], or [`inverted`] for many items |
//! | a client wants to know what it may send | [`items_schema`] |
//! | a query | [`Query::new`] reads it, [`plan()`] says which rows to read, [`Page`] takes them; [`Groups`] counts |
//! | an item is indexed | [`index_keys`] of each value and of its title |
//! | a change is undone, maybe late | [`Verifying`]: that what it left is as operations leave it |
//!
//! A request's schema becomes one that can be kept, every property with a key; a request's values
//! are read by the types of their properties:
//!
//! ```
//! use leafbase_collections::{Values, complete};
//! use leafbase_model::{Limits, PropertyKind, PropertyDraft, SchemaDraft};
//!
//! let limits = Limits::default();
//! let draft = SchemaDraft::new("Chores", [PropertyDraft::new("Due date", PropertyKind::Date)]);
//! let schema = complete(draft, &limits)?;
//! assert_eq!(schema.properties[0].key, "due_date");
//!
//! let values = Values { today: "2026-11-21".parse()?, limits: &limits, new_options: false };
//! let error = values.read(&schema.properties[0], &"soon".into()).unwrap_err();
//! assert_eq!(error.message(), r#"expected a day YYYY-MM-DD, got "soon""#);
//! # Ok::<(), leafbase_model::Error>(())
//! ```
//!
//! # Relations
//!
//! A relation has two ends, a property in each of two collections, or two of one collection, or one
//! that is its own other end. One end owns it: the one that was declared first. The items of that
//! end hold the related IDs; the other end is read from the back links. So there is one truth, and
//! whichever end a request sets, items of the owner change. [`Relating`] takes a request as a whole
//! and checks the limits of single ends at the end of it: two items may swap what they have, but
//! none loses anything that the request does not name.
//!
//! # Queries
//!
//! What each condition means is told at [`Query`], what an index serves at [`plan()`]; values of
//! one type are compared alike by filters, sorts and indexes. [`Query::matches`] and
//! [`Query::place`] alone define the answer: any access that yields all rows of the answer, and
//! maybe others, gives the same page.

mod keys;
mod schemas;

mod forms;
mod values;

mod items;
mod json_schema;

mod read;

mod ends;
mod relations;

mod convert;
mod pairing;
mod replace;

mod sort_key;

mod conditions;
mod query;

mod groups;
mod narrowing;
mod page;
mod plan;

mod verifying;

pub use groups::Groups;
pub use items::{ItemChange, NewItem, ReadItems, read_added, read_updated};
pub use json_schema::items_schema;
pub use keys::{Keys, is_key, key_of};
pub use narrowing::{Narrowing, Pace, rows_of_lookups};
pub use page::{Found, Offer, Page};
pub use plan::{Access, IndexStatistics, KeyRange, Plan, plan};
pub use query::{ColumnRef, Place, Query, Row};
pub use read::{ReadCollections, StoredItem};
pub use relations::{ChangedItem, Relating, forget, inverted, related};
pub use replace::{
    Column, Lost, NewKey, Removal, Replacement, remove_collections, replace, replace_with_keys,
};
pub use schemas::complete;
pub use sort_key::{SORT_KEY_BYTES, TEXT_BYTES, fold, index_keys, sort_key};
pub use values::{Values, new_options};
pub use verifying::Verifying;

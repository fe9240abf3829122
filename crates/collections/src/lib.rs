//! What a Leafbase collection allows: keys of properties, schemas, and the values that items may have.
//!
//! It decides and writes nothing. A request's schema becomes one that can be kept, every property with a key; a request's
//! values are read by the types of their properties:
//!
//! ```
//! use leafbase_collections::{Values, complete};
//! use leafbase_model::{Limits, PropertyKind, PropertyDraft, SchemaDraft};
//!
//! let limits = Limits::default();
//! let properties = vec![PropertyDraft::new("Due date", PropertyKind::Date)];
//! let draft = SchemaDraft { key: None, name: "Chores".into(), content: None, properties };
//! let schema = complete(draft, &limits)?;
//! assert_eq!(schema.properties[0].key, "due_date");
//!
//! let values = Values { today: "2026-11-21".parse()?, limits: &limits, new_options: false };
//! let error = values.read(&schema.properties[0], &"soon".into()).unwrap_err();
//! assert_eq!(error.message(), r#"expected a day YYYY-MM-DD, got "soon""#);
//! # Ok::<(), leafbase_model::Error>(())
//! ```

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

mod page;
mod plan;

pub use items::{ItemChange, NewItem, ReadItems, read_added, read_updated};
pub use json_schema::items_schema;
pub use keys::{Keys, is_key, key_of};
pub use page::{Found, Page, groups_of};
pub use plan::{Access, IndexStatistics, KeyRange, Plan, plan};
pub use query::{ColumnRef, Place, Query, Row};
pub use read::{ReadCollections, StoredItem};
pub use relations::{ChangedItem, Relating, forget, inverted, related};
pub use replace::{Column, Lost, Removal, Replacement, remove_collections, replace};
pub use schemas::complete;
pub use sort_key::{SORT_KEY_BYTES, TEXT_BYTES, fold, index_keys, sort_key};
pub use values::{Values, new_options};

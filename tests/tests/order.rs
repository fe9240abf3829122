//! What is shown by its ID keeps the order of the request that made it, whatever IDs the host gives
//! out within a millisecond.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use leafbase::{
    AddComments, AddItems, CommentDraft, CreateCollection, IdSource, ItemDraft, PropertyDraft,
    Relation, SchemaDraft, Space, Timestamp,
};

/// IDs that count down.
#[derive(Debug)]
struct Falling(AtomicU64);

impl IdSource for Falling {
    fn new_id(&self, _: Timestamp) -> [u8; 16] {
        u128::from(self.0.fetch_sub(1, Ordering::Relaxed)).to_be_bytes()
    }
}

#[test]
fn what_is_shown_by_its_id_keeps_the_order_of_the_request() {
    let ids = Arc::new(Falling(AtomicU64::new(1_000_000)));
    let notes = Space::builder().ids(ids).in_memory().unwrap().connect();
    let home = notes.create_document("Home").unwrap().id();

    let make = |schema| notes.create_collection(CreateCollection::new(schema, home)).unwrap().id;
    let projects = make(SchemaDraft::new("Projects", []));
    let relation = Relation::to(projects).with_inverse("tasks").single();
    let tasks = make(SchemaDraft::new("Tasks", [PropertyDraft::new("Project", relation.into())]));
    let house = notes.add_items(AddItems::new(projects, [ItemDraft::new("House")])).unwrap()[0].id;
    let names = ["Paint", "Mend", "Rest"];
    let drafts = names.map(|name| ItemDraft::new(name).with("project", vec![house.to_string()]));
    let added = notes.add_items(AddItems::new(tasks, drafts)).unwrap();
    assert!(added.is_sorted_by_key(|item| item.id));
    let shown = notes.items(projects).unwrap();
    assert!(shown[0].related("tasks").iter().map(|item| item.title.as_str()).eq(names));

    let drafts = names.map(|text| CommentDraft::new(house, text));
    let commented = notes.add_comments(AddComments::new(drafts)).unwrap();
    assert!(commented.is_sorted_by_key(|comment| comment.comment_id));
}

//! Queries of a collection that the samples lack.

use leafbase::{
    AddItems, CreateCollection, ItemDraft, PropertyDraft, PropertyKind, SchemaDraft, SelectOption,
    Space,
};

use super::transcript::Desk;

#[test]
fn an_option_with_a_comma_is_one_value() {
    let mut desk = Desk::new();
    let space = Space::create(desk.path().join("tagged.leafbase")).unwrap();
    let notes = space.connect();
    let document = notes.create_document("Library").unwrap().id();
    let tags = ["a,b", "a", "b"];
    let options = tags.map(SelectOption::new).to_vec();
    let tags_property = PropertyDraft::new("Tags", PropertyKind::MultiSelect(options));
    let schema = SchemaDraft::new("Notes", [tags_property]);
    let collection = notes.create_collection(CreateCollection::new(schema, document)).unwrap().id;
    let items =
        tags.map(|tag| ItemDraft::new(format!("with {tag}")).with("tags", vec![tag.to_owned()]));
    notes.add_items(AddItems::new(collection, items)).unwrap();
    space.close().unwrap();
    let mut titles = |condition: &str| {
        let query = "leafbase -s tagged.leafbase query Notes --sort title --json";
        desk.run(&format!("{query} --where '{condition}' | grep -o 'with [ab,]*'"))
    };
    assert_eq!(titles("tags=a,b"), "with a,b\n");
    assert_eq!(titles("tags!=a,b"), "with a\nwith b\n");
    assert_eq!(titles("tags=b,a"), "with a\nwith b\n");
}

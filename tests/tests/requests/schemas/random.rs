//! Random replacements of related schemas: the laws of the store hold after each, what is not
//! refused loses nothing, and all of it is undone.

use std::collections::{BTreeMap, BTreeSet};

use leafbase::{
    AddItems, BlockId, CreateCollection, DeleteDocuments, Destination, DocumentId, ErrorKind,
    ItemDraft, ItemUpdate, ItemValue, Location, MoveDocuments, Property, PropertyDraft,
    PropertyKind, Relation, ReplaceSchema, Schema, SchemaDraft, SelectOption, Space, UpdateItems,
};
use leafbase_test_outline::{Numbers, SequentialIds};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::shelf::dump;

const NAMES: [&str; 4] = ["A", "B", "C", "D"];
const OPTIONS: [&str; 3] = ["12", "open", "2026-03-01"];

struct Scene {
    notes: leafbase::Connection,
    documents: Vec<DocumentId>,
    collections: Vec<BlockId>,
    items: BTreeMap<BlockId, Vec<BlockId>>,
}

impl Scene {
    /// Three collections with three items each, in two documents.
    fn new() -> Self {
        let notes = Space::builder().ids(SequentialIds::new(1)).in_memory().unwrap().connect();
        let documents: Vec<_> =
            ["x", "y"].map(|title| notes.create_document(title).unwrap().id()).into();
        let mut scene = Self { notes, documents, collections: Vec::new(), items: BTreeMap::new() };
        for (name, home) in [("one", 0), ("two", 0), ("three", 1)] {
            let draft = SchemaDraft::new(name, []);
            let id = scene
                .notes
                .create_collection(CreateCollection::new(draft, scene.documents[home]))
                .unwrap()
                .id;
            let items = ["i", "j", "k"].map(ItemDraft::new);
            let added = scene.notes.add_items(AddItems::new(id, items)).unwrap();
            scene.items.insert(id, added.iter().map(|item| item.id).collect());
            scene.collections.push(id);
        }
        scene
    }

    fn dump(&self) -> String {
        dump(&self.notes)
    }

    /// The items that have a value, by key.
    fn filled(&self, collection: BlockId) -> BTreeMap<String, BTreeSet<BlockId>> {
        let mut filled: BTreeMap<String, BTreeSet<BlockId>> = BTreeMap::new();
        for item in self.notes.items(collection).unwrap().items {
            for (key, _) in item.properties.iter() {
                filled.entry(key.into()).or_default().insert(item.id);
            }
        }
        filled
    }

    /// Both ends of every relation show the same pairs.
    fn check(&self) {
        let report = self.notes.space().check().unwrap();
        assert!(report.is_clean(), "{report:?}");
        let pairs = |collection: BlockId, key: &str| {
            let mut pairs = BTreeSet::new();
            for item in self.notes.items(collection).unwrap().items {
                if let Some(ItemValue::Relations(related)) = item.property(key) {
                    pairs.extend(related.iter().map(|related| (item.id, related.block_id)));
                }
            }
            pairs
        };
        for collection in &self.collections {
            for Property { key, kind, .. } in self.notes.schema(*collection).unwrap().properties {
                let PropertyKind::Relation(relation) = kind else { continue };
                let there = pairs(relation.target, &relation.inverse_key.unwrap());
                let back: BTreeSet<_> =
                    there.into_iter().map(|(one, other)| (other, one)).collect();
                assert_eq!(pairs(*collection, &key), back);
            }
        }
    }

    fn kind(&self, numbers: &mut Numbers<'_>) -> PropertyKind {
        let mut options = || {
            let options = OPTIONS.iter().filter(|_| numbers.below(4) > 0);
            options.map(|name| SelectOption::new(*name)).collect()
        };
        let (single, multi) =
            (PropertyKind::SingleSelect(options()), PropertyKind::MultiSelect(options()));
        match numbers.below(9) {
            0 => PropertyKind::Text,
            1 => PropertyKind::Number,
            2 => PropertyKind::Date,
            3 => single,
            4 => multi,
            5 => PropertyKind::Url,
            _ => {
                let target = self.collections[numbers.below(3)];
                let mut relation =
                    if numbers.once_in(4) { Relation::to_itself() } else { Relation::to(target) };
                relation.single = numbers.once_in(3);
                if numbers.once_in(3) {
                    relation = relation.with_inverse(NAMES[numbers.below(4)].to_lowercase());
                }
                relation.into()
            }
        }
    }

    /// The schema changed in a few ways.
    fn draft(&self, schema: Schema, numbers: &mut Numbers<'_>) -> SchemaDraft {
        let mut draft = SchemaDraft::from(schema);
        for _ in 0..=numbers.below(2) {
            let count = draft.properties.len();
            match numbers.below(7) {
                _ if count == 0 => {}
                0 => drop(draft.properties.remove(numbers.below(count))),
                1 => draft.properties.rotate_left(1),
                2 => draft.properties[numbers.below(count)].name = "Z".into(),
                3 => draft.properties[numbers.below(count)].kind = self.kind(numbers),
                4 => draft.name = format!("{}'", draft.name),
                _ => {
                    if let PropertyKind::Relation(relation) =
                        &mut draft.properties[numbers.below(count)].kind
                    {
                        relation.single = !relation.single;
                    }
                }
            }
            if count < 3 || numbers.once_in(6) {
                draft
                    .properties
                    .push(PropertyDraft::new(NAMES[numbers.below(4)], self.kind(numbers)));
            }
        }
        draft
    }

    fn replace(&self, numbers: &mut Numbers<'_>) {
        let collection = self.collections[numbers.below(3)];
        let before = (self.dump(), self.filled(collection));
        let schema = self.notes.schema(collection).unwrap();
        let draft = self.draft(schema.clone(), numbers);
        match self.notes.replace_schema(ReplaceSchema::new(collection, draft.clone())) {
            Ok(reply) => {
                let (mut was, mut is) = (before.1, self.filled(collection));
                let both = |key: &String| {
                    schema.property(key).is_some() && reply.schema.property(key).is_some()
                };
                was.retain(|key, _| both(key));
                is.retain(|key, _| both(key));
                assert_eq!(was, is, "{schema:?} to {:?}", reply.schema);
                let again = ReplaceSchema::new(collection, reply.schema.clone());
                let sequence = self.notes.last_sequence().unwrap();
                assert_eq!(self.notes.replace_schema(again).unwrap(), reply);
                assert_eq!(self.notes.last_sequence().unwrap(), sequence);
            }
            Err(error) => {
                assert_eq!(self.dump(), before.0);
                let is_in_the_way = error.kind() == ErrorKind::SchemaMismatch;
                if is_in_the_way && numbers.below(3) > 0 {
                    self.notes
                        .replace_schema(
                            ReplaceSchema::new(collection, draft).dropping_unconvertible(),
                        )
                        .unwrap();
                }
                let refused =
                    [ErrorKind::SchemaMismatch, ErrorKind::Validation, ErrorKind::RuleViolation];
                assert!(refused.contains(&error.kind()), "{error}");
            }
        }
    }

    fn value(&self, kind: &PropertyKind, numbers: &mut Numbers<'_>) -> Value {
        let options: Vec<_> = kind.options().iter().map(|option| option.name.as_str()).collect();
        match kind {
            _ if numbers.once_in(5) => Value::Null,
            PropertyKind::Number => json!(numbers.below(20)),
            PropertyKind::Date => json!("2026-03-01"),
            PropertyKind::MultiSelect(_) => json!(options),
            PropertyKind::SingleSelect(_) => {
                options.first().map_or(Value::Null, |option| json!(option))
            }
            PropertyKind::Relation(relation) => {
                let items = &self.items[&relation.target];
                let most = if relation.single { 1 } else { 3 };
                let wanted =
                    items.iter().cycle().skip(numbers.below(3)).take(1 + numbers.below(most));
                json!(wanted.collect::<Vec<_>>())
            }
            _ => json!(OPTIONS[numbers.below(3)]),
        }
    }

    /// Gives an item values; what single relations do not allow is refused.
    fn fill(&self, numbers: &mut Numbers<'_>) {
        let collection = self.collections[numbers.below(3)];
        let item = self.items[&collection][numbers.below(3)];
        for Property { key, kind, .. } in self.notes.schema(collection).unwrap().properties {
            let update = ItemUpdate::of(item).with(key, self.value(&kind, numbers));
            if let Err(error) = self.notes.update_items(UpdateItems::new(collection, [update])) {
                assert!(
                    [ErrorKind::SchemaMismatch, ErrorKind::RuleViolation].contains(&error.kind()),
                    "{error}"
                );
            }
        }
    }

    fn put_away(&self, numbers: &mut Numbers<'_>) {
        let document = self.documents[1];
        let is_here = self.notes.document(document).unwrap().record.location != Location::Trash;
        if is_here && numbers.once_in(3) {
            self.notes.delete_documents(DeleteDocuments::new([document])).unwrap();
        } else {
            self.notes
                .move_documents(MoveDocuments::new([document], Destination::Unsorted))
                .unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_replacements_keep_the_laws(numbers in prop::collection::vec(any::<u32>(), 1_500)) {
        let (scene, mut numbers) = (Scene::new(), Numbers::new(&numbers));
        let first = scene.notes.last_sequence().unwrap();
        let before = scene.dump();
        for _ in 0..20 {
            match numbers.below(9) {
                0..=3 => scene.replace(&mut numbers),
                4..=7 => scene.fill(&mut numbers),
                _ => scene.put_away(&mut numbers),
            }
            scene.check();
        }
        let changes: Vec<_> = scene.notes.changes_since(first).collect::<Result<_, _>>().unwrap();
        for change in changes.iter().rev() {
            scene.notes.space().apply(scene.notes.author(), &change.inverse().unwrap()).unwrap();
            scene.check();
        }
        prop_assert_eq!(scene.dump(), before);
    }
}

//! Random schemas: new ones, and changes of those that there are.

use leafbase_model::{
    BlockId, ContentPropertyDraft, PropertyDraft, PropertyKind, PropertyType, Relation, Schema,
    SchemaDraft, SelectOption,
};

use super::Setting;
use super::collections::collection;
use super::values::OPTIONS;
use crate::Numbers;

const NAMES: &[&str] = &["A", "b", "Due day", "a", "É", "Title", "Up", "B-1"];

/// A new schema.
pub(super) fn draft(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> SchemaDraft {
    let count = 1 + numbers.below(4);
    let properties: Vec<_> = (0..count).map(|_| property(numbers, setting, None)).collect();
    let mut draft = SchemaDraft::new(name(numbers), properties);
    draft.content = numbers.once_in(4).then(|| content(numbers));
    draft
}

/// The name of a collection.
fn name(numbers: &mut Numbers<'_>) -> String {
    match numbers.below(48) {
        0 => " ".to_owned(),
        1 => "a".repeat(29),
        _ => numbers.pick(&["Books", "People", "Days", "Ä b", "Things"]).to_owned(),
    }
}

fn content(numbers: &mut Numbers<'_>) -> ContentPropertyDraft {
    let key = numbers.pick(&[
        None,
        Some("name"),
        Some("title"),
        Some("head"),
        Some("a"),
        None,
        None,
        Some("id"),
        Some("url"),
    ]);
    ContentPropertyDraft {
        key: key.map(str::to_owned),
        name: numbers.pick(&["Name", "Title", "Rev", "URL", "Title"]).to_owned(),
    }
}

fn property(numbers: &mut Numbers<'_>, setting: Setting<'_>, of: Option<BlockId>) -> PropertyDraft {
    let kind = kind(numbers, setting, of);
    let mut draft = PropertyDraft::new(numbers.pick(NAMES), kind);
    if numbers.once_in(8) {
        draft.key = Some(numbers.pick(&["k", "up", "down", "pals", "k"]).to_owned());
    }
    if let (Some(key), PropertyKind::Relation(relation)) = (&draft.key, &mut draft.kind)
        && numbers.once_in(2)
    {
        // Its own other end, if it is one of the collection with itself.
        (relation.target, relation.inverse_key) = (Relation::ITSELF, Some(key.clone()));
    }
    match numbers.below(64) {
        0 => " ".clone_into(&mut draft.name),
        1 => draft.key = Some("No key".to_owned()),
        _ => {}
    }
    draft
}

fn kind(numbers: &mut Numbers<'_>, setting: Setting<'_>, of: Option<BlockId>) -> PropertyKind {
    // A third are relations, whose rules are the most.
    let of_type =
        if numbers.once_in(4) { PropertyType::Relation } else { numbers.pick(PropertyType::ALL) };
    match of_type {
        PropertyType::Text => PropertyKind::Text,
        PropertyType::Number => PropertyKind::Number,
        PropertyType::Boolean => PropertyKind::Boolean,
        PropertyType::Date => PropertyKind::Date,
        PropertyType::Url => PropertyKind::Url,
        PropertyType::Email => PropertyKind::Email,
        PropertyType::Phone => PropertyKind::Phone,
        PropertyType::SingleSelect => PropertyKind::SingleSelect(options(numbers)),
        PropertyType::MultiSelect => PropertyKind::MultiSelect(options(numbers)),
        PropertyType::Relation => PropertyKind::Relation(relation(numbers, setting, of)),
    }
}

fn options(numbers: &mut Numbers<'_>) -> Vec<SelectOption> {
    let from = numbers.below(OPTIONS.len());
    let turned = OPTIONS.iter().cycle().skip(from);
    let mut options: Vec<_> =
        turned.take(numbers.below(4)).map(|name| SelectOption::new(*name)).collect();
    if numbers.once_in(32) {
        options.push(SelectOption::new(numbers.pick(OPTIONS)));
    }
    options
}

fn relation(numbers: &mut Numbers<'_>, setting: Setting<'_>, of: Option<BlockId>) -> Relation {
    let target = match (numbers.below(4), of) {
        (0, Some(id)) => id,
        (0 | 1, _) => Relation::ITSELF,
        _ => collection(numbers, setting),
    };
    let named = if numbers.once_in(3) { Some("No key") } else { None };
    let inverse_key =
        numbers.pick(&[None, None, None, Some("down"), Some("of"), Some("up"), named, None]);
    Relation {
        target,
        inverse_key: inverse_key.map(str::to_owned),
        single: numbers.once_in(3),
        // What a request says of it does not count.
        owner: false,
    }
}

/// A schema that there is with some changes.
pub(super) fn changed(
    numbers: &mut Numbers<'_>,
    setting: Setting<'_>,
    id: BlockId,
    schema: &Schema,
) -> SchemaDraft {
    let mut draft = SchemaDraft::from(schema.clone());
    for _ in 0..=numbers.below(3) {
        change(numbers, setting, id, &mut draft);
    }
    draft
}

fn change(numbers: &mut Numbers<'_>, setting: Setting<'_>, id: BlockId, draft: &mut SchemaDraft) {
    let count = draft.properties.len();
    match numbers.below(20) {
        0..=3 => draft.properties.push(property(numbers, setting, Some(id))),
        4 => draft.name = name(numbers),
        5 => draft.content = numbers.once_in(2).then(|| content(numbers)),
        6 => draft.key = numbers.once_in(2).then(|| "k".to_owned()),
        7 if count > 0 => draft.properties.rotate_left(numbers.below(count)),
        _ if count == 0 => draft.properties.push(property(numbers, setting, Some(id))),
        8..=10 => {
            draft.properties.remove(numbers.below(count));
        }
        other => change_property(numbers, setting, id, other, draft),
    }
}

fn change_property(
    numbers: &mut Numbers<'_>,
    setting: Setting<'_>,
    id: BlockId,
    which: usize,
    draft: &mut SchemaDraft,
) {
    let count = draft.properties.len();
    let property = &mut draft.properties[numbers.below(count)];
    match (which, &mut property.kind) {
        (11, _) => numbers.pick(NAMES).clone_into(&mut property.name),
        (12, _) if numbers.once_in(3) => property.key = None,
        (_, PropertyKind::Relation(relation)) => match numbers.below(6) {
            0 | 1 => relation.single = !relation.single,
            2 => relation.inverse_key = None,
            3 if numbers.once_in(3) => relation.inverse_key = Some("of".to_owned()),
            4 => relation.target = collection(numbers, setting),
            _ => property.kind = kind(numbers, setting, Some(id)),
        },
        (12..=14, PropertyKind::SingleSelect(options) | PropertyKind::MultiSelect(options)) => {
            if options.is_empty() || numbers.once_in(2) {
                options.push(SelectOption::new(numbers.pick(OPTIONS)));
            } else {
                options.remove(numbers.below(options.len()));
            }
        }
        _ => property.kind = kind(numbers, setting, Some(id)),
    }
}

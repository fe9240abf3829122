//! `docs/FORMAT.md` as data: its tables of entries, layouts, kinds, codes and edits.

use std::collections::BTreeMap;

/// A type of a field, as the page writes it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FieldType {
    /// Its name, or several in turn.
    pub(crate) names: Vec<FieldType>,
    pub(crate) name: String,
    /// `?`: nil if there is none.
    pub(crate) is_optional: bool,
    /// `...`
    pub(crate) is_list: bool,
    /// `!`
    pub(crate) is_always_written: bool,
}

/// The name and the type of each field.
pub(crate) type Layout = Vec<(String, FieldType)>;

/// A row of the table of entries.
#[derive(Clone, Debug)]
pub(crate) struct Keyspace {
    pub(crate) name: String,
    pub(crate) key: Vec<String>,
    pub(crate) body: String,
}

/// What the page says.
#[derive(Debug)]
pub(crate) struct Specification {
    pub(crate) keyspaces: BTreeMap<u8, Keyspace>,
    pub(crate) layouts: BTreeMap<String, Layout>,
    pub(crate) kinds: BTreeMap<String, Layout>,
    pub(crate) codes: BTreeMap<String, Vec<String>>,
    pub(crate) edits: BTreeMap<u64, (String, Layout)>,
}

impl Specification {
    pub(crate) fn parse(page: &str) -> Self {
        let rows = |head| table(page, head);
        let keyspaces = rows("| tag | keyspace |").map(|row| {
            let [tag, name, key, body] = row.try_into().unwrap();
            let tag = u8::from_str_radix(tag.trim_matches('`'), 16).unwrap();
            let key = key.split(", ").map(str::to_owned).collect();
            (tag, Keyspace { name, key, body })
        });
        let layouts = |head| {
            let rows = rows(head).map(|row| {
                let [name, fields] = row.try_into().unwrap();
                (name, layout(&fields))
            });
            rows.collect()
        };
        let codes = rows("| value | codes from 0 |").map(|row| {
            let [name, codes] = row.try_into().unwrap();
            (name, codes.split(", ").map(str::to_owned).collect())
        });
        let edits = rows("| code | edit |").map(|row| {
            let [code, name, fields] = row.try_into().unwrap();
            (code.parse().unwrap(), (name, layout(&fields)))
        });
        Self {
            keyspaces: keyspaces.collect(),
            layouts: layouts("| layout | fields |"),
            kinds: layouts("| kind | fields |"),
            codes: codes.collect(),
            edits: edits.collect(),
        }
    }

    /// The tag of a keyspace.
    pub(crate) fn tag(&self, name: &str) -> u8 {
        let found = self.keyspaces.iter().find(|(_, keyspace)| keyspace.name == name);
        *found.unwrap_or_else(|| panic!("no keyspace {name}")).0
    }
}

/// The cells of each row of the one table with this head.
fn table<'p>(page: &'p str, head: &str) -> impl Iterator<Item = Vec<String>> + use<'p> {
    assert_eq!(page.matches(head).count(), 1, "{head}");
    let rows = page.lines().skip_while({
        let head = head.to_owned();
        move |line| !line.starts_with(&head)
    });
    rows.skip(2).take_while(|line| line.starts_with('|')).map(|line| {
        let cells = line.trim_start_matches('|').trim_end_matches('|').split('|');
        cells.map(|cell| cell.trim().to_owned()).collect()
    })
}

/// Splits at commas outside of parentheses.
fn split(list: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0);
    for (at, character) in list.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(list[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(list[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

fn layout(fields: &str) -> Layout {
    let field = |field: &str| {
        let (name, text) = field.split_once(": ").unwrap_or_else(|| panic!("no type of {field}"));
        (name.to_owned(), field_type(text))
    };
    split(fields).into_iter().map(field).collect()
}

fn field_type(text: &str) -> FieldType {
    let (mut name, mut marks) = (text, [false; 3]);
    for (mark, is_set) in ["!", "...", "?"].into_iter().zip(&mut marks) {
        // `?!` is an optional one that is written.
        if let Some(rest) = name.strip_suffix(mark) {
            (name, *is_set) = (rest, true);
        }
    }
    let [is_always_written, is_list, is_optional] = marks;
    let names = name.strip_prefix('(').and_then(|list| list.strip_suffix(')'));
    let names = names.map(|list| split(list).into_iter().map(field_type).collect());
    FieldType {
        names: names.unwrap_or_default(),
        name: name.to_owned(),
        is_optional,
        is_list,
        is_always_written,
    }
}

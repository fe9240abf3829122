//! Items: which rows of the indexes follow from what an item says.

use leafbase_model::{BlockId, Properties, PropertyKind, PropertyValue};

use crate::edges::KeyExtractor;
use crate::keyspaces;
use crate::records::schema::{self, Numbered};

/// The title and the values of an item.
pub(crate) type Values<'v> = (&'v str, &'v Properties);

/// Gets the key of a row, and whether it is to be there.
pub(crate) type TellRow<'f> = &'f mut dyn FnMut(Vec<u8>, bool);

/// Makes the rows of the items of a collection.
#[derive(Clone, Copy)]
pub(crate) struct Indexer<'s> {
    pub(crate) collection: BlockId,
    pub(crate) numbered: &'s Numbered,
    pub(crate) keys: KeyExtractor,
}

impl Indexer<'_> {
    /// Tells the rows that come and go when an item says `after` where it said `before`.
    pub(crate) fn changed(
        &self,
        item: BlockId,
        before: Option<Values<'_>>,
        after: Option<Values<'_>>,
        tell: TellRow<'_>,
    ) {
        let [title_before, title_after] = [before, after].map(|values| values.map(|(title, _)| title));
        if title_before != title_after {
            let titles = [title_before, title_after];
            let titles = titles.map(|title| title.map(|title| PropertyValue::Text(title.to_owned())));
            self.column(schema::TITLE, &PropertyKind::Text, item, titles.each_ref().map(Option::as_ref), tell);
        }
        for (property, number) in self.numbered.indexed() {
            let values = [before, after].map(|values| values.and_then(|(_, values)| values.get(&property.key)));
            self.column(number, &property.kind, item, values, tell);
        }
    }

    /// Tells the rows of one column that come and go.
    fn column(
        &self,
        number: u32,
        kind: &PropertyKind,
        item: BlockId,
        [before, after]: [Option<&PropertyValue>; 2],
        tell: TellRow<'_>,
    ) {
        if before == after {
            return;
        }
        let keys = |value: Option<&PropertyValue>| value.map(|value| (self.keys)(kind, value)).unwrap_or_default();
        let (before, after) = (keys(before), keys(after));
        let column = keyspaces::column(self.collection, number);
        for (keys, others, is_there) in [(&before, &after, false), (&after, &before, true)] {
            for key in keys.iter().filter(|key| !others.contains(key)) {
                tell(keyspaces::item_key(column, key, item), is_there);
            }
        }
    }

    /// Tells the rows of an item in the columns of which `is_wanted` says so.
    pub(crate) fn rows(
        &self,
        item: BlockId,
        (title, values): Values<'_>,
        is_wanted: &dyn Fn(u32) -> bool,
        tell: &mut dyn FnMut(Vec<u8>),
    ) {
        let tell = &mut |key, _| tell(key);
        if is_wanted(schema::TITLE) {
            let title = PropertyValue::Text(title.to_owned());
            self.column(schema::TITLE, &PropertyKind::Text, item, [None, Some(&title)], tell);
        }
        for (property, number) in self.numbered.indexed().filter(|(_, number)| is_wanted(*number)) {
            self.column(number, &property.kind, item, [None, values.get(&property.key)], tell);
        }
    }
}

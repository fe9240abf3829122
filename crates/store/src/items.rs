//! Items: which rows of the indexes follow from what an item says.

use leafbase_model::{BlockId, Properties, Property, PropertyKind, PropertyValue};

use crate::edges::KeyExtractor;
use crate::keyspaces;
use crate::records::schema::{self, Numbered};
use crate::signature::Signature;

/// The title and the values of an item.
pub(crate) type Values<'v> = (&'v str, &'v Properties);

/// Gets the key of a row, and the signature that it holds; none if it is not to be there.
pub(crate) type TellRow<'f> = &'f mut dyn FnMut(Vec<u8>, Option<Signature>);

/// Makes the rows of the items of a collection.
#[derive(Clone, Copy)]
pub(crate) struct Indexer<'s> {
    pub(crate) collection: BlockId,
    pub(crate) numbered: &'s Numbered,
    pub(crate) keys: KeyExtractor,
}

/// An item whose rows change: its signature from now on, and whether it had another.
#[derive(Clone, Copy)]
struct Signed {
    item: BlockId,
    signature: Signature,
    is_resigned: bool,
}

impl Indexer<'_> {
    /// Tells the rows that come and go when an item says `after` where it said `before`: all, if
    /// its signature changes.
    pub(crate) fn changed(
        &self,
        item: BlockId,
        before: Option<Values<'_>>,
        after: Option<Values<'_>>,
        tell: TellRow<'_>,
    ) {
        let [signature_before, signature] = [before, after]
            .map(|values| values.map(|(_, values)| self.signature(values)).unwrap_or_default());
        let signed = Signed { item, signature, is_resigned: signature != signature_before };
        let [title_before, title_after] =
            [before, after].map(|values| values.map(|(title, _)| title));
        if title_before != title_after || signed.is_resigned {
            let titles = [title_before, title_after];
            let titles =
                titles.map(|title| title.map(|title| PropertyValue::Text(title.to_owned())));
            self.column(
                schema::TITLE,
                &PropertyKind::Text,
                signed,
                titles.each_ref().map(Option::as_ref),
                tell,
            );
        }
        for (property, number) in self.numbered.indexed() {
            let values = [before, after]
                .map(|values| values.and_then(|(_, values)| values.get(&property.key)));
            self.column(number, &property.kind, signed, values, tell);
        }
    }

    /// The signature of an item with these values.
    fn signature(&self, values: &Properties) -> Signature {
        let mut signature = Signature::default();
        for (Property { key, kind, .. }, number) in self.numbered.indexed() {
            if schema::is_signed(kind)
                && let Some(value) = values.get(key)
            {
                for key in (self.keys)(kind, value) {
                    signature.add(number, &key);
                }
            }
        }
        signature
    }

    /// Tells the rows of one column that come, go or have another signature.
    fn column(
        &self,
        number: u32,
        kind: &PropertyKind,
        signed: Signed,
        [before, after]: [Option<&PropertyValue>; 2],
        tell: TellRow<'_>,
    ) {
        if before == after && !signed.is_resigned {
            return;
        }
        let keys = |value: Option<&PropertyValue>| {
            value.map(|value| (self.keys)(kind, value)).unwrap_or_default()
        };
        let (before, after) = (keys(before), keys(after));
        let column = keyspaces::column(self.collection, number);
        for key in before.iter().filter(|key| !after.contains(key)) {
            tell(keyspaces::item_key(column, key, signed.item), None);
        }
        for key in after.iter().filter(|key| signed.is_resigned || !before.contains(key)) {
            tell(keyspaces::item_key(column, key, signed.item), Some(signed.signature));
        }
    }

    /// Tells the rows of an item in the columns of which `is_wanted` says so.
    pub(crate) fn rows(
        &self,
        item: BlockId,
        (title, values): Values<'_>,
        is_wanted: &dyn Fn(u32) -> bool,
        tell: &mut dyn FnMut(Vec<u8>, Signature),
    ) {
        let signature = self.signature(values);
        let signed = Signed { item, signature, is_resigned: true };
        let tell = &mut |key, _| tell(key, signature);
        if is_wanted(schema::TITLE) {
            let title = PropertyValue::Text(title.to_owned());
            self.column(schema::TITLE, &PropertyKind::Text, signed, [None, Some(&title)], tell);
        }
        for (property, number) in self.numbered.indexed().filter(|(_, number)| is_wanted(*number)) {
            self.column(number, &property.kind, signed, [None, values.get(&property.key)], tell);
        }
    }
}

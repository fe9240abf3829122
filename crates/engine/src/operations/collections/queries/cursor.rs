//! Cursors of queries: a fingerprint of the query, and the order key of the last item.

use leafbase_collections::OrderKey;
use leafbase_model::{BlockId, Error, ItemFilter, PropertyType, Result, Schema, Sort};

use crate::operations::cursor_text::fingerprint_of;

fn foreign() -> Error {
    Error::validation("the cursor is not of this query").at("cursor")
}

/// The fingerprint of a query: an order key is meaningless in another query, and once a property of
/// the order has changed its type.
pub(super) fn fingerprint(
    collection: BlockId,
    filter: Option<&ItemFilter>,
    sort: &[Sort],
    schema: &Schema,
) -> Result<String> {
    let types: Vec<_> = sort.iter().map(|sort| type_of(schema, &sort.property)).collect();
    let encoded = serde_json::to_vec(&(collection, filter, sort, types)).map_err(|error| {
        Error::validation("cannot be encoded as JSON").with_source(error).at("filter")
    })?;
    Ok(format!("{:016x}", fingerprint_of(&encoded)))
}

fn type_of(schema: &Schema, key: &str) -> PropertyType {
    schema.property(key).map_or(PropertyType::Text, |property| property.kind.property_type())
}

pub(super) fn write(fingerprint: &str, place: &OrderKey) -> String {
    debug_assert!(!fingerprint.is_empty(), "a cursor names its query");
    format!("{fingerprint}{place}")
}

pub(super) fn read(fingerprint: &str, text: &str) -> Result<OrderKey> {
    let place = text.strip_prefix(fingerprint).ok_or_else(foreign)?;
    place.parse().map_err(|_| foreign())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_cursor_of_the_query_is_refused() {
        let place: OrderKey = "00".repeat(17).parse().unwrap();
        assert_eq!(read("ab", &write("ab", &place)).unwrap(), place);
        for text in [
            "",
            "ab",
            "ac00",
            "ab0g",
            "abä",
            &write("ac", &place),
            &format!("{}0", write("ab", &place)),
        ] {
            let error = read("ab", text).unwrap_err();
            assert_eq!((error.code(), error.path()), ("VALIDATION", "cursor"), "{text}");
        }
    }
}

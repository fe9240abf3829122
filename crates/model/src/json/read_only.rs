//! Fields of replies that requests take back.

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

/// A read-only field of a reply that comes back in a request: any value, which is ignored.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReadOnlyField;

impl<'de> Deserialize<'de> for ReadOnlyField {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

#[cfg(feature = "schemars")]
impl schemars::JsonSchema for ReadOnlyField {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ReadOnlyField".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "description": "Ignored." })
    }
}

//! Batches as values: several operations, named, in one transaction.

use std::collections::BTreeMap;

use serde::ser::{Error as _, Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

use crate::json::{Object, deserialize_by, is_default, or_default, quoted};
use crate::{BlockId, DocumentId, Error, Result};

/// Operations to do in order in one transaction, all or none. As JSON:
///
/// ```json
/// {"operations": [
///     {"operation": "create_documents", "documents": [{"title": "Trip"}]},
///     {"operation": "insert_blocks", "markdown": "- [ ] passport", "position": {"pageId": "$0.id"}}
///  ],
///  "expect": {"blocks": {"01KASZ4ZJG0000000000000001": 3}}, "dryRun": true}
/// ```
///
/// A batch with a `requestKey` is done once: sent again within [`crate::Limits::REQUEST_KEY_HOURS`]
/// hours, by the same author on a connection whose scope names the same documents, pages and
/// folders, it gets the reply of the first time.
///
/// `"$0.id"` stands for the `id` in the reply to operation 0: the number of an earlier operation,
/// then fields and indexes of its reply (`$2.items[1].id`). The items of a list may be left out of
/// the path (`$2[1].id`), and so may the index of the only one. References are read in fields whose
/// names are or end with `id`, `Id` or `Ids`, in `idsToDelete`, and in the values of properties.
/// Everywhere else such a text is text. Where only an ID may be, a text that begins with `$` and is
/// no reference is refused; in a property it is a value, such as `$5.00`, and so is a reference to
/// an operation that is not before this one, such as `$20.USD`.
///
/// ```
/// use leafbase_model::{Batch, DeleteBlocks, BlockId};
/// let batch = Batch::default().then("delete_blocks", &DeleteBlocks::from(BlockId::NIL))?;
/// assert_eq!(batch.operations[0].operation, "delete_blocks");
/// # Ok::<(), leafbase_model::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct Batch {
    /// The operations.
    pub operations: Vec<BatchOperation>,
    /// What has to be so before the first one.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_default")]
    pub expect: Expectations,
    /// Whether nothing is written: the reply is the one that there would be.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_default")]
    pub dry_run: bool,
    /// A name for this batch alone, of at most 256 bytes: its client may send the batch again if it
    /// got no reply. Dry runs ignore it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_key: Option<String>,
}

impl Batch {
    /// Appends an operation, named as its method.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] for a request that is not a JSON object.
    pub fn then(mut self, operation: &str, request: &impl Serialize) -> Result<Self> {
        let request = serde_json::to_value(request)
            .map_err(|error| Error::validation(format!("a request is not valid JSON: {error}")))?;
        let request = Object::new(request)?.rest();
        self.operations.push(BatchOperation { operation: operation.to_owned(), request });
        Ok(self)
    }

    /// Makes it conditional.
    pub fn expecting(mut self, expect: Expectations) -> Self {
        self.expect = expect;
        self
    }

    /// Names it, so that it is done once however often it is sent.
    pub fn keyed(mut self, request_key: impl Into<String>) -> Self {
        self.request_key = Some(request_key.into());
        self
    }

    /// Writes nothing.
    pub fn dry(mut self) -> Self {
        self.dry_run = true;
        self
    }
}

/// An operation of a [`Batch`]. As JSON: the request with the name of the method as `operation`.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct BatchOperation {
    /// The name of the method, such as `insert_blocks`.
    pub operation: String,
    /// The fields of its request, in which references stand for parts of earlier replies.
    pub request: Map<String, Value>,
}

impl BatchOperation {
    fn read(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let operation = object.required("operation")?;
        Ok(Self { operation, request: object.rest() })
    }

    /// The request with what `reply` gives in place of references. `reply` has the number of an
    /// operation.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] at a reference that is malformed or leads nowhere.
    pub fn resolved<'r>(&self, reply: &dyn Fn(usize) -> Option<&'r Value>) -> Result<Value> {
        resolve_object(&self.request, false, reply).map(Value::Object)
    }
}

deserialize_by!(BatchOperation: Self::read);

impl Serialize for BatchOperation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.request.contains_key("operation") {
            return Err(S::Error::custom("a request has no field operation"));
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("operation", &self.operation)?;
        for (name, value) in &self.request {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// Gives the reply to the operation with this number.
type ReplyTo<'f, 'r> = &'f dyn Fn(usize) -> Option<&'r Value>;

fn resolve_object(
    object: &Map<String, Value>,
    in_values: bool,
    reply: ReplyTo<'_, '_>,
) -> Result<Map<String, Value>> {
    object
        .iter()
        .map(|(name, value)| {
            let has_references = in_values
                || name == "id"
                || name == "idsToDelete"
                || name.ends_with("Id")
                || name.ends_with("Ids");
            let in_values = in_values || name == "properties";
            let value = resolve(value, has_references, in_values, reply);
            Ok((name.clone(), value.map_err(|error| error.at(name))?))
        })
        .collect()
}

fn resolve(
    value: &Value,
    has_references: bool,
    in_values: bool,
    reply: ReplyTo<'_, '_>,
) -> Result<Value> {
    Ok(match value {
        Value::String(text) if has_references => match Reference::parse(text) {
            // An amount in the value of a property, say: `$20.USD`.
            Some(reference) if in_values && reply(reference.operation).is_none() => value.clone(),
            Some(reference) => reference.follow(reply)?,
            // No ID begins so. The value of a property may: it is an amount, say.
            None if !in_values && text.starts_with('$') => return Err(malformed_reference(text)),
            None => value.clone(),
        },
        Value::Array(values) => {
            let resolved = values.iter().enumerate().map(|(index, value)| {
                resolve(value, has_references, in_values, reply)
                    .map_err(|error| error.at(format_args!("[{index}]")))
            });
            Value::Array(resolved.collect::<Result<_>>()?)
        }
        Value::Object(object) => Value::Object(resolve_object(object, in_values, reply)?),
        other => other.clone(),
    })
}

fn malformed_reference(text: &str) -> Error {
    let got = quoted(text);
    Error::validation(format!("expected an ID, or a reference like \"$0.id\", got {got}"))
}

/// A reference to a part of an earlier reply: `$0.items[1].id`.
struct Reference<'t> {
    text: &'t str,
    operation: usize,
    steps: Vec<ReferenceStep<'t>>,
}

enum ReferenceStep<'t> {
    Field(&'t str),
    Index(usize),
}

impl<'t> Reference<'t> {
    /// None for a text that is not a reference, such as `$5.00`.
    fn parse(text: &'t str) -> Option<Self> {
        let rest = text.strip_prefix('$')?;
        let digits = rest.find(|letter: char| !letter.is_ascii_digit())?;
        let (number, mut rest) = rest.split_at(digits);
        let (operation, mut steps) = (number.parse().ok()?, Vec::new());
        while !rest.is_empty() {
            if let Some(index) = rest.strip_prefix('[') {
                let (index, after) = index.split_once(']')?;
                steps.push(ReferenceStep::Index(index.parse().ok()?));
                rest = after;
            } else {
                let name = rest.strip_prefix('.')?;
                let end = name.find(['.', '[']).unwrap_or(name.len());
                let (name, after) = name.split_at(end);
                let is_name = name.starts_with(|letter: char| letter.is_ascii_alphabetic());
                if !is_name || name.contains(|letter: char| !letter.is_ascii_alphanumeric()) {
                    return None;
                }
                steps.push(ReferenceStep::Field(name));
                rest = after;
            }
        }
        Some(Self { text, operation, steps })
    }

    fn follow(&self, reply: ReplyTo<'_, '_>) -> Result<Value> {
        let nowhere = |why: &str| Error::validation(format!("{} {why}", self.text));
        let reply = reply(self.operation)
            .ok_or_else(|| nowhere("refers to an operation that is not before this one"))?;
        // The items of a list may be left out of the path, and the index of the only one.
        let listed = reply.get("items").and_then(Value::as_array);
        let only = listed.and_then(|items| match items.as_slice() {
            [only] => Some(only),
            _ => None,
        });
        let starts = [Some(reply), reply.get("items"), only];
        let found = starts.into_iter().flatten().find_map(|start| self.walk(start));
        found.cloned().ok_or_else(|| nowhere("leads to nothing in the reply"))
    }

    fn walk<'v>(&self, start: &'v Value) -> Option<&'v Value> {
        self.steps.iter().try_fold(start, |value, step| match step {
            ReferenceStep::Field(name) => value.get(name),
            ReferenceStep::Index(index) => value.get(index),
        })
    }
}

/// What a batch expects before its first operation. As JSON: `{"blocks": {"<id>": 3}, "documents":
/// {"<id>": 7}, "items": {"<id>": 1}, "sequence": 812}`, each a `rev` that a reply showed.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct Expectations {
    /// The revisions of blocks, tasks among them.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "schemars", schemars(with = "BTreeMap<String, u64>"))]
    pub blocks: BTreeMap<BlockId, u64>,
    /// The revisions of documents; not on a scoped connection, which shows none.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "schemars", schemars(with = "BTreeMap<String, u64>"))]
    pub documents: BTreeMap<DocumentId, u64>,
    /// The revisions of items.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "schemars", schemars(with = "BTreeMap<String, u64>"))]
    pub items: BTreeMap<BlockId, u64>,
    /// The sequence of the last change of the space; not on a scoped connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u64>,
}

impl Expectations {
    /// Expects this revision of a block.
    pub fn of_block(mut self, block: BlockId, rev: u64) -> Self {
        self.blocks.insert(block, rev);
        self
    }

    /// Expects this revision of a document.
    pub fn of_document(mut self, document: DocumentId, rev: u64) -> Self {
        self.documents.insert(document, rev);
        self
    }

    /// Expects that nothing was written after this change.
    pub fn at_sequence(mut self, sequence: u64) -> Self {
        self.sequence = Some(sequence);
        self
    }
}

/// The reply to a [`Batch`]. As JSON: `{"replies": [..], "dryRun": true}`, the latter only of a dry
/// run.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct BatchReply {
    /// The reply to each operation, as the operation alone gives it.
    pub replies: Vec<Value>,
    /// Whether nothing was written.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "schemars", schemars(default))]
    pub dry_run: bool,
}

impl BatchReply {
    /// The replies of a batch.
    pub fn new(replies: Vec<Value>, dry_run: bool) -> Self {
        Self { replies, dry_run }
    }
}

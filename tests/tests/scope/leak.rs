//! Replies that give away what is hidden. The controls inject them between a scoped connection and
//! the comparison, and expect the comparison to notice.

use serde_json::Value;

use super::calls::{Call, Reply};
use super::world::World;

/// What an injected reply gives away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Leak {
    /// Nothing.
    #[default]
    None,
    /// Links to hidden blocks are shown as they are stored.
    Links,
    /// Searches rank by the documents of the whole space.
    Statistics,
    /// Hidden documents push visible ones out of the result.
    Query,
    /// A hidden ID is refused with other words than one that does not exist.
    Errors,
    /// Relations to hidden collections are shown.
    Relations,
}

impl Leak {
    /// The reply of a connection to `world` that has this leak.
    pub fn inject(self, world: &World, call: &Call, reply: Reply) -> Reply {
        let hidden = &world.hidden;
        let documents = hidden.documents.len();
        let json = match self {
            Self::Links => {
                let Some(block) = hidden.blocks.first() else { return reply };
                reply.json.replace("invalid:out_of_scope#1", &format!("block://{block}"))
            }
            Self::Errors => {
                let body = call.body.to_string();
                let ids = world.present.hidden();
                if reply.is_ok || !ids.iter().any(|id| body.contains(id.as_str())) {
                    return reply;
                }
                reply.json.replace("has this ID", "is visible")
            }
            Self::Relations => {
                let Some(collection) = hidden.collections.first() else { return reply };
                let property = format!(r#""properties":[{{"targetCollectionId":"{collection}"}},"#);
                reply.json.replacen(r#""properties":["#, &property, 1)
            }
            Self::Statistics => with_matches(&reply, call, |matches| {
                // The frequency of a word in the rest moves every score.
                for found in matches {
                    let score = found["score"].as_f64().unwrap_or_default();
                    found["score"] = (score + documents as f64).into();
                }
            }),
            Self::Query => with_matches(&reply, call, |matches| {
                matches.truncate(matches.len().saturating_sub(documents % 2));
            }),
            Self::None => return reply,
        };
        Reply { json, ..reply }
    }
}

/// The reply to a search across documents with other matches.
fn with_matches(reply: &Reply, call: &Call, change: impl FnOnce(&mut Vec<Value>)) -> String {
    let mut value = reply.value();
    let matches = value.get_mut("items").and_then(Value::as_array_mut);
    match matches.filter(|_| call.operation == "search") {
        Some(matches) => change(matches),
        None => return reply.json.clone(),
    }
    value.to_string()
}

//! Locations of tasks, in requests and replies.

use crate::json::{Refused, missing_field};
use crate::{Day, DayRef, DocumentId, Error};
use names::DestinationName;

mod names {
    #![expect(unreachable_pub, reason = "the macro declares public types")]

    use crate::json::wire_enum;

    wire_enum! {
        /// The name of a [`super::TaskDestination`].
        DestinationName {
            /// [`super::TaskDestination::Inbox`].
            #[default]
            Inbox = "inbox",
            /// [`super::TaskDestination::DailyNote`].
            DailyNote = "dailyNote",
            /// [`super::TaskDestination::Document`].
            Document = "document",
        }
    }
}

/// The location of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(into = "TaskDestination")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(from = "TaskDestination"))]
pub enum TaskLocation {
    /// The inbox.
    Inbox,
    /// The daily note of this day.
    DailyNote(Day),
    /// Another document.
    Document(DocumentId),
}

impl From<TaskLocation> for TaskDestination {
    fn from(location: TaskLocation) -> Self {
        match location {
            TaskLocation::Inbox => Self::Inbox,
            TaskLocation::DailyNote(day) => Self::DailyNote(day.into()),
            TaskLocation::Document(document) => Self::Document(document),
        }
    }
}

/// The location of a new or moved task. As JSON: `{"type": "inbox"}`, `{"type": "dailyNote",
/// "date": "today"}` (the date defaults to today) or `{"type": "document", "documentId": ".."}`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(try_from = "TaskDestinationJson", into = "TaskDestinationJson")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum TaskDestination {
    /// The inbox.
    #[default]
    Inbox,
    /// The daily note of a day, created if necessary.
    DailyNote(DayRef),
    /// A document.
    Document(DocumentId),
}

impl From<DocumentId> for TaskDestination {
    fn from(document: DocumentId) -> Self {
        Self::Document(document)
    }
}

/// The JSON of a [`TaskDestination`].
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[cfg_attr(feature = "schemars", schemars(rename = "TaskDestination"))]
struct TaskDestinationJson {
    /// The inbox, a daily note or a document.
    #[serde(rename = "type")]
    name: DestinationName,
    /// The day of a daily note; defaults to today.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    date: Option<DayRef>,
    /// The document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    document_id: Option<DocumentId>,
}

impl From<TaskDestination> for TaskDestinationJson {
    fn from(destination: TaskDestination) -> Self {
        let (name, date, document_id) = match destination {
            TaskDestination::Inbox => (DestinationName::Inbox, None, None),
            TaskDestination::DailyNote(day) => (DestinationName::DailyNote, Some(day), None),
            TaskDestination::Document(document) => {
                (DestinationName::Document, None, Some(document))
            }
        };
        Self { name, date, document_id }
    }
}

impl TryFrom<TaskDestinationJson> for TaskDestination {
    type Error = Refused;

    fn try_from(json: TaskDestinationJson) -> Result<Self, Refused> {
        let TaskDestinationJson { name, date, document_id } = json;
        // Misplaced fields are refused rather than ignored: the client meant another destination.
        if date.is_some() && name != DestinationName::DailyNote {
            let message = "date is only for the type dailyNote";
            return Err(Error::validation(message).at("date").into());
        }
        if document_id.is_some() && name != DestinationName::Document {
            let message = "documentId is only for the type document";
            return Err(Error::validation(message).at("documentId").into());
        }
        Ok(match name {
            DestinationName::Inbox => Self::Inbox,
            DestinationName::DailyNote => Self::DailyNote(date.unwrap_or(DayRef::Today)),
            DestinationName::Document => {
                Self::Document(document_id.ok_or_else(|| missing_field("documentId"))?)
            }
        })
    }
}

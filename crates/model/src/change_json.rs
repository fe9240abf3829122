//! Serialization of the change log: each change with its edits, each edit with its `type` and the
//! values it replaced.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::{AssetRecord, BlockId, BlockRecord, Change, Edit, Result, Stamp, Subtrees};

impl Serialize for Change {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("sequence", &self.sequence)?;
        if self.first_sequence != self.sequence {
            map.serialize_entry("firstSequence", &self.first_sequence)?;
        }
        map.serialize_entry("token", &self.token)?;
        map.serialize_entry("at", &self.stamp.at)?;
        if !self.stamp.by.is_anonymous() {
            map.serialize_entry("by", &self.stamp.by)?;
        }
        map.serialize_entry("documents", &self.documents)?;
        map.serialize_entry("edits", &self.edits)?;
        map.end()
    }
}

/// Declares the wire name of each kind of edit.
macro_rules! edit_types {
    ($($kind:ident: $name:literal),* $(,)?) => {
        impl Edit {
            /// The wire names of all kinds of edits.
            pub const TYPE_NAMES: &'static [&'static str] = &[$($name),*];

            /// The wire name of the edit kind.
            pub const fn type_name(&self) -> &'static str {
                match self {
                    $(Self::$kind { .. } => $name),*
                }
            }
        }
    };
}

edit_types! {
    Insert: "insert",
    Remove: "remove",
    Update: "update",
    Move: "move",
    CreateDocument: "createDocument",
    EraseDocument: "eraseDocument",
    PurgeDocument: "purgeDocument",
    UpdateDocument: "updateDocument",
    CreateFolder: "createFolder",
    RemoveFolder: "removeFolder",
    UpdateFolder: "updateFolder",
    AddComment: "addComment",
    RemoveComment: "removeComment",
    UpdateComment: "updateComment",
    CreateAsset: "createAsset",
    EraseAsset: "eraseAsset",
    SetSchema: "setSchema",
    UpdateSpace: "updateSpace",
    SetScope: "setScope",
}

impl Serialize for Edit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", self.type_name())?;
        // Omitted at its default, like all fields of replies.
        if self.is_redacted() {
            map.serialize_entry("redacted", &true)?;
        }
        match self {
            Self::Insert { target, subtrees } | Self::Remove { target, subtrees } => {
                // Clients of the change feed depend on the wire name `slot`.
                map.serialize_entry("slot", target)?;
                map.serialize_entry("blocks", subtrees)?;
            }
            Self::Update { document, before, after } => {
                map.serialize_entry("documentId", document)?;
                map.serialize_entry("before", before)?;
                map.serialize_entry("after", after)?;
            }
            Self::Move { block, from, to } => {
                map.serialize_entry("blockId", block)?;
                map.serialize_entry("from", from)?;
                map.serialize_entry("to", to)?;
            }
            Self::CreateDocument { record, subtrees }
            | Self::EraseDocument { record, subtrees } => {
                map.serialize_entry("document", record)?;
                map.serialize_entry("blocks", subtrees)?;
            }
            Self::PurgeDocument { document, files } => {
                map.serialize_entry("documentId", document)?;
                map.serialize_entry("files", files)?;
            }
            Self::UpdateDocument { before, after } => {
                map.serialize_entry("before", before)?;
                map.serialize_entry("after", after)?;
            }
            Self::CreateFolder(folder) | Self::RemoveFolder(folder) => {
                map.serialize_entry("folder", folder)?;
            }
            Self::UpdateFolder { before, after } => {
                map.serialize_entry("before", before)?;
                map.serialize_entry("after", after)?;
            }
            Self::AddComment { document, block, comment }
            | Self::RemoveComment { document, block, comment } => {
                map.serialize_entry("documentId", document)?;
                map.serialize_entry("blockId", block)?;
                map.serialize_entry("comment", comment)?;
            }
            Self::UpdateComment { document, block, before, after } => {
                map.serialize_entry("documentId", document)?;
                map.serialize_entry("blockId", block)?;
                map.serialize_entry("before", before)?;
                map.serialize_entry("after", after)?;
            }
            Self::CreateAsset(asset) | Self::EraseAsset(asset) => {
                map.serialize_entry("asset", asset)?;
            }
            Self::SetSchema { document, collection, before, after, quiet } => {
                map.serialize_entry("documentId", document)?;
                map.serialize_entry("collectionId", collection)?;
                map.serialize_entry("before", before)?;
                map.serialize_entry("after", after)?;
                if *quiet {
                    map.serialize_entry("quiet", quiet)?;
                }
            }
            Self::UpdateSpace { before, after } => {
                map.serialize_entry("before", before)?;
                map.serialize_entry("after", after)?;
            }
            Self::SetScope { before, after } => {
                map.serialize_entry("before", before)?;
                map.serialize_entry("after", after)?;
            }
        }
        map.end()
    }
}

impl Serialize for Subtrees {
    /// Subtrees serialize as a flat list in reading order, so that deep nesting needs no recursion:
    /// every block except for the top ones has a `parentId`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer
            .collect_seq(self.with_parents().map(|(parent, block)| ListedBlock { parent, block }))
    }
}

struct ListedBlock<'a> {
    parent: Option<BlockId>,
    block: &'a BlockRecord,
}

impl Serialize for ListedBlock<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_block(self.block, self.parent, serializer)
    }
}

impl Serialize for BlockRecord {
    /// Block records serialize as stored: the color as given, without rendered markdown.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_block(self, None, serializer)
    }
}

fn write_block<S: Serializer>(
    block: &BlockRecord,
    parent: Option<BlockId>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry("id", &block.id)?;
    if let Some(parent) = parent {
        map.serialize_entry("parentId", &parent)?;
    }
    if block.is_redacted() {
        map.serialize_entry("redacted", &true)?;
        return map.end();
    }
    block.data.write_given(&mut map, None, None)?;
    let names = [
        ("createdAt", "createdBy", &block.created),
        ("lastModifiedAt", "lastModifiedBy", &block.modified),
    ];
    for (at_name, by_name, Stamp { at, by }) in names {
        map.serialize_entry(at_name, at)?;
        if !by.is_anonymous() {
            map.serialize_entry(by_name, by)?;
        }
    }
    map.serialize_entry("rev", &block.rev)?;
    map.end()
}

impl Serialize for AssetRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("mediaType", &self.media_type)?;
        map.serialize_entry("fileName", &self.file_name)?;
        map.serialize_entry("size", &self.size)?;
        if let Some(sha256) = &self.sha256 {
            map.serialize_entry("sha256", sha256)?;
        }
        map.serialize_entry("createdAt", &self.created.at)?;
        if !self.created.by.is_anonymous() {
            map.serialize_entry("createdBy", &self.created.by)?;
        }
        map.end()
    }
}

//! What every public type can do, checked when this compiles.

use std::fmt::Debug;

use leafbase_model::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

fn value<T: Debug + Clone + PartialEq + Send + Sync + 'static>() {}
fn error<T: std::error::Error + Debug + PartialEq + Serialize + Send + Sync + 'static>() {}
fn request<T: DeserializeOwned + json::FromJson>() {}
fn reply<T: Serialize>() {}

#[test]
fn values_can_be_shown_cloned_compared_and_sent() {
    macro_rules! values { ($($type:ty),* $(,)?) => { $(value::<$type>();)* } }
    values![
        AssetId,
        Author,
        Block,
        BlockData,
        BlockDraft,
        BlockId,
        BlockKind,
        BlockLayout,
        BlockPatch,
        BlockRecord,
        BlockType,
        CardLayout,
        Change,
        CodeLanguage,
        Color,
        Comment,
        CommentId,
        Content,
        ContentProperty,
        ContentPropertyDraft,
        Day,
        DayRef,
        Decorations,
        DeleteBlocks,
        Detail,
        Document,
        DocumentId,
        DocumentRecord,
        Edge,
        Edit,
        ErrorKind,
        Fetch,
        FetchFrom,
        Fields,
        FolderId,
        FolderRecord,
        Font,
        Forest,
        InsertBlocks,
        InsertSource,
        Items<Block>,
        Limits,
        LineStyle,
        ListStyle,
        Location,
        MediaSize,
        MediaWidth,
        Metadata,
        MoveBlocks,
        Node,
        Position,
        Properties,
        Property,
        PropertyDraft,
        PropertyKind,
        PropertyType,
        PropertyValue,
        Schema,
        SchemaDraft,
        SelectOption,
        Side,
        Slot,
        SpaceId,
        Stamp,
        Target,
        TaskInfo,
        TaskPatch,
        TaskState,
        TextAlignment,
        TextLook,
        TextStyle,
        Timestamp,
        UpdateBlocks,
    ];
    error::<Error>();
}

#[test]
fn requests_are_read_and_replies_written() {
    macro_rules! requests { ($($type:ty),* $(,)?) => { $(request::<$type>();)* } }
    requests![
        BlockDraft,
        BlockPatch,
        DeleteBlocks,
        Fetch,
        InsertBlocks,
        MoveBlocks,
        Position,
        SchemaDraft,
        TaskInfo,
        TaskPatch,
        UpdateBlocks,
    ];
    macro_rules! replies { ($($type:ty),* $(,)?) => { $(reply::<$type>();)* } }
    replies![Block, BlockDraft, Document, Error, FolderRecord, Items<Block>, Position, Schema];
}

#[test]
fn what_the_engine_is_handed_can_be_an_object() {
    fn is_object_safe(_: Option<(&dyn Clock, &dyn IdSource)>) {}
    is_object_safe(None);
}

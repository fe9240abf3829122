//! What every public type can do, checked when this compiles.

use std::fmt::Debug;

use leafbase_model::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

fn value<T: Debug + Clone + PartialEq + Send + Sync + 'static>() {}
fn error<T: std::error::Error + Debug + PartialEq + Serialize + Send + Sync + 'static>() {}
fn request<T: DeserializeOwned + json::FromJson>() {}
fn reply<T: Serialize>() {}

macro_rules! values { ($($type:ty),* $(,)?) => { $(value::<$type>();)* } }

#[test]
fn values_can_be_shown_cloned_compared_and_sent() {
    values![
        AddedComment,
        AssetId,
        AssetRecord,
        AssetUrl,
        Author,
        Block,
        BlockData,
        BlockId,
        BlockKind,
        BlockLayout,
        BlockRecord,
        BlockType,
        BuiltInLocation,
        CardLayout,
        Change,
        CodeLanguage,
        Color,
        Comment,
        CommentId,
        ConnectionInfo,
        Content,
        ContentProperty,
        ContentPropertyDraft,
        Day,
        DayRef,
        Decorations,
        Detail,
        Document,
        DocumentId,
        DocumentRecord,
        Edge,
        Edit,
        ErrorKind,
        BlockFields,
        FileHash,
        Folder,
        FolderId,
        FolderRecord,
        Font,
        Subtrees,
        Items<Block>,
        ItemsPage<Block>,
        Limits,
        LineStyle,
        ListStyle,
        Location,
        MediaSize,
        MediaWidth,
        Metadata,
        SubtreeNode,
        Properties,
        Property,
        PropertyDraft,
        PropertyKind,
        PropertyType,
        PropertyValue,
        Schema,
        SelectOption,
        Side,
        InsertTarget,
        SpaceId,
        SpaceInfo,
        Stamp,
        PositionTarget,
        Task,
        TaskLocation,
        TaskState,
        TextAlignment,
        TextFormat,
        TextStyle,
        Timestamp,
        UploadedFile,
        UrlTemplates,
        UtcInfo,
    ];
    error::<Error>();
}

#[test]
fn so_can_requests() {
    values![
        AddComments,
        AddTasks,
        BlockDraft,
        BlockPatch,
        CommentDraft,
        CreateDocuments,
        CreateFolders,
        CreateFromTemplate,
        DayRange,
        DeleteBlocks,
        DeleteDocuments,
        DeleteFolders,
        DeleteTasks,
        Destination,
        DocumentFilter,
        DocumentOrder,
        Fetch,
        FetchFrom,
        FolderDestination,
        FolderDraft,
        FolderRef,
        InsertBlocks,
        InsertSource,
        ListDocuments,
        ListTasks,
        MoveBlocks,
        MoveDocuments,
        MoveFolders,
        Paging,
        Position,
        PurgeDocuments,
        RestoreDailyNotes,
        SchemaDraft,
        TaskDestination,
        TaskDraft,
        TaskInfo,
        TaskPatch,
        TaskScope,
        TaskUpdate,
        UpdateBlocks,
        UpdateTasks,
        UploadFile,
    ];
}

#[test]
fn requests_are_read_and_replies_written() {
    macro_rules! requests { ($($type:ty),* $(,)?) => { $(request::<$type>();)* } }
    requests![
        AddComments,
        AddTasks,
        BlockDraft,
        BlockPatch,
        CommentDraft,
        CreateDocuments,
        CreateFolders,
        CreateFromTemplate,
        DeleteBlocks,
        DeleteDocuments,
        DeleteFolders,
        DeleteTasks,
        Destination,
        Fetch,
        FolderDestination,
        FolderDraft,
        FolderRef,
        InsertBlocks,
        ListDocuments,
        ListTasks,
        MoveBlocks,
        MoveDocuments,
        MoveFolders,
        Position,
        PurgeDocuments,
        RestoreDailyNotes,
        SchemaDraft,
        TaskDestination,
        TaskDraft,
        TaskInfo,
        TaskPatch,
        TaskUpdate,
        UpdateBlocks,
        UpdateTasks,
        UploadFile,
    ];
    macro_rules! replies { ($($type:ty),* $(,)?) => { $(reply::<$type>();)* } }
    replies![
        AddedComment,
        AssetRecord,
        AssetUrl,
        Block,
        BlockDraft,
        Change,
        ConnectionInfo,
        Document,
        Error,
        Folder,
        FolderRecord,
        Items<Block>,
        ItemsPage<Task>,
        Position,
        Schema,
        Task,
        UploadedFile,
    ];
}

#[test]
fn what_the_engine_is_handed_can_be_an_object() {
    fn is_object_safe(_: Option<(&dyn Clock, &dyn IdSource)>) {}
    is_object_safe(None);
}

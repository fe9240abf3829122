//! Batches as values: named operations in one transaction.

use leafbase_model::json::FromJson;
use leafbase_model::{
    AddComments, AddItems, AddTasks, ApplyMarkdown, Batch, BatchReply, CreateCollection,
    CreateDocuments, CreateFolders, CreateFromTemplate, DeleteBlocks, DeleteComments,
    DeleteDocuments, DeleteFolders, DeleteItems, DeleteTasks, Detail, DuplicateBlocks,
    EditMarkdown, Error, ErrorKind, Expectations, IndentBlocks, InsertBlocks, MergeBlock,
    MoveBlocks, MoveDocuments, MoveFolders, ReplaceSchema, ReplaceText, RestoreDailyNotes, Result,
    ShiftBlocks, SortBlocks, SplitBlock, UndoChanges, UpdateBlocks, UpdateComments,
    UpdateDocuments, UpdateFolders, UpdateItems, UpdateScopedDocuments, UpdateTasks,
};
use leafbase_tree_ops::ReadTree;
use serde_json::Value;

use crate::core::access::{AccessScope, Full, Scoped, Unbatched};
use crate::core::batch::BatchAccess;
use crate::core::connection::Connection;
use crate::core::tree::Tree;

mod keyed_requests;

/// A function that runs the operation of a name with a request as JSON, and returns its reply.
macro_rules! operations {
    ($run:ident, $access:ty: $($method:ident($request:ty)),+ $(,)?) => {
        fn $run(
            batch: &Connection<BatchAccess<'_, $access>>,
            operation: &str,
            request: Value,
        ) -> Result<Value> {
            match operation {
                $(stringify!($method) => {
                    shown(&batch.$method(<$request>::from_json(request)?)?)
                })+
                _ => {
                    let known = [$(stringify!($method)),+].join(", ");
                    let message =
                        format!("a batch has no operation {operation:?}; it has {known}");
                    Err(Error::validation(message).at("operation"))
                }
            }
        }
    };
}

operations! {
    run_full, Full:
    insert_blocks(InsertBlocks),
    update_blocks(UpdateBlocks),
    delete_blocks(DeleteBlocks),
    move_blocks(MoveBlocks),
    split_block(SplitBlock),
    merge_block(MergeBlock),
    indent_blocks(IndentBlocks),
    duplicate_blocks(DuplicateBlocks),
    shift_blocks(ShiftBlocks),
    sort_blocks(SortBlocks),
    replace_text(ReplaceText),
    apply_markdown(ApplyMarkdown),
    edit_markdown(EditMarkdown),
    create_collection(CreateCollection),
    replace_schema(ReplaceSchema),
    add_items(AddItems),
    update_items(UpdateItems),
    delete_items(DeleteItems),
    add_comments(AddComments),
    update_comments(UpdateComments),
    delete_comments(DeleteComments),
    create_documents(CreateDocuments),
    create_from_template(CreateFromTemplate),
    delete_documents(DeleteDocuments),
    move_documents(MoveDocuments),
    update_documents(UpdateDocuments),
    restore_daily_notes(RestoreDailyNotes),
    create_folders(CreateFolders),
    move_folders(MoveFolders),
    update_folders(UpdateFolders),
    delete_folders(DeleteFolders),
    add_tasks(AddTasks),
    update_tasks(UpdateTasks),
    delete_tasks(DeleteTasks),
    undo(UndoChanges),
}

operations! {
    run_scoped, Scoped:
    insert_blocks(InsertBlocks),
    update_blocks(UpdateBlocks),
    delete_blocks(DeleteBlocks),
    move_blocks(MoveBlocks),
    split_block(SplitBlock),
    merge_block(MergeBlock),
    indent_blocks(IndentBlocks),
    duplicate_blocks(DuplicateBlocks),
    shift_blocks(ShiftBlocks),
    sort_blocks(SortBlocks),
    replace_text(ReplaceText),
    apply_markdown(ApplyMarkdown),
    edit_markdown(EditMarkdown),
    create_collection(CreateCollection),
    replace_schema(ReplaceSchema),
    add_items(AddItems),
    update_items(UpdateItems),
    delete_items(DeleteItems),
    add_comments(AddComments),
    update_comments(UpdateComments),
    delete_comments(DeleteComments),
    update_documents(UpdateScopedDocuments),
    undo(UndoChanges),
}

fn shown(reply: &impl serde::Serialize) -> Result<Value> {
    serde_json::to_value(reply)
        .map_err(|error| Error::validation(format!("a reply cannot be shown: {error}")))
}

/// About the bytes of a value as JSON.
fn json_bytes(value: &Value) -> usize {
    let (mut bytes, mut waiting) = (0, vec![value]);
    while let Some(value) = waiting.pop() {
        bytes += match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => 8,
            Value::String(text) => text.len() + 3,
            Value::Array(values) => {
                waiting.extend(values);
                2
            }
            Value::Object(fields) => {
                waiting.extend(fields.values());
                fields.keys().map(|name| name.len() + 4).sum::<usize>() + 2
            }
        };
    }
    bytes
}

/// Runs one operation of a batch.
type RunOperation<A> = fn(&Connection<BatchAccess<'_, A>>, &str, Value) -> Result<Value>;

impl Connection<Full> {
    /// Does the operations of a batch in order, in one transaction: all or none. Each reads what
    /// those before it wrote, and may refer to their replies; the replies are those of the
    /// operations alone. A dry run returns them and writes nothing.
    ///
    /// ```
    /// use leafbase::{Batch, ErrorKind, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// let space = Space::in_memory()?;
    /// let notes = space.connect();
    /// let batch: Batch = space.read_json(r#"{"operations": [
    ///     {"operation": "create_documents", "documents": [{"title": "Trip"}]},
    ///     {"operation": "insert_blocks", "markdown": "passport", "position": {"pageId": "$0.id"}}
    /// ]}"#)?;
    /// notes.run_batch(batch.clone().dry())?;
    /// assert!(notes.documents()?.is_empty());
    /// let replies = notes.run_batch(batch)?.replies;
    /// assert_eq!(replies[1]["items"][0]["markdown"], "passport");
    ///
    /// let stale = r#"{"expect": {"sequence": 0}, "operations": []}"#;
    /// let error = notes.run_batch(space.read_json(stale)?).unwrap_err();
    /// assert_eq!((error.kind(), error.path()), (ErrorKind::Conflict, "expect.sequence"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of the first operation that fails, below `operations[n]`;
    /// [`crate::ErrorKind::Validation`] at `operations[n].operation` for an unknown name, and at a
    /// reference that leads nowhere; [`crate::ErrorKind::Conflict`] below `expect` if something is
    /// not as expected, with a detail for each that is not, and at `requestKey` if another batch
    /// was done under the key; [`crate::ErrorKind::HistoryGone`] there if this one was done and a
    /// purge erased its reply;
    /// [`crate::ErrorKind::LimitExceeded`] at `operations` for more than
    /// [`crate::Limits::blocks_per_request`], and at the operation with which the batch writes and
    /// replies more than [`crate::Limits::batch`]. Nothing is written then.
    pub fn run_batch(&self, batch: Batch) -> Result<BatchReply> {
        self.run_operations(batch, run_full)
    }
}

impl Connection<Scoped> {
    /// Does the operations of a batch in order, in one transaction: all or none, as on a full
    /// connection. It has the operations of scoped connections, and expects revisions of blocks and
    /// items alone.
    ///
    /// ```
    /// use leafbase::{Batch, InsertBlocks, UpdateBlocks, BlockPatch};
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// let trip = space.connect().create_document("Trip")?.id();
    /// let insertion = InsertBlocks::markdown("passport", trip);
    /// let update = UpdateBlocks::new([BlockPatch::markdown(trip, "Journey")]);
    /// let batch = Batch::default().then("insert_blocks", &insertion)?
    ///     .then("update_blocks", &update)?;
    /// assert_eq!(space.scoped([trip]).run_batch(batch)?.replies.len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As on a full connection; [`crate::ErrorKind::Validation`] at `expect.documents` and
    /// `expect.sequence`, which would tell of the rest of the space;
    /// [`crate::ErrorKind::HistoryGone`] at `requestKey` if the batch was done and its reply shows
    /// documents that left the scope since.
    pub fn run_batch(&self, batch: Batch) -> Result<BatchReply> {
        for (name, is_given) in [
            ("documents", !batch.expect.documents.is_empty()),
            ("sequence", batch.expect.sequence.is_some()),
        ] {
            if is_given {
                let message = "a scoped connection does not show it, so it cannot be expected";
                return Err(Error::validation(message).at(name).at("expect"));
            }
        }
        self.run_operations(batch, run_scoped)
    }
}

impl<A: Unbatched> Connection<A> {
    fn run_operations(&self, batch: Batch, run: RunOperation<A>) -> Result<BatchReply> {
        let (most, found) = (self.limits().blocks_per_request, batch.operations.len());
        if found > most {
            return Err(Error::limit("operations in one batch", most, found).at("operations"));
        }
        let keyed = self.keyed_request(&batch)?;
        let Batch { operations, expect, dry_run, .. } = batch;
        let mut planned = None;
        let done = self.batch(|open| {
            planned = None;
            // The closure may run again. First the kept replies: what a batch that was done
            // expected is no longer so, by its own writes.
            if let Some(keyed) = &keyed
                && let Some(replies) = keyed.kept_replies(open)?
            {
                return Ok(BatchReply::new(replies, false));
            }
            open.expect(&expect)?;
            let mut shown = keyed.as_ref().map(|keyed| keyed.named_documents(open)).transpose()?;
            let (mut replies, mut reply_bytes) = (Vec::with_capacity(operations.len()), 0);
            for (index, operation) in operations.iter().enumerate() {
                let reply = operation
                    .resolved(&|number| replies.get(number))
                    .and_then(|request| run(open, &operation.operation, request))
                    .and_then(|reply| {
                        reply_bytes += json_bytes(&reply);
                        open.check_bytes(reply_bytes).map(|()| reply)
                    })
                    .map_err(|error| error.at(format_args!("operations[{index}]")))?;
                if let Some(shown) = &mut shown {
                    shown.add_reply(open, &reply)?;
                }
                replies.push(reply);
            }
            if let (Some(keyed), Some(shown)) = (&keyed, shown) {
                keyed.keep(open, &replies, shown)?;
            }
            let reply = BatchReply::new(replies, dry_run);
            if dry_run {
                planned = Some(reply);
                // An error rolls back what was planned.
                return Err(Error::new(ErrorKind::Canceled, "the batch is a dry run"));
            }
            Ok(reply)
        });
        match planned {
            Some(reply) if dry_run => Ok(reply),
            _ => done,
        }
    }
}

impl<A: AccessScope> Connection<A> {
    /// Checks that a batch with replies of this size stays within its limit.
    fn check_bytes(&self, replies: usize) -> Result<()> {
        let most = self.limits().batch;
        let bytes = replies.saturating_add(self.planned_bytes()?);
        if bytes > most {
            // The edits may have parts that the connection does not see: their size is not shown.
            let what = "bytes that a batch writes and replies";
            return Err(Error::limit(what, most, "more"));
        }
        Ok(())
    }

    /// Checks revisions, and names all that differ.
    fn expect(&self, expected: &Expectations) -> Result<()> {
        if *expected == Expectations::default() {
            return Ok(());
        }
        self.operation("expect").read(|tree| {
            let details = differences(tree, expected)?;
            let Some(first) = details.first() else { return Ok(()) };
            let error = Error::new(ErrorKind::Conflict, first.message.clone()).at(&first.path);
            Err(error.with_details(details))
        })
    }
}

fn differences(tree: &Tree<'_>, expected: &Expectations) -> Result<Vec<Detail>> {
    let mut details = Vec::new();
    let mut compare = |path: String, expected: u64, found: Option<u64>| {
        let message = match found {
            Some(found) if found == expected => return,
            Some(found) => format!("expected rev {expected}, but it has rev {found}"),
            None => format!("expected rev {expected}, but it is not found"),
        };
        details.push(Detail { path, message });
    };
    for (list, blocks) in [("blocks", &expected.blocks), ("items", &expected.items)] {
        for (block, rev) in blocks {
            let found = tree.block(*block)?.map(|block| block.rev);
            compare(format!("expect.{list}.{block}"), *rev, found);
        }
    }
    for (document, rev) in &expected.documents {
        let found = tree.document(*document)?.map(|record| record.rev);
        compare(format!("expect.documents.{document}"), *rev, found);
    }
    if let Some(sequence) = expected.sequence {
        let found = tree.full_reader()?.last_sequence()?;
        if found != sequence {
            let message = format!("expected sequence {sequence}, but the last one is {found}");
            details.push(Detail { path: "expect.sequence".to_owned(), message });
        }
    }
    Ok(details)
}

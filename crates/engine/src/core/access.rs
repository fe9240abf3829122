//! The access scope of a connection: the whole space, or the documents and pages of a
//! [`Scope`](crate::Scope).

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use leafbase_model::{Result, Timestamp};
use leafbase_store::SpaceReader;

use crate::core::scope_changes::ScopeChanges;
use crate::core::scope_folders::ScopeFolders;
use crate::core::scope_roots::ScopeRoots;
use crate::core::visibility::Visibility;

/// The access scope of a connection. Sealed: implemented by [`Full`] and [`Scoped`], and by
/// [`BatchAccess`](crate::BatchAccess) of either.
pub trait AccessScope: sealed::Sealed + Clone {}

/// Access to the whole space, within a batch or not.
pub trait FullAccess: AccessScope {}

/// Access of a connection whose calls are transactions of their own: not within a batch.
pub trait Unbatched: AccessScope + Send + Sync + 'static {}

/// Access to the whole space.
#[derive(Clone, Copy, Debug, Default)]
pub struct Full;

impl AccessScope for Full {}

impl FullAccess for Full {}

impl Unbatched for Full {}

/// Access to the documents and pages that a [`Scope`](crate::Scope) contains when a call begins,
/// except those in the trash.
#[derive(Clone)]
pub struct Scoped {
    pub(crate) state: Arc<ScopeState>,
    pub(crate) is_read_only: bool,
}

impl AccessScope for Scoped {}

impl Unbatched for Scoped {}

impl std::fmt::Debug for Scoped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The holder of the connection must not learn which documents are in the scope.
        f.debug_struct("Scoped").finish_non_exhaustive()
    }
}

/// The state that all clones of a scope and all of its connections share.
#[derive(Default)]
pub(crate) struct ScopeState {
    roots: RwLock<Arc<ScopeRoots>>,
    /// Folders whose documents are in the scope as well.
    pub(crate) folders: ScopeFolders,
    /// The last resolution of the folders, a cache.
    resolved: Mutex<Option<ResolvedFolders>>,
    /// The part of the change log that belongs to the scope.
    pub(crate) changes: Mutex<ScopeChanges>,
}

/// The roots of a scope in one version of the space, named ones and those in its folders.
struct ResolvedFolders {
    sequence: u64,
    named: Arc<ScopeRoots>,
    roots: Arc<ScopeRoots>,
}

impl ScopeState {
    /// A scope whose changes begin after the sequence `last`; with none, where the log ends when
    /// they are first read.
    pub(crate) fn new(roots: ScopeRoots, folders: ScopeFolders, last: Option<u64>) -> Self {
        // An `Arc` around them: a call clones the pointer and is not affected by later changes.
        Self {
            roots: RwLock::new(Arc::new(roots)),
            folders,
            resolved: Mutex::default(),
            changes: Mutex::new(ScopeChanges::after(last)),
        }
    }

    /// The present roots of the scope.
    pub(crate) fn named(&self) -> Arc<ScopeRoots> {
        Arc::clone(&self.roots.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// `named` with the documents in the folders of the scope, in the state that `reader` reads.
    fn resolve(&self, named: &Arc<ScopeRoots>, reader: SpaceReader<'_>) -> Result<Arc<ScopeRoots>> {
        let mut roots = ScopeRoots::clone(named);
        roots.documents.append(&mut self.folders.expand(reader)?.documents()?);
        Ok(Arc::new(roots))
    }

    /// As [`Self::resolve`], for a reader of a committed version: the result is kept until the next
    /// write.
    fn resolve_committed(
        &self,
        named: &Arc<ScopeRoots>,
        reader: SpaceReader<'_>,
    ) -> Result<Arc<ScopeRoots>> {
        let sequence = reader.last_sequence()?;
        let kept = || self.resolved.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = &*kept()
            && kept.sequence == sequence
            && Arc::ptr_eq(&kept.named, named)
        {
            return Ok(Arc::clone(&kept.roots));
        }
        let roots = self.resolve(named, reader)?;
        let (named, resolved) = (Arc::clone(named), Arc::clone(&roots));
        *kept() = Some(ResolvedFolders { sequence, named, roots: resolved });
        Ok(roots)
    }

    /// Adds documents and pages. `last` reads the sequence of the last write.
    pub(crate) fn add(&self, roots: ScopeRoots, last: impl FnOnce() -> Option<u64>, at: Timestamp) {
        // Held throughout: additions are recorded in the order in which they take effect.
        let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        let added: Vec<_> = {
            let mut held = self.roots.write().unwrap_or_else(PoisonError::into_inner);
            let is_new = |document: &_| !held.contains(*document);
            let added = roots.ids().into_iter().filter(is_new).collect();
            // Copy-on-write: calls in flight keep the roots that they began with.
            Arc::make_mut(&mut held).extend(roots);
            added
        };
        if !added.is_empty() {
            // Read once they are visible: a concurrent write is part of the addition, and does
            // not appear as a write to a hidden document.
            changes.add(added, last(), at);
        }
    }

    pub(crate) fn remove(&self, roots: &ScopeRoots) {
        let mut held = self.roots.write().unwrap_or_else(PoisonError::into_inner);
        Arc::make_mut(&mut held).remove(roots);
    }
}

pub(crate) mod sealed {
    use leafbase_model::Result;
    use leafbase_store::SpaceReader;

    use super::{Full, Scoped, Visibility};
    use crate::core::batch_door::BatchDoor;

    pub trait Sealed {
        /// The visibility of a call that begins now, without the documents in folders.
        fn visibility(&self) -> Visibility;

        /// `visibility` with the documents in the folders of the scope, in the committed version
        /// or the transaction that `reader` reads.
        fn within(
            &self,
            visibility: Visibility,
            reader: SpaceReader<'_>,
            is_committed: bool,
        ) -> Result<Visibility>;

        /// Whether writes are refused.
        fn is_read_only(&self) -> bool;

        /// Bytes that distinguish this access from others: empty for the whole space, otherwise
        /// the roots and folders of the scope at present.
        fn identity(&self) -> Vec<u8>;

        /// The scope, unless the access is to the whole space.
        fn scoped(&self) -> Option<&Scoped>;

        /// The transaction of the batch that operations take part in, if there is one.
        fn door(&self) -> Option<&dyn BatchDoor> {
            None
        }
    }

    impl Sealed for Full {
        fn visibility(&self) -> Visibility {
            Visibility::All
        }

        fn within(&self, all: Visibility, _: SpaceReader<'_>, _: bool) -> Result<Visibility> {
            Ok(all)
        }

        fn is_read_only(&self) -> bool {
            false
        }

        fn identity(&self) -> Vec<u8> {
            Vec::new()
        }

        fn scoped(&self) -> Option<&Scoped> {
            None
        }
    }

    impl Sealed for Scoped {
        fn visibility(&self) -> Visibility {
            Visibility::Roots(self.state.named())
        }

        fn within(
            &self,
            visibility: Visibility,
            reader: SpaceReader<'_>,
            is_committed: bool,
        ) -> Result<Visibility> {
            let Visibility::Roots(named) = &visibility else { return Ok(visibility) };
            if self.state.folders.is_empty() {
                return Ok(visibility);
            }
            let roots = if is_committed {
                self.state.resolve_committed(named, reader)
            } else {
                // A transaction may be based on a write that fails: its sequence is used again.
                self.state.resolve(named, reader)
            };
            roots.map(Visibility::Roots)
        }

        fn is_read_only(&self) -> bool {
            self.is_read_only
        }

        fn identity(&self) -> Vec<u8> {
            let roots = self.state.named().ids();
            let documents = roots.iter().flat_map(|document| [&[0][..], document.as_bytes()]);
            let mut identity: Vec<u8> = documents.flatten().copied().collect();
            for folder in self.state.folders.named() {
                identity.push(1);
                identity.extend(folder.as_bytes());
            }
            // Of a scope that names nothing, too: it is not the whole space.
            identity.push(2);
            identity
        }

        fn scoped(&self) -> Option<&Scoped> {
            Some(self)
        }
    }
}

#[cfg(test)]
mod tests {
    use leafbase_model::{
        AddComments, BlockFields, BlockId, BlockPatch, CardLayout, CommentDraft, CreateCollection,
        DayRef, DeleteBlocks, DocumentFilterMode, DocumentId, Edit, Error, Fetch, InsertBlocks,
        ListCollections, Location, MoveBlocks, Position, PropertyDraft, Relation, ReplaceSchema,
        SchemaDraft, TaskState, UpdateBlocks, UploadFile,
    };

    use leafbase_model::DocumentRecord;

    use super::*;
    use crate::core::visibility::Visibility;
    use crate::{Connection, Space};

    /// A document that is seen, with two texts, and blocks of documents that are not: roots, a
    /// page, a text within it, a line, a daily note, and a document in the trash.
    struct Scene {
        space: Space,
        seen: Connection<Scoped>,
        document: DocumentId,
        texts: [BlockId; 2],
        hidden: Vec<(&'static str, BlockId)>,
    }

    fn scene() -> Scene {
        let space = Space::in_memory().unwrap();
        let notes = space.connect();
        let document = notes.create_document("seen").unwrap().id();
        let texts = notes.insert_markdown("a\n\nb", document).unwrap();
        let other = notes.create_document("hidden").unwrap().id();
        let within = notes.insert_markdown("page\n\n*****\n\n- [ ] task", other).unwrap();
        let child = notes.insert_markdown("child", Position::end_of(within[0].id)).unwrap();
        let day = notes.insert_markdown("today", Position::end_of_day(DayRef::Today)).unwrap();
        let trashed = notes.create_document("trashed").unwrap();
        let gone = notes.insert_markdown("gone", trashed.id()).unwrap();
        let after = DocumentRecord {
            location: Location::Trash,
            ..notes.document(trashed.id()).unwrap().record
        };
        let before = notes.document(trashed.id()).unwrap().record;
        space.apply(notes.author(), &[Edit::UpdateDocument { before, after }]).unwrap();
        let hidden = vec![
            ("a root", other.root()),
            ("a page", within[0].id),
            ("a line", within[1].id),
            ("a task", within[2].id),
            ("a child", child[0].id),
            ("a daily note", notes.document_of(day[0].id).unwrap().root()),
            ("a root in the trash", trashed.id().root()),
            ("a text in the trash", gone[0].id),
        ];
        let seen = space.scoped([document, trashed.id()]);
        Scene { space, seen, document, texts: [texts[0].id, texts[1].id], hidden }
    }

    type Outcome = Result<(), Error>;

    /// Every operation with `id` at every place that takes one.
    fn asked(scene: &Scene, id: BlockId) -> Vec<(&'static str, Outcome)> {
        let Scene { seen, document, texts: [a, b], .. } = scene;
        let insert = |position: Position| {
            let blocks = InsertBlocks::markdown("x", position);
            seen.insert_blocks(blocks).map(drop)
        };
        let nothing = |position: Position| {
            seen.insert_blocks(InsertBlocks::blocks(Vec::new(), position)).map(drop)
        };
        let update =
            |patches: Vec<BlockPatch>| seen.update_blocks(UpdateBlocks::new(patches)).map(drop);
        let delete = |ids: Vec<BlockId>| seen.delete_blocks(DeleteBlocks::new(ids)).map(drop);
        let go = |ids: Vec<BlockId>, position: Position| {
            seen.move_blocks(MoveBlocks::new(ids, position)).map(drop)
        };
        let comment = |comments: &[(BlockId, &str)]| {
            let drafts =
                comments.iter().map(|(block, content)| CommentDraft::new(*block, *content));
            seen.add_comments(AddComments::new(drafts)).map(drop)
        };
        let upload = |position: Position, content_type: &str| {
            let request = UploadFile::new(position).of_type(content_type);
            seen.upload_file(request, &b"x"[..]).map(drop)
        };
        let no_field = BlockFields {
            card_layout: Some(CardLayout::Small),
            url: Some("u".into()),
            ..BlockFields::default()
        };
        vec![
            ("fetch", seen.fetch(Fetch::new(id)).map(drop)),
            ("fetch of depth 0", seen.fetch(Fetch::new(id).depth(0)).map(drop)),
            (
                "fetch of depth 1 with metadata",
                seen.fetch(Fetch::new(id).depth(1).with_metadata()).map(drop),
            ),
            ("fetch as markdown", seen.fetch_markdown(Fetch::new(id)).map(drop)),
            ("content as markdown", seen.content_markdown(id).map(drop)),
            ("document", seen.document(DocumentId::of_root(id)).map(drop)),
            ("document of", seen.document_of(id).map(drop)),
            ("insert at the start", insert(Position::start_of(id))),
            ("insert at the end", insert(Position::end_of(id))),
            ("insert before", insert(Position::before(id))),
            ("insert after", insert(Position::after(id))),
            ("insert nothing", nothing(Position::end_of(id))),
            ("insert nothing after", nothing(Position::after(id))),
            ("comment", comment(&[(id, "x")])),
            ("comment, second", comment(&[(*a, "x"), (id, "x")])),
            ("blank comment", comment(&[(id, " ")])),
            ("upload at the end", upload(Position::end_of(id), "text/plain")),
            ("upload after", upload(Position::after(id), "text/plain")),
            ("upload of no type", upload(Position::end_of(id), "?")),
            ("update", seen.update_markdown(id, "x").map(drop)),
            ("update of nothing", update(vec![BlockPatch::of(id)])),
            (
                "update, second",
                update(vec![BlockPatch::markdown(*a, "x"), BlockPatch::markdown(id, "x")]),
            ),
            ("update of a rev", update(vec![BlockPatch::markdown(id, "x").if_rev(77)])),
            ("update of a field that it has not", update(vec![BlockPatch::new(id, no_field)])),
            ("update of a task", update(vec![BlockPatch::of(id).with_task_state(TaskState::Done)])),
            (
                "update to a bad text",
                seen.update_markdown(id, "<highlight color='puce'>x</highlight>").map(drop),
            ),
            ("delete", delete(vec![id])),
            ("delete, second", delete(vec![*a, id])),
            ("move", go(vec![id], Position::end_of(*document))),
            ("move under itself", go(vec![id], Position::end_of(id))),
            ("move next to itself", go(vec![id], Position::after(id))),
            ("move, second", go(vec![*a, id], Position::before(*b))),
            ("move to the start", go(vec![*a], Position::start_of(id))),
            ("move to the end", go(vec![*a], Position::end_of(id))),
            ("move before", go(vec![*a], Position::before(id))),
            ("move after", go(vec![*a], Position::after(id))),
            ("move nothing", go(Vec::new(), Position::end_of(id))),
        ]
    }

    #[test]
    fn what_is_hidden_is_answered_like_what_never_was() {
        let scene = scene();
        let before = scene.space.connect().last_sequence().unwrap();
        let never: BlockId = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
        let expected = asked(&scene, never);
        for (what, id) in &scene.hidden {
            for ((operation, found), (_, expected)) in asked(&scene, *id).into_iter().zip(&expected)
            {
                let shown = |outcome: &Outcome| {
                    serde_json::to_value(outcome.as_ref().unwrap_err()).unwrap()
                };
                assert_eq!(shown(&found), shown(expected), "{operation} of {what}");
            }
        }
        assert_eq!(scene.space.connect().last_sequence().unwrap(), before, "nothing was written");
    }

    #[test]
    fn every_operation_works_on_what_is_seen() {
        let scene = scene();
        for (operation, outcome) in asked(&scene, scene.texts[0]) {
            let refused = [
                "document",
                "update of a rev",
                "update of a field that it has not",
                "update of a task",
            ];
            let refused = [&refused[..], &["blank comment", "upload of no type"]].concat();
            let odd = ["update to a bad text", "update, second", "delete, second", "move, second"];
            // Once it is deleted, it never was.
            let gone = scene.seen.fetch(Fetch::new(scene.texts[0])).is_err();
            assert!(
                outcome.is_ok() || gone || refused.contains(&operation) || odd.contains(&operation),
                "{operation}"
            );
        }
        let documents = scene.seen.documents().unwrap();
        let present = documents.iter().filter(|document| !document.is_deleted);
        let listed: Vec<_> = present.map(|document| document.id).collect();
        assert_eq!(listed, [scene.document]);
    }

    #[test]
    fn comments_are_seen_with_their_blocks_alone() {
        let scene = scene();
        let on = |block: BlockId| AddComments::new([CommentDraft::new(block, "x")]);
        scene.space.connect().add_comments(on(scene.texts[0])).unwrap();
        scene.space.connect().add_comments(on(scene.hidden[0].1)).unwrap();
        let tree = scene.seen.fetch(Fetch::new(scene.document).with_metadata()).unwrap();
        let shown: Vec<_> =
            tree.walk().map(|(_, block)| block.metadata.as_ref().unwrap().comments.len()).collect();
        assert_eq!(shown, [0, 1, 0]);
        let (seen, all) = (scene.seen.info().unwrap(), scene.space.connect().info().unwrap());
        assert_eq!((seen.space.id, seen.url_templates), (all.space.id, all.url_templates));
    }

    #[test]
    fn a_collection_that_is_hidden_is_answered_like_one_that_never_was() {
        let scene = scene();
        let Scene { space, seen, document, .. } = &scene;
        let schema = || SchemaDraft::new("c", []);
        let make = |home: BlockId| CreateCollection::new(schema(), Position::end_of(home));
        let new = |home: BlockId| space.connect().create_collection(make(home)).unwrap().id;
        let (own, hidden) = (new(document.root()), new(scene.hidden[0].1));
        let related =
            |id: BlockId| SchemaDraft::new("c", [PropertyDraft::new("r", Relation::to(id).into())]);
        let asked = |id: BlockId| {
            let outcomes: [Outcome; 7] = [
                seen.schema(id).map(drop),
                seen.replace_schema(ReplaceSchema::new(id, schema())).map(drop),
                seen.replace_schema(ReplaceSchema::new(own, related(id))).map(drop),
                seen.create_collection(CreateCollection::new(related(id), *document)).map(drop),
                seen.create_collection(make(id)).map(drop),
                seen.create_collection(CreateCollection::new(schema(), Position::after(id)))
                    .map(drop),
                seen.list_collections(ListCollections::of([DocumentId::of_root(id)])).map(drop),
            ];
            outcomes.map(|outcome| serde_json::to_value(outcome.unwrap_err()).unwrap())
        };
        let never: BlockId = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
        assert_eq!(asked(hidden), asked(never));
        assert_eq!(asked(scene.hidden[0].1), asked(never));
        let listed = |request: ListCollections| {
            seen.list_collections(request)
                .unwrap()
                .iter()
                .map(|collection| collection.id)
                .collect::<Vec<_>>()
        };
        let mut request = ListCollections::of([*document]);
        assert_eq!([listed(ListCollections::default()), listed(request.clone())], [[own], [own]]);
        request.mode = Some(DocumentFilterMode::Exclude);
        assert_eq!(listed(request), []);
        seen.replace_schema(ReplaceSchema::new(own, related(own))).unwrap();
    }

    #[test]
    fn what_is_printed_names_no_document() {
        let scene = scene();
        let connection = scene.space.scope([scene.document]).connect();
        let sight = connection.access().clone();
        assert_eq!(format!("{sight:?}"), "Scoped { .. }");
        let seen = sealed::Sealed::visibility(&sight);
        assert_eq!([format!("{seen:?}"), format!("{:?}", Visibility::All)], ["Roots", "All"]);
    }

    #[test]
    fn days_are_not_seen() {
        let scene = scene();
        for day in [DayRef::Today, DayRef::Tomorrow] {
            let error = scene.seen.fetch(Fetch::day(day)).unwrap_err();
            assert_eq!(
                (error.code(), error.path(), error.message()),
                ("NOT_FOUND", "date", "no note is of this day")
            );
            for blocks in ["x", ""] {
                let error =
                    scene.seen.insert_markdown(blocks, Position::end_of_day(day)).unwrap_err();
                assert_eq!((error.code(), error.path()), ("INVALID_POSITION", "position"));
            }
        }
    }

    #[test]
    fn a_file_is_seen_where_a_block_that_shows_it_is() {
        let scene = scene();
        let (all, hidden) = (scene.space.connect(), scene.hidden[1].1);
        let uploaded =
            all.upload_file(UploadFile::new(Position::end_of(hidden)), &b"x"[..]).unwrap();
        let file = uploaded.asset_url.id();
        let copies = format!("[it]({})\n\n", uploaded.asset_url).repeat(250);
        all.insert_markdown(&copies, Position::end_of(hidden)).unwrap();
        let never = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
        assert_eq!(scene.seen.file(file).unwrap_err(), scene.seen.file(never).unwrap_err());
        assert_eq!(
            scene.seen.open_file(file).unwrap_err(),
            scene.seen.open_file(never).unwrap_err()
        );
        // A link in a text shows it as well as a block of its own does.
        let copy = all
            .insert_markdown(&format!("[it]({})", uploaded.asset_url), scene.document)
            .unwrap()[0]
            .id;
        assert_eq!(scene.seen.file(file).unwrap(), all.file(file).unwrap());
        assert_eq!(scene.seen.open_file(file).unwrap().len(), 1);
        all.delete_blocks(DeleteBlocks::from(copy)).unwrap();
        assert_eq!(scene.seen.file(file).unwrap_err(), scene.seen.file(never).unwrap_err());
        let own = scene.seen.upload_file(UploadFile::new(scene.document), &b"own"[..]).unwrap();
        assert_eq!(scene.seen.file(own.asset_url.id()).unwrap().size, 3);
    }
}

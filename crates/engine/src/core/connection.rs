//! A connection: the operations on a space, for one author and one access scope.

use std::fmt;
use std::sync::Arc;

use leafbase_model::{Author, Change, Edit, Error, ErrorKind, Limits, Result, Stamp, invariant};
use leafbase_store::kv::{Durability, WriteOptions};
use leafbase_store::{SpaceReader, SpaceSnapshot, SpaceTransaction, WritePlan};
use leafbase_tree_ops::Context;
use tracing::span::EnteredSpan;

use crate::core::access::{AccessScope, Full, FullAccess};
use crate::core::batch_door::BatchDoor;
use crate::core::change_recorder::ChangeRecorder;
use crate::core::space::Space;
use crate::core::transaction::OperationTransaction;
use crate::core::tree::{Tree, VisibleSnapshot};
use crate::core::visibility::Visibility;

/// The operations on a space. Cheap to clone, and every clone may be used on its own thread.
///
/// A call is one transaction: it commits as a whole or not at all. A read sees one snapshot, which
/// includes every write that returned before it began.
///
/// Where an operation does not say otherwise, its cost grows with its request and its reply, not
/// with the space.
///
/// [`Space::connect`] returns a connection to the whole space, [`Scope::connect`](crate::Scope)
/// one that is limited to some documents.
///
/// While a call runs it is in a [`tracing`] span `operation` of level `DEBUG`, whose field `name`
/// is the name of the method.
///
/// ```
/// # fn main() -> leafbase::Result<()> {
/// let notes = leafbase::Space::in_memory()?.connect();
/// let trip = notes.create_document("Trip")?.id();
/// let other = notes.clone();
/// let written = std::thread::spawn(move || other.insert_markdown("- [ ] passport", trip)).join()
///     .unwrap()?;
/// assert_eq!(notes.document_of(written[0].id)?, trip);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Connection<A: AccessScope = Full> {
    pub(crate) space: Space,
    access: A,
    author: Author,
    durability: Durability,
    recorder: Option<Arc<ChangeRecorder>>,
}

impl<A: AccessScope> fmt::Debug for Connection<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("author", &self.author).finish_non_exhaustive()
    }
}

impl Space {
    /// A connection to the whole space.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// let ada = space.connect().acting_as("Ada");
    /// let trip = ada.create_document("Trip")?;
    /// assert_eq!(space.connect().document(trip.id())?.title, "Trip"); // all connections see it
    /// # Ok(())
    /// # }
    /// ```
    pub fn connect(&self) -> Connection<Full> {
        Connection::new(self.clone(), Full)
    }
}

impl Connection<Full> {
    /// The space of the connection.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// notes.space().flush()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn space(&self) -> &Space {
        &self.space
    }
}

impl<A: AccessScope> Connection<A> {
    /// The same connection with another access.
    pub(in crate::core) fn with_access<B: AccessScope>(&self, access: B) -> Connection<B> {
        let Self { space, author, durability, recorder, .. } = self;
        let (space, author, recorder) = (space.clone(), author.clone(), recorder.clone());
        Connection { space, access, author, durability: *durability, recorder }
    }

    pub(in crate::core) fn new(space: Space, access: A) -> Self {
        let durability = space.durability();
        Self { space, access, author: Author::ANONYMOUS, durability, recorder: None }
    }

    /// The same connection, whose changes are recorded.
    pub(crate) fn recorded_by(&self, recorder: Arc<ChangeRecorder>) -> Self {
        Self { recorder: Some(recorder), ..self.clone() }
    }

    /// The same connection with another author, who is stamped on its writes.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let ada = leafbase::Space::in_memory()?.connect().acting_as("Ada");
    /// ada.create_document("Trip")?;
    /// let change = ada.changes_since(0).next().unwrap()?;
    /// assert_eq!(change.stamp.by.as_str(), "Ada");
    /// # Ok(())
    /// # }
    /// ```
    pub fn acting_as(&self, author: &str) -> Self {
        Self { author: Author::new(author), ..self.clone() }
    }

    /// The same connection with another durability of its writes, whatever
    /// [`SpaceBuilder::durability`](crate::SpaceBuilder::durability) says: one for the keystrokes
    /// that an editor saves, another for what must not be lost.
    ///
    /// A relaxed write that has returned survives the end of the process, also by `kill -9`. A
    /// power loss takes a suffix of the relaxed writes: none from before the last durable write,
    /// flush or close, nor any that another call followed by more than a second
    /// ([`SpaceBuilder::sync_relaxed_after`](crate::SpaceBuilder::sync_relaxed_after)). A relaxed
    /// write waits for the disk in four cases: one of the first two writes after opening
    /// starts the write-ahead log, a checkpoint moves what has accumulated (8 MiB or 16,384
    /// entries) or a write of more than 2 MiB to the main file, it builds on another thread's
    /// durable write whose sync is in flight, or it begins later than that second after the oldest
    /// relaxed write that is not synced yet.
    ///
    /// ```
    /// use leafbase::{Durability, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// # let directory = tempfile::tempdir().unwrap();
    /// let space = Space::create(directory.path().join("notes.leafbase"))?;
    /// let (notes, typing) =
    ///     (space.connect(), space.connect().with_durability(Durability::Relaxed));
    /// let trip = notes.create_document("Trip")?.id(); // survives the loss of power
    /// typing.insert_markdown("Passp", trip)?; // visible at once, without waiting for the disk
    /// notes.create_document("Packing")?; // survives, and so does the text typed before
    /// assert_eq!(
    ///     (notes.durability(), typing.durability()),
    ///     (Durability::Durable, Durability::Relaxed),
    /// );
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_durability(&self, durability: Durability) -> Self {
        Self { durability, ..self.clone() }
    }

    /// The durability of its writes.
    ///
    /// ```
    /// use leafbase::{Durability, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = Space::in_memory()?.connect();
    /// assert_eq!(notes.durability(), Durability::Durable);
    /// # Ok(())
    /// # }
    /// ```
    pub fn durability(&self) -> Durability {
        self.durability
    }

    /// The author who is stamped on its writes.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// assert!(notes.author().is_anonymous());
    /// assert_eq!(notes.acting_as("Ada").author().as_str(), "Ada");
    /// # Ok(())
    /// # }
    /// ```
    pub fn author(&self) -> &Author {
        &self.author
    }

    pub(crate) fn limits(&self) -> &Limits {
        self.space.limits()
    }

    /// Checks the number of IDs in a list of the request.
    pub(crate) fn check_ids<T>(&self, list: &str, ids: Option<&Vec<T>>) -> Result<()> {
        let (most, found) = (self.limits().blocks_per_request, ids.map_or(0, Vec::len));
        if found > most {
            Err(Error::limit("IDs in one request", most, found).at(list))
        } else {
            Ok(())
        }
    }

    /// Refuses writes of a read-only scope before anything is read, so that the refusal does not
    /// depend on the blocks that the request names.
    pub(crate) fn check_writable(&self) -> Result<()> {
        if self.access.is_read_only() {
            return Err(Error::new(ErrorKind::ReadOnly, "the scope is for reading only"));
        }
        Ok(())
    }

    /// Runs the part of a write that precedes its transaction. An error in it fails the batch, as
    /// one in the transaction does.
    pub(crate) fn prepare<T>(&self, prepare: impl FnOnce() -> Result<T>) -> Result<T> {
        prepare().inspect_err(|error| {
            if let Some(door) = self.access.door() {
                door.fail(error);
            }
        })
    }

    pub(crate) const fn access(&self) -> &A {
        &self.access
    }

    /// The visibility of a call that begins now.
    pub(crate) fn visibility(&self) -> Visibility {
        self.access.visibility()
    }

    /// A snapshot as a call with this visibility sees it.
    fn visible_snapshot(
        &self,
        snapshot: SpaceSnapshot,
        visibility: Visibility,
    ) -> Result<VisibleSnapshot> {
        let visibility = self.access.within(visibility, snapshot.reader(), true)?;
        Ok(VisibleSnapshot::new(snapshot, visibility))
    }

    /// Whether a call with this visibility, as it was when the call began, sees in the version of
    /// `snapshot` what that one shows. A document may leave a folder of a scope between two
    /// snapshots.
    #[cfg(feature = "search")]
    pub(crate) fn sees_as(
        &self,
        visibility: &Visibility,
        snapshot: &VisibleSnapshot,
    ) -> Result<bool> {
        let tree = snapshot.tree();
        let within = self.access.within(visibility.clone(), tree.unguarded(), true)?;
        Ok(within.is_same(tree.visibility()))
    }

    /// `visibility` with the documents that folders of the scope have in the newest version.
    pub(crate) fn newest_visibility(&self, visibility: &Visibility) -> Result<Visibility> {
        if self.access.scoped().is_none_or(|scoped| scoped.state.folders.is_empty()) {
            return Ok(visibility.clone());
        }
        let snapshot = self.space.store()?.snapshot()?;
        self.access.within(visibility.clone(), snapshot.reader(), true)
    }

    /// Whether calls may see the whole space.
    pub(crate) fn is_unrestricted(&self) -> bool {
        self.visibility().is_unrestricted()
    }

    /// Begins the operation `name`: the only way to a transaction, so that each is in a span.
    pub(crate) fn operation(&self, name: &'static str) -> Operation<'_, A> {
        let span = tracing::debug_span!(target: "leafbase", "operation", name).entered();
        // A batch has begun with it, and holds the transaction.
        if self.access.door().is_none() {
            self.space.sync_overdue();
        }
        Operation { connection: self, _span: span }
    }

    /// Bytes in the change log of the edits that the batch has applied so far; 0 outside of one.
    pub(crate) fn planned_bytes(&self) -> Result<usize> {
        match self.access.door() {
            Some(door) => enter(door, |transaction| Ok(transaction.applied_bytes())),
            None => Ok(0),
        }
    }
}

/// A call of an operation. Its span ends when it is dropped.
pub(crate) struct Operation<'c, A: AccessScope> {
    connection: &'c Connection<A>,
    _span: EnteredSpan,
}

impl<A: AccessScope> Operation<'_, A> {
    /// Runs `read` on a snapshot of the newest version, or in the transaction of the batch.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Tree<'_>) -> Result<T>) -> Result<T> {
        let visibility = self.connection.visibility();
        if let Some(door) = self.connection.access.door() {
            let read = enter(door, |transaction| transaction.plan(|tree, _| read(tree)));
            return read.map_err(|error| visibility.redact_error(error));
        }
        self.read_committed(read)
    }

    /// Runs `read` on a snapshot of the newest version, in a batch as well.
    pub(crate) fn read_committed<T>(&self, read: impl FnOnce(&Tree<'_>) -> Result<T>) -> Result<T> {
        let visibility = self.connection.visibility();
        let snapshot = || {
            let snapshot = self.connection.space.store()?.snapshot()?;
            self.connection.visible_snapshot(snapshot, visibility.clone())
        };
        let read = snapshot().and_then(|snapshot| read(&snapshot.tree()));
        read.map_err(|error| visibility.redact_error(error))
    }

    /// The edits that the batch has applied so far; none outside of a batch.
    pub(crate) fn planned_edits(&self) -> Result<Vec<Edit>> {
        match self.connection.access.door() {
            Some(door) => enter(door, |transaction| Ok(transaction.applied().to_vec())),
            None => Ok(Vec::new()),
        }
    }

    /// Runs `plan` in a write transaction and commits its edits; in a batch, in its transaction,
    /// which commits them later. `plan` may run several times: when
    /// a write that it was based on fails, it runs again on the version before.
    pub(crate) fn write<T>(
        &self,
        plan: impl FnMut(&mut OperationTransaction<'_, '_>) -> Result<T>,
    ) -> Result<(T, Option<Change>)> {
        let committed = match self.connection.access.door() {
            Some(door) => {
                let mut plan = plan;
                let written = enter(door, |transaction| plan(transaction));
                written.inspect_err(|error| door.fail(error)).map(|value| (value, None))
            }
            None => self.commit(plan),
        };
        committed.map_err(|error| self.connection.visibility().redact_error(error))
    }

    fn commit<T>(
        &self,
        plan: impl FnMut(&mut OperationTransaction<'_, '_>) -> Result<T>,
    ) -> Result<(T, Option<Change>)> {
        let Connection { space, access, author, durability, recorder } = self.connection;
        self.connection.check_writable()?;
        space.check_leads()?;
        let (longest, found) = (space.limits().attribute, author.as_str().len());
        if found > longest {
            return Err(Error::limit("bytes of an author's name", longest, found).at("author"));
        }
        // Fixed before the first run, so that each run plans the same.
        let stamp = Stamp { at: space.now(), by: author.clone() };
        let context = Context { limits: space.limits(), stamp: &stamp, ids: space.ids() };
        space.before_write(*durability);
        let store = space.store()?;
        let options = WriteOptions::durability(*durability).at_millis(stamp.at.as_millis());
        let mut plan = OperationPlan { access, context, plan };
        let written = store.write_planned(options, &stamp, &mut plan)?;
        if let Some(change) = &written.change {
            invariant!(change.stamp == stamp, "a change has the stamp of its write");
            let is_new = |edit: &&Edit| matches!(edit, Edit::CreateDocument { .. });
            space.after_write(&store, change.edits.iter().filter(is_new).count());
            if let Some(recorder) = recorder {
                recorder.record(change);
            }
        }
        Ok((written.value, written.change))
    }
}

/// Runs `plan` in the transaction of a batch.
fn enter<T>(
    door: &dyn BatchDoor,
    plan: impl FnOnce(&mut OperationTransaction<'_, '_>) -> Result<T>,
) -> Result<T> {
    let (mut plan, mut value) = (Some(plan), None);
    door.enter(&mut |transaction| {
        let Some(plan) = plan.take() else { invariant!("a batch runs an operation once") };
        value = Some(plan(transaction)?);
        Ok(())
    })?;
    let Some(value) = value else { invariant!("an operation of a batch runs") };
    Ok(value)
}

/// The plan of an operation, as the store runs it.
struct OperationPlan<'c, A, F> {
    access: &'c A,
    context: Context<'c>,
    plan: F,
}

impl<T, A, F> WritePlan for OperationPlan<'_, A, F>
where
    A: AccessScope,
    F: FnMut(&mut OperationTransaction<'_, '_>) -> Result<T>,
{
    type Output = T;

    fn run(&mut self, transaction: &mut SpaceTransaction<'_>) -> Result<T> {
        // Read for each run: the scope may change while a failed run is repeated.
        let mut visibility = self.access.visibility();
        if !visibility.is_unrestricted() {
            visibility = self.access.within(visibility, transaction.reader()?, false)?;
        }
        let context = self.context;
        (self.plan)(&mut OperationTransaction::new(transaction, visibility, context))
    }
}

impl<A: FullAccess> Operation<'_, A> {
    /// Runs `read` on the store's reader, without the scope guard.
    pub(crate) fn read_all<T>(&self, read: impl FnOnce(SpaceReader<'_>) -> Result<T>) -> Result<T> {
        self.read(|tree| read(tree.full_reader()?))
    }
}

//! A connection: the operations on a space, for one author and one sight.

use std::fmt;

use leafbase_model::{Author, Change, Edit, Error, Limits, Result};
use leafbase_store::kv::Durability;
use leafbase_store::{SpaceSnapshot, SpaceTransaction};
use leafbase_tree_ops::Context;

use crate::core::sight::{Full, Seen, Sight};
use crate::core::space::Space;
use crate::core::tree::Tree;
use crate::core::upkeep;

/// The operations on a space. Cheap to clone, and every clone may be used on its own thread.
///
/// A call is one transaction: all of it lands or none. A read sees one state from beginning to end,
/// and every write that returned before it began.
///
/// Where an operation does not say otherwise, it costs by what it is given and what it gives back,
/// however large the space is.
///
/// [`Space::connect`] gives one that sees everything, [`Space::scope`] those that see some
/// documents and nothing of the rest.
///
/// ```
/// # fn main() -> leafbase::Result<()> {
/// let notes = leafbase::Space::in_memory()?.connect();
/// let trip = notes.create_document("Trip")?.id();
/// let other = notes.clone();
/// let written = std::thread::spawn(move || other.insert_markdown("- [ ] passport", trip)).join().unwrap()?;
/// assert_eq!(notes.document_of(written[0].id)?, trip);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Connection<S: Sight = Full> {
    pub(crate) space: Space,
    sight: S,
    author: Author,
    durability: Durability,
}

impl<S: Sight> fmt::Debug for Connection<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("author", &self.author).finish_non_exhaustive()
    }
}

impl Connection<Full> {
    /// The space that it is a connection to.
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

impl<S: Sight> Connection<S> {
    pub(crate) fn new(space: Space, sight: S) -> Self {
        let durability = space.durability();
        Self { space, sight, author: Author::NOBODY, durability }
    }

    /// The same connection, whose writes are stamped with this author.
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

    /// The same connection, whose writes promise this when they return, whatever
    /// [`SpaceBuilder::durability`](crate::SpaceBuilder::durability) says: one for what an editor
    /// saves with each key, another for what must not be lost.
    ///
    /// A durable write makes all relaxed ones before it durable as well. A crash takes the last
    /// relaxed ones, all after one point, and none from before the last durable write, flush or
    /// close. A relaxed write does not wait for the disk, unless another thread's durable one is on
    /// its way there: it may build on that, and returns when that is sure.
    ///
    /// ```
    /// use leafbase::{Durability, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// # let directory = tempfile::tempdir().unwrap();
    /// let space = Space::create(directory.path().join("notes.leafbase"))?;
    /// let (notes, typing) = (space.connect(), space.connect().with_durability(Durability::Relaxed));
    /// let trip = notes.create_document("Trip")?.id(); // survives the loss of power
    /// typing.insert_markdown("Passp", trip)?; // is seen at once; the disk is not waited for
    /// notes.create_document("Packing")?; // survives, and so does what was typed
    /// assert_eq!((notes.durability(), typing.durability()), (Durability::Durable, Durability::Relaxed));
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_durability(&self, durability: Durability) -> Self {
        Self { durability, ..self.clone() }
    }

    /// What its writes promise when they return.
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

    /// Who is stamped on the writes.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// assert!(notes.author().is_nobody());
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

    /// Refuses a list of the request that names more IDs than one may.
    pub(crate) fn check_ids<T>(&self, list: &str, ids: Option<&Vec<T>>) -> Result<()> {
        let (most, found) = (self.limits().blocks_per_request, ids.map_or(0, Vec::len));
        if found > most {
            Err(Error::limit("IDs in one request", most, found).at(list))
        } else {
            Ok(())
        }
    }

    pub(crate) const fn sight(&self) -> &S {
        &self.sight
    }

    /// What a call that begins now sees.
    pub(crate) fn seen(&self) -> Seen {
        self.sight.seen()
    }

    /// Whether everything is seen, whatever happens.
    pub(crate) fn sees_all(&self) -> bool {
        self.seen().is_all()
    }

    /// Runs `read` on the present state.
    pub(crate) fn read<T>(
        &self,
        read: impl FnOnce(&Tree<'_>, &SpaceSnapshot) -> Result<T>,
    ) -> Result<T> {
        let seen = self.seen();
        let read = |space: &Space| {
            let snapshot = space.store()?.snapshot()?;
            read(&Tree::new(snapshot.reader(), seen.clone()), &snapshot)
        };
        read(&self.space).map_err(|error| seen.tell(error))
    }

    /// Runs `decide` in one write transaction.
    pub(crate) fn write<T>(
        &self,
        mut decide: impl FnMut(&mut Writing<'_, '_>) -> Result<T>,
    ) -> Result<(T, Option<Change>)> {
        let written = self.space.write(&self.author, self.durability, |transaction, stamp| {
            let context = Context { limits: self.limits(), stamp, ids: self.space.ids() };
            decide(&mut Writing { transaction, seen: self.seen(), context })
        });
        written.map_err(|error| self.seen().tell(error))
    }
}

/// An open write: what decisions read, and where their edits go.
pub(crate) struct Writing<'w, 't> {
    pub(crate) transaction: &'w mut SpaceTransaction<'t>,
    seen: Seen,
    pub(crate) context: Context<'w>,
}

impl Writing<'_, '_> {
    /// Decides on the state as it is now.
    pub(crate) fn decide<T>(
        &mut self,
        decide: impl FnOnce(&Tree<'_>, &Context<'_>) -> Result<T>,
    ) -> Result<T> {
        let reader = self.transaction.reader()?;
        decide(&Tree::new(reader, self.seen.clone()), &self.context)
    }

    /// Applies `edits`, and what follows from them: comments go with their blocks, files with the
    /// last block that shows them, ends of relations with items and collections.
    pub(crate) fn apply(&mut self, mut edits: Vec<Edit>) -> Result<()> {
        if upkeep::concerns_collections(&edits) {
            let tree = Tree::full(self.transaction.reader()?);
            edits = upkeep::with_collections(&tree, self.context.limits, edits)?;
        }
        let files = upkeep::files(&edits);
        for stretch in upkeep::stretches(edits) {
            if upkeep::takes_any(&stretch) {
                let comments = upkeep::comments(self.transaction.reader()?, &stretch)?;
                self.transaction.apply(comments)?;
            }
            self.transaction.apply(stretch)?;
        }
        if !files.is_empty() {
            let erasures = upkeep::erasures(self.transaction.reader()?, &files)?;
            self.transaction.apply(erasures)?;
        }
        Ok(())
    }
}

//! The inventory of readable records: blocks and their locations, documents, schemas; and the lost
//! blocks to reconstruct.

use std::collections::{BTreeMap, HashMap, HashSet};

use leafbase_model::{
    BlockId, BlockRecord, BlockType, DocumentId, DocumentRecord, Location, Result, TaskLocation,
};

use super::log::SalvagedLog;
use super::{CONTINUE, DATA_IS_LOST, LossKind, OnStep, Salvager};
use crate::keyspaces::{
    self, BLOCK_LOCATIONS, BLOCKS, COMMENTS, DOCUMENTS, DOCUMENTS_BY_CREATED, DOCUMENTS_BY_DAY,
    DOCUMENTS_BY_LOCATION, DOCUMENTS_BY_LOCATION_MODIFIED, DOCUMENTS_BY_MODIFIED, Keyspace,
    RowName, SCHEMAS,
};
use crate::kv::{KeyRange, Read};
use crate::records;
use crate::records::block::{self, AuthorCache};
use crate::records::document::{self, StoredDocument};
use crate::records::location::{self, LocationRecord};
use crate::records::schema::{self, IndexedSchema};
use crate::run::RunView;

/// Receives each row of a keyspace.
type SalvageRow<'f, S> = &'f mut dyn FnMut(&mut S, &[u8], &[u8]) -> Result<()>;

/// The location and the type of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct SalvagedBlock {
    pub(super) document: DocumentId,
    pub(super) parent: BlockId,
    pub(super) block_type: BlockType,
}

/// A lost block that is reconstructed, mostly without its data.
#[derive(Clone, Debug)]
pub(super) struct ReconstructedBlock {
    pub(super) known: SalvagedBlock,
    /// The hint to its former position among its siblings.
    pub(super) order: Option<Vec<u8>>,
    pub(super) name: String,
    /// The block itself, if a list of tasks has it.
    pub(super) block: Option<BlockRecord>,
}

/// The readable records, and the lost blocks to reconstruct.
#[derive(Default)]
pub(super) struct Inventory {
    pub(super) known: HashMap<BlockId, SalvagedBlock>,
    pub(super) reconstructed: BTreeMap<BlockId, ReconstructedBlock>,
    /// All documents, with the record of each that is readable.
    pub(super) documents: BTreeMap<DocumentId, Option<StoredDocument>>,
    pub(super) schemas: BTreeMap<BlockId, IndexedSchema>,
    pub(super) log: SalvagedLog,
    /// Locations of lost blocks.
    pub(super) lost: BTreeMap<BlockId, LocationRecord>,
    /// Lost blocks that lists of tasks have.
    pub(super) listed: BTreeMap<BlockId, BlockRecord>,
    /// Documents without a readable record, with the location that lists of their tasks name.
    pub(super) located_by_tasks: BTreeMap<DocumentId, TaskLocation>,
    /// Lost blocks that others depend on or lists have, with the document to put them into.
    pub(super) needed: BTreeMap<BlockId, DocumentId>,
    holds_items: HashSet<BlockId>,
    is_parent: HashSet<BlockId>,
}

impl Inventory {
    /// The location and the type that the block will have.
    pub(super) fn find(&self, block: BlockId) -> Option<SalvagedBlock> {
        self.known
            .get(&block)
            .copied()
            .or_else(|| self.reconstructed.get(&block).map(|reconstructed| reconstructed.known))
    }

    /// Whether the block will be an item of this collection.
    pub(super) fn is_item_of(&self, block: BlockId, collection: BlockId) -> bool {
        let is_item = |known: SalvagedBlock| {
            known.block_type == BlockType::CollectionItem && known.parent == collection
        };
        self.find(block).is_some_and(is_item)
    }

    /// All collections that there will be, with their documents.
    pub(super) fn collections(&self) -> BTreeMap<BlockId, DocumentId> {
        let kept = self.known.iter().map(|(id, known)| (*id, *known));
        let all = kept
            .chain(self.reconstructed.iter().map(|(id, reconstructed)| (*id, reconstructed.known)));
        let collections = all.filter(|(_, known)| known.block_type == BlockType::Collection);
        collections.map(|(id, known)| (id, known.document)).collect()
    }
}

impl Salvager<'_> {
    /// Passes each row of `keyspace` to `visit`.
    pub(super) fn rows(&mut self, keyspace: Keyspace, visit: SalvageRow<'_, Self>) -> Result<()> {
        let (start, reader) = ([keyspace.tag], self.reader);
        reader
            .scan(KeyRange::half_open(&start, &keyspaces::prefix_end(start)), &mut |key, value| {
                visit(self, key, value).map(|()| CONTINUE)
            })
    }

    /// Reports a record with a valid checksum that does not decode.
    pub(super) fn unread(&mut self, key: &[u8]) {
        self.report.lose(LossKind::Record, RowName(key), "it does not decode");
    }

    pub(super) fn inventory(&mut self, log: SalvagedLog, step: OnStep<'_>) -> Result<Inventory> {
        let mut inventory = Inventory { log, ..Inventory::default() };
        self.inventory_blocks(&mut inventory, step)?;
        self.inventory_locations(&mut inventory, step)?;
        self.inventory_documents(&mut inventory, step)?;
        self.rows(SCHEMAS, &mut |salvage, key, value| {
            match (
                keyspaces::parse_schema(key),
                records::decode(key, value, schema::decode_indexed),
            ) {
                (Some(id), Ok(indexed)) => drop(inventory.schemas.insert(id, indexed)),
                _ => salvage.unread(key),
            }
            Ok(())
        })?;
        self.rows(COMMENTS, &mut |_, key, _| {
            if let Some((document, block, _)) = keyspaces::parse_comment(key)
                && !inventory.known.contains_key(&block)
            {
                inventory.needed.insert(block, document);
            }
            Ok(())
        })?;
        // Last: whether a lost block is needed depends on all of the above.
        self.reconstruct(&mut inventory);
        Ok(inventory)
    }

    fn inventory_blocks(&mut self, inventory: &mut Inventory, step: OnStep<'_>) -> Result<()> {
        let mut authors = AuthorCache::default();
        self.rows(BLOCKS, &mut |salvage, key, value| {
            step()?;
            let (Some((document, parent, _)), Ok(run)) =
                (keyspaces::parse_run(key), RunView::read(key, value))
            else {
                salvage.unread(key);
                return Ok(());
            };
            inventory.documents.entry(document).or_default();
            for (id, record) in run.entries() {
                // The whole record, although only its type is used here: a block that the second
                // pass cannot decode would be missing where others depend on it.
                let Ok(decoded) = block::decode(id, record, &mut authors) else {
                    salvage.report.lose(
                        LossKind::Block,
                        format_args!("block {id}"),
                        "it does not decode",
                    );
                    continue;
                };
                // The first location wins, in the order of keys.
                if inventory.known.contains_key(&id) {
                    salvage.report.lose(
                        LossKind::Block,
                        format_args!("block {id}"),
                        "it had two locations",
                    );
                    continue;
                }
                let block_type = decoded.data.block_type();
                inventory.known.insert(id, SalvagedBlock { document, parent, block_type });
                if block_type == BlockType::CollectionItem {
                    inventory.holds_items.insert(parent);
                }
            }
            inventory.is_parent.insert(parent);
            // The nil parent is that of roots.
            if !parent.is_nil() {
                inventory.needed.insert(parent, document);
            }
            Ok(())
        })?;
        // Parents that come later in the scan are known by now.
        inventory.needed.retain(|block, _| !inventory.known.contains_key(block));
        Ok(())
    }

    fn inventory_locations(&mut self, inventory: &mut Inventory, step: OnStep<'_>) -> Result<()> {
        self.rows(BLOCK_LOCATIONS, &mut |_, key, value| {
            step()?;
            if let Some(block) = keyspaces::parse_block_location(key)
                .filter(|block| !inventory.known.contains_key(block))
                && let Ok(location) = records::decode(key, value, location::decode)
            {
                inventory.lost.insert(block, location);
            }
            Ok(())
        })
    }

    fn inventory_documents(&mut self, inventory: &mut Inventory, step: OnStep<'_>) -> Result<()> {
        let mut read = HashMap::new();
        for keyspace in [DOCUMENTS, DOCUMENTS_BY_MODIFIED, DOCUMENTS_BY_LOCATION_MODIFIED] {
            self.rows(keyspace, &mut |salvage, key, value| {
                step()?;
                match document::decode_row(key, value) {
                    Ok(document) => drop(read.entry(document.record.id).or_insert(document)),
                    Err(_) if keyspace == DOCUMENTS => salvage.unread(key),
                    // Indexes are derived: a row that does not decode is not a loss.
                    Err(_) => {}
                }
                Ok(())
            })?;
        }
        let ids: Vec<DocumentId> =
            read.keys().copied().filter(|id| !inventory.documents.contains_key(id)).collect();
        for id in ids {
            // Only the record is left of the document.
            inventory.documents.insert(id, None);
        }
        for (id, document) in &mut inventory.documents {
            *document = read.remove(id);
        }
        let listed = self.inventory_tasks(inventory, step)?;
        for (id, _) in inventory.documents.iter().filter(|(_, document)| document.is_none()) {
            self.report.lose(
                LossKind::Document,
                format_args!("document {id}"),
                "its record is recovered from indexes",
            );
        }
        self.inventory_indexes(inventory)?;
        self.take_listed(inventory, listed);
        Ok(())
    }

    /// Recovers lost document records from the indexes.
    fn inventory_indexes(&mut self, inventory: &mut Inventory) -> Result<()> {
        let (at, rev) = (self.stamp.at, inventory.log.rev());
        let located = std::mem::take(&mut inventory.located_by_tasks);
        let unknown = |id| {
            let mut record =
                DocumentRecord { rev, ..DocumentRecord::new(id, Location::Unsorted, None, at) };
            if let Some(listed) = located.get(&id) {
                apply_task_location(&mut record, *listed);
            }
            record
        };
        let mut recovered: BTreeMap<DocumentId, DocumentRecord> = BTreeMap::new();
        for keyspace in [DOCUMENTS_BY_LOCATION, DOCUMENTS_BY_DAY, DOCUMENTS_BY_CREATED] {
            self.rows(keyspace, &mut |_, key, _| {
                let Some(id) = keyspaces::parse_document(key) else { return Ok(()) };
                if inventory.documents.get(&id).is_some_and(Option::is_none) {
                    apply_index_row(
                        recovered.entry(id).or_insert_with(|| unknown(id)),
                        keyspace,
                        key,
                    );
                }
                Ok(())
            })?;
        }
        for (id, document) in &mut inventory.documents {
            if document.is_none() {
                let record = recovered.remove(id).unwrap_or_else(|| unknown(*id));
                *document = Some(recovered_document(record));
            }
        }
        Ok(())
    }

    /// Selects the lost blocks to reconstruct, and reports the others.
    fn reconstruct(&mut self, inventory: &mut Inventory) {
        let collections = inventory.schemas.keys().filter(|id| !inventory.known.contains_key(id));
        let collections: Vec<_> =
            collections.filter_map(|id| Some((*id, inventory.lost.get(id)?.document))).collect();
        inventory.needed.extend(collections);
        // Comments and locations may be all that is left of a document: its root is reconstructed.
        let documents: Vec<DocumentId> = inventory.needed.values().copied().collect();
        for document in documents {
            inventory.documents.entry(document).or_insert(None);
        }
        let roots =
            inventory.documents.keys().filter(|id| !inventory.known.contains_key(&id.root()));
        let roots: Vec<_> = roots.map(|id| (id.root(), *id)).collect();
        inventory.needed.extend(roots);
        for (block, document) in &inventory.needed {
            let location =
                inventory.lost.get(block).filter(|location| location.document == *document);
            let reconstructed = inventory.reconstructed_at(*block, *document, location);
            inventory.reconstructed.insert(*block, reconstructed);
            if !inventory.listed.contains_key(block) {
                self.report.lose(LossKind::Block, format_args!("block {block}"), DATA_IS_LOST);
            }
        }
        let (at, rev) = (self.stamp.at, inventory.log.rev());
        for (id, document) in &mut inventory.documents {
            document.get_or_insert_with(|| {
                let record = DocumentRecord::new(*id, Location::Unsorted, None, at);
                recovered_document(DocumentRecord { rev, ..record })
            });
        }
        for block in
            inventory.lost.keys().filter(|block| !inventory.reconstructed.contains_key(block))
        {
            self.report.lose(LossKind::Block, format_args!("block {block}"), "it is lost");
        }
    }
}

impl Inventory {
    pub(super) fn reconstructed_at(
        &self,
        block: BlockId,
        document: DocumentId,
        location: Option<&LocationRecord>,
    ) -> ReconstructedBlock {
        let schema = self.schemas.get(&block).map(|found| &found.schema.name);
        let title = (block == document.root())
            .then(|| Some(&self.documents.get(&document)?.as_ref()?.title))
            .flatten()
            .filter(|title| !title.is_empty());
        let name = schema.or(title).map_or(super::RECOVERED, String::as_str).to_owned();
        let parent = location
            .map(|location| location.parent)
            .and_then(|parent| Some((parent, self.known.get(&parent)?)));
        let fits = parent
            .filter(|(_, known)| known.document == document && known.block_type.holds_blocks());
        let in_collection =
            fits.is_some_and(|(_, known)| known.block_type == BlockType::Collection);
        let is_root = block == document.root();
        let listed = self.listed.get(&block).map(|block| block.data.block_type());
        let block_type = listed.unwrap_or_else(|| match () {
            () if is_root => BlockType::Page,
            () if self.holds_items.contains(&block) || self.schemas.contains_key(&block) => {
                BlockType::Collection
            }
            () if in_collection => BlockType::CollectionItem,
            () if self.is_parent.contains(&block) => BlockType::Page,
            () => BlockType::Text,
        });
        // A collection cannot be an item.
        let fits = fits.filter(|_| !in_collection || block_type == BlockType::CollectionItem);
        let parent =
            if is_root { BlockId::NIL } else { fits.map_or(document.root(), |(parent, _)| parent) };
        let order = location.filter(|_| fits.is_some()).map(|location| location.order.to_vec());
        let known = SalvagedBlock { document, parent, block_type };
        ReconstructedBlock { known, order, name, block: self.listed.get(&block).cloned() }
    }
}

/// A document whose row is lost: title and number of blocks follow from the blocks.
pub(super) fn recovered_document(record: DocumentRecord) -> StoredDocument {
    StoredDocument { record, title: String::new(), blocks: 0, last_change: 0 }
}

/// Applies an index row of a document to its record.
fn apply_index_row(record: &mut DocumentRecord, keyspace: Keyspace, key: &[u8]) {
    match keyspace {
        DOCUMENTS_BY_LOCATION => {
            record.location = keyspaces::parse_location(key).unwrap_or(record.location);
        }
        DOCUMENTS_BY_DAY => record.day = keyspaces::parse_day(key),
        _ => record.created_at = keyspaces::parse_time(key).unwrap_or(record.created_at),
    }
}

/// Gives a document whose record is lost the location that lists of its tasks name.
pub(super) fn apply_task_location(record: &mut DocumentRecord, listed: TaskLocation) {
    (record.location, record.day) = match listed {
        TaskLocation::Inbox => (Location::Inbox, None),
        TaskLocation::DailyNote(day) => (Location::DailyNotes, Some(day)),
        // It may be in a folder, which they do not name.
        TaskLocation::Document(_) => return,
    };
}

//! What there is: each block and where it stands, each document, each schema; and which lost blocks
//! have to come back.

use std::collections::{BTreeMap, HashMap, HashSet};

use leafbase_model::{BlockId, BlockType, DocumentId, DocumentRecord, Location, Result};

use super::{CONTINUE, LossKind, OnStep, Salvager};
use crate::keyspaces::{
    self, ASSET_CHUNKS, ASSETS, BLOCK_LOCATIONS, BLOCKS, CHANGES, COMMENTS, DOCUMENTS,
    DOCUMENTS_BY_CREATED, DOCUMENTS_BY_DAY, DOCUMENTS_BY_LOCATION, DOCUMENTS_BY_MODIFIED, FOLDERS,
    Keyspace, META, RowName, SCHEMAS,
};
use crate::kv::{KeyRange, Read};
use crate::records;
use crate::records::block;
use crate::records::document::{self, StoredDocument};
use crate::records::location::{self, LocationRecord};
use crate::records::schema::{self, IndexedSchema};
use crate::run::RunView;

/// What is done with each row of a keyspace.
type SalvageRow<'f, S> = &'f mut dyn FnMut(&mut S, &[u8], &[u8]) -> Result<()>;

/// Whether the row under `key` says what no other row says.
pub(super) fn is_primary(key: &[u8]) -> bool {
    let once = [META, BLOCKS, DOCUMENTS, FOLDERS, COMMENTS, ASSETS, ASSET_CHUNKS, SCHEMAS, CHANGES];
    let tag = keyspaces::of(key).tag;
    tag == 0xff || once.iter().any(|keyspace| keyspace.tag == tag)
}

/// Where a block stands and what it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct SalvagedBlock {
    pub(super) document: DocumentId,
    pub(super) parent: BlockId,
    pub(super) block_type: BlockType,
}

/// A lost block that comes back, without what it said.
#[derive(Clone, Debug)]
pub(super) struct ReconstructedBlock {
    pub(super) known: SalvagedBlock,
    /// The hint to where it stood among its siblings.
    pub(super) order: Option<Vec<u8>>,
    pub(super) name: String,
}

/// What there is.
#[derive(Default)]
pub(super) struct Inventory {
    pub(super) known: HashMap<BlockId, SalvagedBlock>,
    pub(super) reconstructed: BTreeMap<BlockId, ReconstructedBlock>,
    /// All documents, with what is known of each that is still there.
    pub(super) documents: BTreeMap<DocumentId, Option<StoredDocument>>,
    pub(super) schemas: BTreeMap<BlockId, IndexedSchema>,
    /// Where blocks stand that are lost.
    lost: BTreeMap<BlockId, LocationRecord>,
    /// Lost blocks that are needed, with the document they are to be in.
    needed: BTreeMap<BlockId, DocumentId>,
    holds_items: HashSet<BlockId>,
    is_parent: HashSet<BlockId>,
}

impl Inventory {
    /// What the block will be, and where.
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

    /// All collections there will be, with their documents.
    pub(super) fn collections(&self) -> BTreeMap<BlockId, DocumentId> {
        let kept = self.known.iter().map(|(id, known)| (*id, *known));
        let all = kept
            .chain(self.reconstructed.iter().map(|(id, reconstructed)| (*id, reconstructed.known)));
        let collections = all.filter(|(_, known)| known.block_type == BlockType::Collection);
        collections.map(|(id, known)| (id, known.document)).collect()
    }
}

impl Salvager<'_> {
    /// Hands each row of `keyspace` to `visit`.
    pub(super) fn rows(&mut self, keyspace: Keyspace, visit: SalvageRow<'_, Self>) -> Result<()> {
        let (start, reader) = ([keyspace.tag], self.reader);
        reader.scan(KeyRange::half_open(&start, &keyspaces::end_of(start)), &mut |key, value| {
            visit(self, key, value).map(|()| CONTINUE)
        })
    }

    /// A record that does not read though its checksum is right: nothing that this version wrote.
    pub(super) fn unread(&mut self, key: &[u8]) {
        self.report.lose(LossKind::Record, RowName(key), "it does not read");
    }

    pub(super) fn inventory(&mut self, step: OnStep<'_>) -> Result<Inventory> {
        let mut inventory = Inventory::default();
        self.inventory_blocks(&mut inventory, step)?;
        self.inventory_locations(&mut inventory, step)?;
        self.inventory_documents(&mut inventory)?;
        self.rows(SCHEMAS, &mut |salvage, key, value| {
            match (keyspaces::read_schema(key), records::read(key, value, schema::read_numbered)) {
                (Some(id), Ok(numbered)) => drop(inventory.schemas.insert(id, numbered)),
                _ => salvage.unread(key),
            }
            Ok(())
        })?;
        self.rows(COMMENTS, &mut |_, key, _| {
            if let Some((document, block, _)) = keyspaces::read_comment(key)
                && !inventory.known.contains_key(&block)
            {
                inventory.needed.insert(block, document);
            }
            Ok(())
        })?;
        self.reconstruct(&mut inventory);
        Ok(inventory)
    }

    fn inventory_blocks(&mut self, inventory: &mut Inventory, step: OnStep<'_>) -> Result<()> {
        self.rows(BLOCKS, &mut |salvage, key, value| {
            step()?;
            let (Some((document, parent, _)), Ok(run)) =
                (keyspaces::read_run(key), RunView::read(key, value))
            else {
                salvage.unread(key);
                return Ok(());
            };
            inventory.documents.entry(document).or_default();
            for (id, record) in run.entries() {
                let Ok(block_type) = block::type_of(record) else {
                    salvage.report.lose(
                        LossKind::Block,
                        format_args!("block {id}"),
                        "it does not read",
                    );
                    continue;
                };
                if inventory.known.contains_key(&id) {
                    salvage.report.lose(
                        LossKind::Block,
                        format_args!("block {id}"),
                        "it was in two places",
                    );
                    continue;
                }
                inventory.known.insert(id, SalvagedBlock { document, parent, block_type });
                if block_type == BlockType::CollectionItem {
                    inventory.holds_items.insert(parent);
                }
            }
            inventory.is_parent.insert(parent);
            if !parent.is_nil() {
                inventory.needed.insert(parent, document);
            }
            Ok(())
        })?;
        inventory.needed.retain(|block, _| !inventory.known.contains_key(block));
        Ok(())
    }

    fn inventory_locations(&mut self, inventory: &mut Inventory, step: OnStep<'_>) -> Result<()> {
        self.rows(BLOCK_LOCATIONS, &mut |_, key, value| {
            step()?;
            if let Some(block) = keyspaces::read_block_location(key)
                .filter(|block| !inventory.known.contains_key(block))
                && let Ok(location) = records::read(key, value, location::read)
            {
                inventory.lost.insert(block, location);
            }
            Ok(())
        })
    }

    fn inventory_documents(&mut self, inventory: &mut Inventory) -> Result<()> {
        let mut read = HashMap::new();
        self.rows(DOCUMENTS, &mut |salvage, key, value| {
            let id = keyspaces::read_document(key);
            match id.map(|id| {
                (id, records::read(key, value, |decoder| document::read_counted(id, decoder)))
            }) {
                Some((id, Ok(counted))) => drop(read.insert(id, counted)),
                _ => salvage.unread(key),
            }
            Ok(())
        })?;
        let ids: Vec<DocumentId> =
            read.keys().copied().filter(|id| !inventory.documents.contains_key(id)).collect();
        for id in ids {
            // Only its record is left, which says where it was kept.
            inventory.documents.insert(id, None);
        }
        for (id, counted) in &mut inventory.documents {
            *counted = read.remove(id);
            if counted.is_none() {
                self.report.lose(
                    LossKind::Document,
                    format_args!("document {id}"),
                    "where it was kept is told by indexes",
                );
            }
        }
        self.inventory_indexes(inventory)
    }

    /// What indexes of documents say of one whose record is lost.
    fn inventory_indexes(&mut self, inventory: &mut Inventory) -> Result<()> {
        let at = self.stamp.at;
        let unknown = |id| DocumentRecord {
            id,
            location: Location::Unsorted,
            day: None,
            created_at: at,
            modified_at: at,
        };
        let mut told: BTreeMap<DocumentId, DocumentRecord> = BTreeMap::new();
        let keyspaces =
            [DOCUMENTS_BY_LOCATION, DOCUMENTS_BY_DAY, DOCUMENTS_BY_CREATED, DOCUMENTS_BY_MODIFIED];
        for keyspace in keyspaces {
            self.rows(keyspace, &mut |_, key, _| {
                let Some(id) = keyspaces::read_document(key) else { return Ok(()) };
                if inventory.documents.get(&id).is_some_and(Option::is_none) {
                    apply_index_row(told.entry(id).or_insert_with(|| unknown(id)), keyspace, key);
                }
                Ok(())
            })?;
        }
        for (id, counted) in &mut inventory.documents {
            if counted.is_none() {
                let record = told.remove(id).unwrap_or_else(|| unknown(*id));
                *counted = Some(StoredDocument { record, blocks: 0 });
            }
        }
        Ok(())
    }

    /// Decides which lost blocks come back, and tells the others.
    fn reconstruct(&mut self, inventory: &mut Inventory) {
        let collections = inventory.schemas.keys().filter(|id| !inventory.known.contains_key(id));
        let collections: Vec<_> =
            collections.filter_map(|id| Some((*id, inventory.lost.get(id)?.document))).collect();
        inventory.needed.extend(collections);
        // Comments and places may be all that is left of a document: it comes back with its root.
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
            let message =
                "what it said is lost: what belongs to it is kept under another one in its place";
            self.report.lose(LossKind::Block, format_args!("block {block}"), message);
        }
        let at = self.stamp.at;
        for (id, counted) in &mut inventory.documents {
            let record = || DocumentRecord {
                id: *id,
                location: Location::Unsorted,
                day: None,
                created_at: at,
                modified_at: at,
            };
            counted.get_or_insert_with(|| StoredDocument { record: record(), blocks: 0 });
        }
        for block in
            inventory.lost.keys().filter(|block| !inventory.reconstructed.contains_key(block))
        {
            self.report.lose(LossKind::Block, format_args!("block {block}"), "it is lost");
        }
    }
}

impl Inventory {
    fn reconstructed_at(
        &self,
        block: BlockId,
        document: DocumentId,
        location: Option<&LocationRecord>,
    ) -> ReconstructedBlock {
        let name = self
            .schemas
            .get(&block)
            .map_or_else(|| super::RECOVERED.to_owned(), |found| found.schema.name.clone());
        let parent = location
            .map(|location| location.parent)
            .and_then(|parent| Some((parent, self.known.get(&parent)?)));
        let fits = parent
            .filter(|(_, known)| known.document == document && known.block_type.holds_blocks());
        let in_collection =
            fits.is_some_and(|(_, known)| known.block_type == BlockType::Collection);
        let is_root = block == document.root();
        let block_type = match () {
            () if is_root => BlockType::Page,
            () if self.holds_items.contains(&block) || self.schemas.contains_key(&block) => {
                BlockType::Collection
            }
            () if in_collection => BlockType::CollectionItem,
            () if self.is_parent.contains(&block) => BlockType::Page,
            () => BlockType::Text,
        };
        // A collection is no item.
        let fits = fits.filter(|_| !in_collection || block_type == BlockType::CollectionItem);
        let parent =
            if is_root { BlockId::NIL } else { fits.map_or(document.root(), |(parent, _)| parent) };
        let order = location.filter(|_| fits.is_some()).map(|location| location.order.to_vec());
        ReconstructedBlock { known: SalvagedBlock { document, parent, block_type }, order, name }
    }
}

/// Takes what a row of an index of documents says.
fn apply_index_row(record: &mut DocumentRecord, keyspace: Keyspace, key: &[u8]) {
    match keyspace {
        DOCUMENTS_BY_LOCATION => {
            record.location = keyspaces::read_location(key).unwrap_or_default()
        }
        DOCUMENTS_BY_DAY => record.day = keyspaces::read_day(key),
        DOCUMENTS_BY_CREATED => {
            record.created_at = keyspaces::read_time(key).unwrap_or(record.created_at)
        }
        _ => record.modified_at = keyspaces::read_time(key).unwrap_or(record.modified_at),
    }
}

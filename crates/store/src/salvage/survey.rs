//! What there is: each block and where it stands, each document, each schema; and which lost blocks
//! have to come back.

use std::collections::{BTreeMap, HashMap, HashSet};

use leafbase_model::{BlockId, BlockType, DocumentId, DocumentRecord, Location, Result};

use super::{GO_ON, LossKind, Salvage, Tell};
use crate::keyspaces::{
    self, ASSET_CHUNKS, ASSETS, BLOCKS, CHANGES, COMMENTS, DOCUMENTS, DOCUMENTS_BY_CREATED,
    DOCUMENTS_BY_DAY, DOCUMENTS_BY_LOCATION, DOCUMENTS_BY_MODIFIED, FOLDERS, Keyspace, META,
    PLACES, Row, SCHEMAS,
};
use crate::kv::{KeyRange, Read};
use crate::records;
use crate::records::block;
use crate::records::document::{self, Counted};
use crate::records::place::{self, Place};
use crate::records::schema::{self, Numbered};
use crate::run::RunView;

/// What is done with each row of a keyspace.
type VisitRow<'f, S> = &'f mut dyn FnMut(&mut S, &[u8], &[u8]) -> Result<()>;

/// Whether the row under `key` says what no other row says.
pub(super) fn is_told_once(key: &[u8]) -> bool {
    let once = [META, BLOCKS, DOCUMENTS, FOLDERS, COMMENTS, ASSETS, ASSET_CHUNKS, SCHEMAS, CHANGES];
    let tag = keyspaces::of(key).tag;
    tag == 0xff || once.iter().any(|keyspace| keyspace.tag == tag)
}

/// Where a block stands and what it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) document: DocumentId,
    pub(super) parent: BlockId,
    pub(super) block_type: BlockType,
}

/// A lost block that comes back, without what it said.
#[derive(Clone, Debug)]
pub(super) struct Remade {
    pub(super) known: Known,
    /// The hint to where it stood among its siblings.
    pub(super) order: Option<Vec<u8>>,
    pub(super) name: String,
}

/// What there is.
#[derive(Default)]
pub(super) struct Survey {
    pub(super) known: HashMap<BlockId, Known>,
    pub(super) remade: BTreeMap<BlockId, Remade>,
    /// All documents, with what is known of each that is still there.
    pub(super) documents: BTreeMap<DocumentId, Option<Counted>>,
    pub(super) schemas: BTreeMap<BlockId, Numbered>,
    /// Where blocks stand that are lost.
    lost: BTreeMap<BlockId, Place>,
    /// Lost blocks that are needed, with the document they are to be in.
    needed: BTreeMap<BlockId, DocumentId>,
    holds_items: HashSet<BlockId>,
    is_parent: HashSet<BlockId>,
}

impl Survey {
    /// What the block will be, and where.
    pub(super) fn find(&self, block: BlockId) -> Option<Known> {
        self.known
            .get(&block)
            .copied()
            .or_else(|| self.remade.get(&block).map(|remade| remade.known))
    }

    /// Whether the block will be an item of this collection.
    pub(super) fn is_item_of(&self, block: BlockId, collection: BlockId) -> bool {
        let is_item = |known: Known| {
            known.block_type == BlockType::CollectionItem && known.parent == collection
        };
        self.find(block).is_some_and(is_item)
    }

    /// All collections there will be, with their documents.
    pub(super) fn collections(&self) -> BTreeMap<BlockId, DocumentId> {
        let kept = self.known.iter().map(|(id, known)| (*id, *known));
        let all = kept.chain(self.remade.iter().map(|(id, remade)| (*id, remade.known)));
        let collections = all.filter(|(_, known)| known.block_type == BlockType::Collection);
        collections.map(|(id, known)| (id, known.document)).collect()
    }
}

impl Salvage<'_> {
    /// Hands each row of `keyspace` to `visit`.
    pub(super) fn rows(&mut self, keyspace: Keyspace, visit: VisitRow<'_, Self>) -> Result<()> {
        let (start, wreck) = ([keyspace.tag], self.wreck);
        wreck.scan(KeyRange::half_open(&start, &keyspaces::end_of(start)), &mut |key, value| {
            visit(self, key, value).map(|()| GO_ON)
        })
    }

    /// A record that does not read though its checksum is right: nothing that this version wrote.
    pub(super) fn unread(&mut self, key: &[u8]) {
        self.report.lose(LossKind::Record, Row(key), "it does not read");
    }

    pub(super) fn survey(&mut self, tell: Tell<'_>) -> Result<Survey> {
        let mut survey = Survey::default();
        self.survey_blocks(&mut survey, tell)?;
        self.survey_places(&mut survey, tell)?;
        self.survey_documents(&mut survey)?;
        self.rows(SCHEMAS, &mut |salvage, key, value| {
            match (keyspaces::read_schema(key), records::read(key, value, schema::read_numbered)) {
                (Some(id), Ok(numbered)) => drop(survey.schemas.insert(id, numbered)),
                _ => salvage.unread(key),
            }
            Ok(())
        })?;
        self.rows(COMMENTS, &mut |_, key, _| {
            if let Some((document, block, _)) = keyspaces::read_comment(key)
                && !survey.known.contains_key(&block)
            {
                survey.needed.insert(block, document);
            }
            Ok(())
        })?;
        self.remake(&mut survey);
        Ok(survey)
    }

    fn survey_blocks(&mut self, survey: &mut Survey, tell: Tell<'_>) -> Result<()> {
        self.rows(BLOCKS, &mut |salvage, key, value| {
            tell()?;
            let (Some((document, parent, _)), Ok(run)) =
                (keyspaces::read_run(key), RunView::read(key, value))
            else {
                salvage.unread(key);
                return Ok(());
            };
            survey.documents.entry(document).or_default();
            for (id, record) in run.entries() {
                let Ok(block_type) = block::type_of(record) else {
                    salvage.report.lose(
                        LossKind::Block,
                        format_args!("block {id}"),
                        "it does not read",
                    );
                    continue;
                };
                if survey.known.contains_key(&id) {
                    salvage.report.lose(
                        LossKind::Block,
                        format_args!("block {id}"),
                        "it was in two places",
                    );
                    continue;
                }
                survey.known.insert(id, Known { document, parent, block_type });
                if block_type == BlockType::CollectionItem {
                    survey.holds_items.insert(parent);
                }
            }
            survey.is_parent.insert(parent);
            if !parent.is_nil() {
                survey.needed.insert(parent, document);
            }
            Ok(())
        })?;
        survey.needed.retain(|block, _| !survey.known.contains_key(block));
        Ok(())
    }

    fn survey_places(&mut self, survey: &mut Survey, tell: Tell<'_>) -> Result<()> {
        self.rows(PLACES, &mut |_, key, value| {
            tell()?;
            if let Some(block) =
                keyspaces::read_place(key).filter(|block| !survey.known.contains_key(block))
                && let Ok(place) = records::read(key, value, place::read)
            {
                survey.lost.insert(block, place);
            }
            Ok(())
        })
    }

    fn survey_documents(&mut self, survey: &mut Survey) -> Result<()> {
        let mut read = HashMap::new();
        self.rows(DOCUMENTS, &mut |salvage, key, value| {
            let id = keyspaces::read_document(key);
            match id.map(|id| {
                (id, records::read(key, value, |unpack| document::read_counted(id, unpack)))
            }) {
                Some((id, Ok(counted))) => drop(read.insert(id, counted)),
                _ => salvage.unread(key),
            }
            Ok(())
        })?;
        let ids: Vec<DocumentId> =
            read.keys().copied().filter(|id| !survey.documents.contains_key(id)).collect();
        for id in ids {
            // Only its record is left, which says where it was kept.
            survey.documents.insert(id, None);
        }
        for (id, counted) in &mut survey.documents {
            *counted = read.remove(id);
            if counted.is_none() {
                self.report.lose(
                    LossKind::Document,
                    format_args!("document {id}"),
                    "where it was kept is told by indexes",
                );
            }
        }
        self.survey_indexes(survey)
    }

    /// What indexes of documents say of one whose record is lost.
    fn survey_indexes(&mut self, survey: &mut Survey) -> Result<()> {
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
                if survey.documents.get(&id).is_some_and(Option::is_none) {
                    tell_of(told.entry(id).or_insert_with(|| unknown(id)), keyspace, key);
                }
                Ok(())
            })?;
        }
        for (id, counted) in &mut survey.documents {
            if counted.is_none() {
                let record = told.remove(id).unwrap_or_else(|| unknown(*id));
                *counted = Some(Counted { record, blocks: 0 });
            }
        }
        Ok(())
    }

    /// Decides which lost blocks come back, and tells the others.
    fn remake(&mut self, survey: &mut Survey) {
        let collections = survey.schemas.keys().filter(|id| !survey.known.contains_key(id));
        let collections: Vec<_> =
            collections.filter_map(|id| Some((*id, survey.lost.get(id)?.document))).collect();
        survey.needed.extend(collections);
        // Comments and places may be all that is left of a document: it comes back with its root.
        let documents: Vec<DocumentId> = survey.needed.values().copied().collect();
        for document in documents {
            survey.documents.entry(document).or_insert(None);
        }
        let roots = survey.documents.keys().filter(|id| !survey.known.contains_key(&id.root()));
        let roots: Vec<_> = roots.map(|id| (id.root(), *id)).collect();
        survey.needed.extend(roots);
        for (block, document) in &survey.needed {
            let place = survey.lost.get(block).filter(|place| place.document == *document);
            let remade = survey.remade_at(*block, *document, place);
            survey.remade.insert(*block, remade);
            let message =
                "what it said is lost: what belongs to it is kept under another one in its place";
            self.report.lose(LossKind::Block, format_args!("block {block}"), message);
        }
        let at = self.stamp.at;
        for (id, counted) in &mut survey.documents {
            let record = || DocumentRecord {
                id: *id,
                location: Location::Unsorted,
                day: None,
                created_at: at,
                modified_at: at,
            };
            counted.get_or_insert_with(|| Counted { record: record(), blocks: 0 });
        }
        for block in survey.lost.keys().filter(|block| !survey.remade.contains_key(block)) {
            self.report.lose(LossKind::Block, format_args!("block {block}"), "it is lost");
        }
    }
}

impl Survey {
    fn remade_at(&self, block: BlockId, document: DocumentId, place: Option<&Place>) -> Remade {
        let name = self
            .schemas
            .get(&block)
            .map_or_else(|| super::RECOVERED.to_owned(), |found| found.schema.name.clone());
        let parent = place
            .map(|place| place.parent)
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
        let order = place.filter(|_| fits.is_some()).map(|place| place.order.to_vec());
        Remade { known: Known { document, parent, block_type }, order, name }
    }
}

/// Takes what a row of an index of documents says.
fn tell_of(record: &mut DocumentRecord, keyspace: Keyspace, key: &[u8]) {
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

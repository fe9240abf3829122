//! Runs: (document, parent, run key) to consecutive children of the parent, as many as a page
//! holds.
//!
//! Entries move only to the right: a split leaves the first part under the old key, and a run grown
//! small joins the next. So a place names a run at or left of the block's own, and is not rewritten
//! by either.

use crate::peer::{Mode, Peer, Position, assemble};
use crate::record::{self, CHECKSUM, id, seal, sealed, unseal};
use crate::store::{BLOCKS, PLACES, Store, Writer, get, key, past};
use benches::measure::setting;
use benches::order;
use benches::workload::{Block, Document, Id, PAGE, Tree};
use redb::ReadableTable;
use std::ops::Bound::{Excluded, Included};
use std::ops::Range;
use std::path::Path;
use std::sync::LazyLock;

/// Key and value that fill one page of redb: 4,096 bytes less a leaf's four and two lengths of
/// four. Two runs share a page at 2,038.
static FULL: LazyLock<usize> = LazyLock::new(|| setting("LAYOUT_RUN", 4084));
/// Of an entry in the header: ID, and the end of its record.
const ENTRY: usize = 16 + 4;
const HEAD: usize = CHECKSUM + 2;

pub struct Runs(Store);

struct Place {
    document: Id,
    parent: Id,
    run: Vec<u8>,
}

/// A run's value without its checksum.
struct View<'a>(&'a [u8]);

impl<'a> View<'a> {
    fn count(&self) -> usize {
        usize::from(u16::from_le_bytes([self.0[0], self.0[1]]))
    }

    fn id(&self, at: usize) -> &'a [u8] {
        &self.0[2 + at * ENTRY..][..16]
    }

    fn start(&self, at: usize) -> usize {
        if at == 0 {
            return 0;
        }
        let end = &self.0[2 + (at - 1) * ENTRY + 16..][..4];
        u32::from_le_bytes(end.try_into().expect("an end")) as usize
    }

    fn records(&self, range: Range<usize>) -> &'a [u8] {
        let base = 2 + self.count() * ENTRY;
        &self.0[base + self.start(range.start)..base + self.start(range.end)]
    }

    fn record(&self, at: usize) -> &'a [u8] {
        self.records(at..at + 1)
    }

    fn find(&self, block: Id) -> Option<usize> {
        (0..self.count()).find(|&at| self.id(at) == block)
    }

    fn entries(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        (0..self.count()).map(|at| (self.id(at), self.record(at)))
    }

    /// The value with `range` replaced: bytes before and after are copied as they are, later
    /// offsets shifted.
    fn splice(&self, range: Range<usize>, new: &[(&[u8], &[u8])]) -> Vec<u8> {
        let count = self.count();
        let added: usize = new.iter().map(|(_, record)| record.len()).sum();
        let total = HEAD + self.0.len() + new.len() * ENTRY + added;
        let mut value = Vec::with_capacity(total);
        value.extend([0; CHECKSUM]);
        value.extend(((count - range.len() + new.len()) as u16).to_le_bytes());
        value.extend_from_slice(&self.0[2..2 + range.start * ENTRY]);
        let mut end = self.start(range.start);
        for (id, record) in new {
            end += record.len();
            value.extend_from_slice(id);
            value.extend((end as u32).to_le_bytes());
        }
        let shift = end as u32;
        let gone = self.start(range.end) as u32;
        for at in range.end..count {
            value.extend_from_slice(self.id(at));
            value.extend((self.start(at + 1) as u32 - gone + shift).to_le_bytes());
        }
        value.extend_from_slice(self.records(0..range.start));
        for (_, record) in new {
            value.extend_from_slice(record);
        }
        value.extend_from_slice(self.records(range.end..count));
        seal(&mut value);
        value
    }
}

const EMPTY: View<'static> = View(&[0, 0]);

fn size(entry: &(&[u8], &[u8])) -> usize {
    ENTRY + entry.1.len()
}

/// Cuts entries into runs of about `target` bytes, none above `limit` unless one entry is.
fn pack<'e, 'a>(
    entries: &'e [(&'a [u8], &'a [u8])],
    target: usize,
    limit: usize,
) -> Vec<&'e [(&'a [u8], &'a [u8])]> {
    let mut pieces = Vec::new();
    let (mut start, mut bytes) = (0, HEAD);
    for (at, entry) in entries.iter().enumerate() {
        if at > start && (bytes >= target || bytes + size(entry) > limit) {
            pieces.push(&entries[start..at]);
            (start, bytes) = (at, HEAD);
        }
        bytes += size(entry);
    }
    pieces.push(&entries[start..]);
    pieces
}

fn run_key(document: &Id, parent: &Id, run: &[u8]) -> Vec<u8> {
    key(BLOCKS, &[document, parent, run])
}

fn siblings(document: &Id, parent: &Id) -> (Vec<u8>, Vec<u8>) {
    let prefix = key(BLOCKS, &[document, parent]);
    let end = past(&prefix);
    (prefix, end)
}

fn place<T: ReadableTable<&'static [u8], &'static [u8]>>(table: &T, block: Id) -> Place {
    let value = table.get(key(PLACES, &[&block]).as_slice()).expect("get").expect("a block");
    let place = unseal(value.value());
    Place { document: id(place), parent: id(&place[16..]), run: place[32..].to_vec() }
}

/// A block's run and its index in it: at its hint, or else to the right.
fn find<T: ReadableTable<&'static [u8], &'static [u8]>, R>(
    table: &T,
    block: Id,
    visit: impl FnOnce(&Place, &View<'_>, usize) -> R,
) -> R {
    let mut place = place(table, block);
    let hint = run_key(&place.document, &place.parent, &place.run);
    if let Some(value) = table.get(hint.as_slice()).expect("get") {
        let view = View(unseal(value.value()));
        if let Some(at) = view.find(block) {
            return visit(&place, &view, at);
        }
    }
    let (_, end) = siblings(&place.document, &place.parent);
    let range = (Excluded(hint.as_slice()), Excluded(end.as_slice()));
    for run in table.range::<&[u8]>(range).expect("range") {
        let (key, value) = run.expect("run");
        let view = View(unseal(value.value()));
        if let Some(at) = view.find(block) {
            place.run = key.value()[33..].to_vec();
            return visit(&place, &view, at);
        }
    }
    panic!("a place without its block")
}

/// The run and the index in it where new entries go.
fn slot(writer: &Writer<'_>, position: &Position) -> (Place, usize) {
    match position {
        Position::After(sibling) => find(&writer.table, *sibling, |place, _, at| {
            (
                Place { document: place.document, parent: place.parent, run: place.run.clone() },
                at + 1,
            )
        }),
        Position::End { document, parent } => {
            let (prefix, end) = siblings(document, parent);
            let mut range =
                writer.table.range::<&[u8]>(prefix.as_slice()..end.as_slice()).expect("range");
            let last = range.next_back().map(|last| {
                let (key, value) = last.expect("run");
                (key.value()[33..].to_vec(), View(unseal(value.value())).count())
            });
            let (run, at) = last.unwrap_or_else(|| (order::nth(0), 0));
            (Place { document: *document, parent: *parent, run }, at)
        }
    }
}

/// Replaces entries of a run, splitting it to the right where they do not fit, and writes the
/// places of the new.
fn paste(
    writer: &mut Writer<'_>,
    place: &Place,
    replaced: Range<usize>,
    new: &[(&[u8], &[u8])],
    places: bool,
) {
    let at = run_key(&place.document, &place.parent, &place.run);
    let value = get(&writer.table, &at);
    let view = value.as_ref().map_or(EMPTY, |value| View(unseal(value)));
    let limit = *FULL - at.len();
    let spliced = view.splice(replaced.clone(), new);
    let whole = View(unseal(&spliced));
    let mut homes: Vec<(&[u8], Vec<u8>)> = Vec::new();
    if spliced.len() <= limit || (view.count() == replaced.len() && new.len() == 1) {
        writer.put(&at, &spliced);
        homes.extend(new.iter().map(|(id, _)| (*id, place.run.clone())));
    } else {
        let appended = replaced.start == view.count() && view.count() > 0;
        let entries: Vec<_> = if appended {
            whole.entries().skip(view.count()).collect()
        } else {
            whole.entries().collect()
        };
        // A key of a later run may be some bytes longer.
        let limit = limit - 8;
        let total = spliced.len() - HEAD;
        let target =
            if appended { limit } else { HEAD + total.div_ceil(total.div_ceil(limit - HEAD)) };
        let pieces = pack(&entries, target, limit);
        let (_, end) = siblings(&place.document, &place.parent);
        let range = (Excluded(at.as_slice()), Excluded(end.as_slice()));
        let next = writer.table.range::<&[u8]>(range).expect("range").next();
        let next = next.map(|next| next.expect("run").0.value()[33..].to_vec());
        let kept = usize::from(!appended);
        let mut keys = order::several(pieces.len() - kept, Some(&place.run), next.as_deref());
        if !appended {
            keys.insert(0, place.run.clone());
        }
        let mut wanted = new.iter().map(|(id, _)| *id).peekable();
        for (piece, run) in pieces.iter().zip(&keys) {
            writer.put(&run_key(&place.document, &place.parent, run), &EMPTY.splice(0..0, piece));
            let here = piece.iter().filter(|(id, _)| wanted.next_if_eq(id).is_some());
            homes.extend(here.map(|(id, _)| (*id, run.clone())));
        }
    }
    if places {
        for (block, run) in homes {
            writer.put(&key(PLACES, &[block]), &sealed(&[&place.document, &place.parent, &run]));
        }
    }
}

/// Takes siblings out of their runs, the first of which is at or right of `from`.
fn cut(writer: &mut Writer<'_>, from: &Place, ids: &[Id]) -> Vec<(Id, Vec<u8>)> {
    let mut taken: Vec<(Id, Vec<u8>)> = Vec::with_capacity(ids.len());
    let mut changed: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    let (low, (_, end)) =
        (run_key(&from.document, &from.parent, &from.run), siblings(&from.document, &from.parent));
    let range = (Included(low.as_slice()), Excluded(end.as_slice()));
    for run in writer.table.range::<&[u8]>(range).expect("range") {
        let (key, value) = run.expect("run");
        let view = View(unseal(value.value()));
        let before = taken.len();
        let mut rest = Vec::with_capacity(view.count());
        for (block, record) in view.entries() {
            if ids.get(taken.len()).is_some_and(|wanted| wanted == block) {
                taken.push((id(block), record.to_vec()));
            } else {
                rest.push((block, record));
            }
        }
        if taken.len() > before {
            changed.push((key.value().to_vec(), EMPTY.splice(0..0, &rest)));
        }
        if taken.len() == ids.len() {
            break;
        }
    }
    assert_eq!(taken.len(), ids.len(), "siblings in their order");
    for (key, value) in &changed {
        if View(unseal(value)).count() == 0 {
            writer.delete(key);
        } else {
            writer.put(key, value);
        }
    }
    for (key, value) in &changed {
        let count = View(unseal(value)).count();
        if count > 0 && value.len() < *FULL / 4 {
            join(writer, key, &end);
        }
    }
    taken
}

/// Joins a run grown below a quarter into the next one, where both fit: entries move to the right,
/// so places stay true.
fn join(writer: &mut Writer<'_>, at: &[u8], end: &[u8]) {
    let Some(small) = get(&writer.table, at) else { return };
    let range = (Excluded(at), Excluded(end));
    let next = writer.table.range::<&[u8]>(range).expect("range").next();
    let Some((key, value)) = next.map(|next| {
        let (key, value) = next.expect("run");
        (key.value().to_vec(), value.value().to_vec())
    }) else {
        return;
    };
    if small.len() + value.len() > *FULL - key.len() {
        return;
    }
    let entries: Vec<_> = View(unseal(&small)).entries().collect();
    writer.put(&key, &View(unseal(&value)).splice(0..0, &entries));
    writer.delete(at);
}

/// Carries everything below the pages among `moved` into another document: runs go as they are.
fn carry(writer: &mut Writer<'_>, from: Id, to: Id, moved: &[(Id, Vec<u8>)]) {
    let mut pages: Vec<Id> = moved
        .iter()
        .filter(|(_, record)| record::kind(record) == PAGE)
        .map(|(id, _)| *id)
        .collect();
    while let Some(parent) = pages.pop() {
        let (prefix, end) = siblings(&from, &parent);
        let range = writer.table.range::<&[u8]>(prefix.as_slice()..end.as_slice()).expect("range");
        let runs: Vec<(Vec<u8>, Vec<u8>)> = range
            .map(|run| run.map(|(k, v)| (k.value().to_vec(), v.value().to_vec())).expect("run"))
            .collect();
        for (old, value) in &runs {
            let run = &old[33..];
            writer.delete(old);
            writer.put(&run_key(&to, &parent, run), value);
            for (block, record) in View(unseal(value)).entries() {
                writer.put(&key(PLACES, &[block]), &sealed(&[&to, &parent, run]));
                if record::kind(record) == PAGE {
                    pages.push(id(block));
                }
            }
        }
    }
}

pub fn open(directory: &Path) -> Box<dyn Peer> {
    Box::new(Runs(Store::open(directory)))
}

impl Peer for Runs {
    fn set_mode(&mut self, mode: Mode) {
        self.0.set_mode(mode);
    }

    fn publish(&mut self) {
        self.0.publish();
    }

    fn keep_snapshot(&mut self, keep: bool) {
        self.0.set_keep(keep);
    }

    fn import(&mut self, documents: &[Document], empty: bool, now: u64) {
        self.0.write(|writer| {
            let mut rows = Vec::new();
            for document in documents {
                for (parent, children) in document.groups() {
                    let records: Vec<_> =
                        children.iter().map(|block| record::encode(block)).collect();
                    let entries: Vec<(&[u8], &[u8])> = children
                        .iter()
                        .zip(&records)
                        .map(|(block, record)| (&block.id[..], &record[..]))
                        .collect();
                    let limit = *FULL - 40;
                    for (index, piece) in pack(&entries, limit, limit).into_iter().enumerate() {
                        let run = order::nth(index);
                        let place = sealed(&[&document.id, &parent, &run]);
                        rows.extend(
                            piece.iter().map(|(block, _)| (key(PLACES, &[block]), place.clone())),
                        );
                        rows.push((
                            run_key(&document.id, &parent, &run),
                            EMPTY.splice(0..0, piece),
                        ));
                    }
                }
            }
            writer.load(rows, documents, empty, now);
        });
    }

    fn note(&mut self, document: Id, now: u64) {
        self.0.write(|writer| {
            writer.touch(document, now);
            writer.log(now, document, "note", &[&document]);
        });
    }

    fn insert(&mut self, block: &Block, position: &Position, now: u64) {
        self.0.write(|writer| {
            let (place, at) = slot(writer, position);
            let record = record::encode(block);
            paste(writer, &place, at..at, &[(&block.id, &record)], true);
            writer.touch(place.document, now);
            let at = (at as u32).to_le_bytes();
            writer.log(
                now,
                place.document,
                "insert",
                &[&place.parent, &place.run, &at, &block.id, &record],
            );
        });
    }

    fn update(&mut self, block: Id, markdown: &str, now: u64) {
        self.0.write(|writer| {
            let (place, at, old) = find(&writer.table, block, |place, view, at| {
                let place = Place {
                    document: place.document,
                    parent: place.parent,
                    run: place.run.clone(),
                };
                (place, at, view.record(at).to_vec())
            });
            let mut new = record::decode(block, &old);
            new.rev += 1;
            new.modified = now;
            markdown.clone_into(&mut new.markdown);
            let record = record::encode(&new);
            paste(writer, &place, at..at + 1, &[(&block, &record)], false);
            writer.touch(place.document, now);
            writer.log(now, place.document, "update", &[&block, &old, &record]);
        });
    }

    fn relocate(&mut self, ids: &[Id], position: &Position, now: u64) {
        self.0.write(|writer| {
            let from = place(&writer.table, ids[0]);
            let moved = cut(writer, &from, ids);
            let (place, at) = slot(writer, position);
            let entries: Vec<(&[u8], &[u8])> =
                moved.iter().map(|(id, record)| (&id[..], &record[..])).collect();
            paste(writer, &place, at..at, &entries, true);
            if place.document != from.document {
                carry(writer, from.document, place.document, &moved);
                writer.touch(from.document, now);
            }
            writer.touch(place.document, now);
            let parts =
                [&from.document[..], &from.parent, &from.run, &place.parent, ids.as_flattened()];
            writer.log(now, place.document, "move", &parts);
        });
    }

    fn fetch(&mut self, document: Id) -> Tree {
        self.0.read(|table| {
            let prefix = key(BLOCKS, &[&document]);
            let mut blocks: Vec<Block> = Vec::new();
            let mut groups: Vec<(Id, Range<usize>)> = Vec::new();
            for run in
                table.range::<&[u8]>(prefix.as_slice()..past(&prefix).as_slice()).expect("range")
            {
                let (key, value) = run.expect("run");
                let parent = id(&key.value()[17..]);
                if groups.last().is_none_or(|(known, _)| *known != parent) {
                    groups.push((parent, blocks.len()..blocks.len()));
                }
                let view = View(unseal(value.value()));
                blocks.extend(
                    view.entries().map(|(block, record)| record::decode(id(block), record)),
                );
                if let Some((_, range)) = groups.last_mut() {
                    range.end = blocks.len();
                }
            }
            assemble(document, &groups, |_, block| block.id, &mut blocks)
        })
    }

    fn block(&mut self, block: Id) -> Block {
        self.0
            .read(|table| find(table, block, |_, view, at| record::decode(block, view.record(at))))
    }

    fn document_of(&mut self, block: Id) -> Id {
        self.0.read(|table| place(table, block).document)
    }
}

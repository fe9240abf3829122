//! What a block and all below it say, where some of it is asked for: runs are kept as they lie, and
//! of their records those are read that are wanted.

use std::ops::Range;

use leafbase_model::{BlockId, Error, Result};

use super::{BlockText, KeptText, Sieve, Sifted, Sifting, read};
use crate::keyspaces;
use crate::msgpack::{DecodeError, Decoded};
use crate::reader::SpaceReader;
use crate::reader::trees::{
    NodeBuilder as Making, RunCollector as Gathering, TreeExtent as Extent, check_reached,
};
use crate::records;
use crate::records::block;
use crate::run::RunView;

/// About as long are most records with what a run has beside them, in bytes.
const RECORD: usize = 114;

/// A block with all below it, in reading order.
#[derive(Debug, Default)]
pub struct SievedTexts {
    /// Runs, one behind the other.
    bytes: Vec<u8>,
    /// Where each of them lies.
    runs: Vec<Range<usize>>,
    stretches: Vec<Stretch>,
    asked: Vec<Asked>,
    /// What those say whose markdown is all, one after the other.
    markdown: String,
    count: usize,
}

/// Blocks of one run that stand one behind the other in reading order.
#[derive(Debug)]
struct Stretch {
    /// Their indices.
    start: usize,
    end: usize,
    depth: u16,
    /// The index of the block that they are children of.
    parent: Option<usize>,
    run: usize,
    /// The place of the first one in the run.
    from: usize,
}

/// A block that may be asked for.
#[derive(Debug)]
struct Asked {
    run: usize,
    /// Its place in the run.
    at: usize,
    /// Its index in reading order.
    index: usize,
    text: KeptText,
}

/// The index of a block that is not in order.
const NOWHERE: usize = usize::MAX;

impl SievedTexts {
    /// How many blocks they are.
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Each, and how far below the first one it is.
    pub fn ids(&self) -> impl Iterator<Item = (u16, BlockId)> {
        self.stretches.iter().flat_map(|stretch| {
            let run = self.run(stretch.run).into_iter().flat_map(|run| run.ids());
            run.skip(stretch.from).take(stretch.end - stretch.start).map(|id| (stretch.depth, id))
        })
    }

    /// One of them.
    pub fn id(&self, index: usize) -> Option<BlockId> {
        let (run, at, _) = self.place(index)?;
        run.id(at)
    }

    /// The one that it is a child of; none for the first.
    pub fn parent(&self, index: usize) -> Option<usize> {
        let (_, _, stretch) = self.place(index)?;
        stretch.parent
    }

    /// How many of them may be asked for.
    pub const fn count_asked(&self) -> usize {
        self.asked.len()
    }

    /// The index of one of those that may be asked for, in reading order.
    pub fn asked(&self, number: usize) -> Option<usize> {
        self.asked.get(number).map(|asked| asked.index)
    }

    /// How many of those that may be asked for come before this one.
    pub fn asked_before(&self, index: usize) -> usize {
        self.asked.partition_point(|asked| asked.index < index)
    }

    /// What one of those says that may be asked for.
    pub fn asked_text(&self, number: usize) -> Option<BlockText<'_>> {
        self.asked.get(number).map(|asked| asked.text.of(&self.markdown))
    }

    /// What a block says, asked for or not.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::Corrupted`] if that cannot be read.
    pub fn text(&self, index: usize) -> Result<Option<BlockText<'_>>> {
        let Some((run, at, _)) = self.place(index) else { return Ok(None) };
        self.said(run, at, index).map(Some)
    }

    /// Blocks that stand one behind the other, with what they say.
    ///
    /// # Errors
    /// As [`Self::text`].
    pub fn blocks(
        &self,
        range: Range<usize>,
    ) -> impl Iterator<Item = Result<(BlockId, BlockText<'_>)>> {
        let first = self.stretches.partition_point(|stretch| stretch.end <= range.start);
        let stretches = self.stretches.iter().skip(first);
        let (start, end) = (range.start, range.end);
        stretches.take_while(move |stretch| stretch.start < end).flat_map(move |stretch| {
            let run = self.run(stretch.run);
            (start.max(stretch.start)..end.min(stretch.end)).filter_map(move |index| {
                let (run, at) = (run?, stretch.from + (index - stretch.start));
                let id = run.id(at)?;
                Some(self.said(run, at, index).map(|text| (id, text)))
            })
        })
    }

    fn said<'t>(&'t self, run: RunView<'t>, at: usize, index: usize) -> Result<BlockText<'t>> {
        // Where all are asked for, each is there.
        let asked = self.asked.get(index).filter(|asked| asked.index == index);
        if let Some(asked) = asked {
            return Ok(asked.text.of(&self.markdown));
        }
        match read(run.block(at)) {
            Ok(Ok((block_type, markdown))) => Ok(BlockText::Markdown(block_type, markdown)),
            Ok(Err(_)) => {
                let found = self.asked.binary_search_by_key(&index, |asked| asked.index).ok();
                let asked = found.and_then(|number| self.asked.get(number));
                asked
                    .map(|asked| asked.text.of(&self.markdown))
                    .ok_or_else(|| self.damaged(index, DecodeError::Corrupt))
            }
            Err(fault) => Err(self.damaged(index, fault)),
        }
    }

    #[cold]
    fn damaged(&self, index: usize, fault: DecodeError) -> Error {
        records::fault(&keyspaces::block_location(self.id(index).unwrap_or(BlockId::NIL)), fault)
    }

    /// The run of a block, its place there, and the stretch that it is in.
    fn place(&self, index: usize) -> Option<(RunView<'_>, usize, &Stretch)> {
        let number =
            self.stretches.partition_point(|stretch| stretch.start <= index).checked_sub(1)?;
        let stretch = self.stretches.get(number).filter(|_| index < self.count)?;
        Some((self.run(stretch.run)?, stretch.from + (index - stretch.start), stretch))
    }

    fn run(&self, number: usize) -> Option<RunView<'_>> {
        RunView::split(self.bytes.get(self.runs.get(number)?.clone())?)
    }

    /// Adds the next blocks in reading order, those at these places of a run.
    fn push(&mut self, depth: u16, parent: Option<usize>, run: usize, places: Range<usize>) {
        let start = self.count;
        let first = self.asked.partition_point(|asked| (asked.run, asked.at) < (run, places.start));
        let here = self
            .asked
            .iter_mut()
            .skip(first)
            .take_while(|asked| asked.run == run && asked.at < places.end);
        here.for_each(|asked| asked.index = start + (asked.at - places.start));
        self.count += places.len();
        self.stretches.push(Stretch {
            start,
            end: self.count,
            depth,
            parent,
            run,
            from: places.start,
        });
    }
}

/// Runs as they lie in the store: by parent, each parent's in order.
struct Gathered<'s> {
    sieve: Option<&'s dyn Sieve>,
    making: super::Gathering,
    texts: SievedTexts,
    children: Children,
    /// Where those runs begin that were not asked about yet.
    level: usize,
}

/// Which runs are those of the children of a block.
#[derive(Default)]
struct Children {
    runs: Vec<(BlockId, Range<usize>)>,
    /// Of so many blocks they were not taken yet.
    left: usize,
}

impl Children {
    fn add(&mut self, parent: BlockId, run: usize) {
        match self.runs.last_mut() {
            Some((last, runs)) if *last == parent => runs.end = run + 1,
            _ => {
                self.runs.push((parent, run..run + 1));
                self.left += 1;
            }
        }
    }

    fn find(&self, parent: BlockId) -> Option<usize> {
        self.runs.binary_search_by(|(id, _)| id.cmp(&parent)).ok()
    }

    /// Takes those that were found. Nobody gets them twice, as a block would that stands below
    /// itself.
    fn take(&mut self, found: usize) -> Option<Range<usize>> {
        let (_, runs) = self.runs.get_mut(found)?;
        let runs = Some(std::mem::take(runs)).filter(|runs| !runs.is_empty())?;
        self.left -= 1;
        Some(runs)
    }
}

/// Runs of the children of one block, as far as they are in order.
struct Level {
    runs: Range<usize>,
    /// The place in the first of these runs that is next.
    at: usize,
    parent: usize,
}

impl<'s> Gathered<'s> {
    fn new(sieve: Option<&'s dyn Sieve>) -> Self {
        let (making, texts) = (super::Gathering::default(), SievedTexts::default());
        Self { sieve, making, texts, children: Children::default(), level: 0 }
    }

    /// Keeps a run, and finds those of its blocks that are asked for.
    fn keep(&mut self, view: RunView<'_>) -> Decoded<()> {
        let (run, start, records) = (self.texts.runs.len(), self.texts.bytes.len(), view.records());
        view.put(&mut self.texts.bytes);
        self.texts.runs.push(start..self.texts.bytes.len());
        let (mut sifting, mut before) = (Sifting::new(self.sieve, records), 0);
        for (at, end) in view.ends().enumerate() {
            let length = end - std::mem::replace(&mut before, end);
            if let Sifted::LeftOut(_) = sifting.sift(records, length)? {
                continue;
            }
            let id = view.id(at).unwrap_or(BlockId::NIL);
            let text = self.making.make(id, view.block(at), records)?.text;
            self.texts.asked.push(Asked { run, at, index: NOWHERE, text });
        }
        Ok(())
    }

    /// The first place from `from` on of a block of this run below which others stand, and the runs
    /// of those.
    fn next_parent(&mut self, run: usize, from: usize) -> Result<Option<(usize, Range<usize>)>> {
        let Some(view) = self.texts.run(run).filter(|_| self.children.left > 0) else {
            return Ok(None);
        };
        for (at, id) in view.ids().enumerate().skip(from) {
            let Some(found) = self.children.find(id) else { continue };
            let block_type = block::type_of(view.block(at));
            let block_type = block_type
                .map_err(|fault| records::fault(&keyspaces::block_location(id), fault))?;
            if Extent::ALL.is_below(block_type)
                && let Some(runs) = self.children.take(found)
            {
                return Ok(Some((at, runs)));
            }
        }
        Ok(None)
    }

    /// Puts the first block and those below it in order.
    fn in_order(mut self) -> Result<SievedTexts> {
        self.children.runs.sort_unstable_by_key(|(parent, _)| *parent);
        let mut path = Vec::new();
        let next = self.next_parent(0, 0)?.filter(|(at, _)| *at == 0);
        self.texts.push(0, None, 0, 0..1);
        path.extend(next.map(|(_, runs)| Level { runs, at: 0, parent: 0 }));
        while let Some(level) = path.last_mut() {
            let (run, from, parent) = (level.runs.start, level.at, level.parent);
            if level.runs.is_empty() {
                path.pop();
                continue;
            }
            let next = self.next_parent(run, from)?;
            let end = self.texts.run(run).map_or(0, |run| run.ids().len());
            let to = next.as_ref().map_or(end, |(at, _)| at + 1);
            level.at = to;
            if to >= end {
                level.runs.start += 1;
                level.at = 0;
            }
            let depth = u16::try_from(path.len()).map_err(|_| self.too_deep(run, from))?;
            self.texts.push(depth, Some(parent), run, from..to);
            path.extend(next.map(|(_, runs)| Level { runs, at: 0, parent: self.texts.count - 1 }));
        }
        let asked = &mut self.texts.asked;
        if !asked.is_sorted_by_key(|asked| asked.index) {
            asked.sort_unstable_by_key(|asked| asked.index);
        }
        asked.truncate(asked.partition_point(|asked| asked.index != NOWHERE));
        self.texts.markdown = self.making.markdown;
        Ok(self.texts)
    }

    fn too_deep(&self, run: usize, at: usize) -> Error {
        let id = self.texts.run(run).and_then(|run| run.id(at));
        records::damaged(&keyspaces::block_location(id.unwrap_or(BlockId::NIL)))
    }
}

impl Gathering for Gathered<'_> {
    fn expect(&mut self, blocks: usize) {
        self.texts.bytes.reserve(blocks * RECORD);
    }

    fn add(&mut self, parent: BlockId, key: &[u8], value: &[u8]) -> Result<()> {
        // The root is the child of none.
        if !parent.is_nil() {
            self.children.add(parent, self.texts.runs.len());
        }
        self.keep(RunView::read(key, value)?).map_err(|fault| records::fault(key, fault))
    }

    fn parents(&mut self, extent: Extent) -> Result<Vec<BlockId>> {
        let level = std::mem::replace(&mut self.level, self.texts.runs.len());
        let mut parents = Vec::new();
        for run in (level..self.level).filter_map(|run| self.texts.run(run)) {
            for (id, record) in run.entries() {
                let block_type = block::type_of(record);
                let block_type = block_type
                    .map_err(|fault| records::fault(&keyspaces::block_location(id), fault))?;
                parents.extend(extent.is_below(block_type).then_some(id));
            }
        }
        Ok(parents)
    }
}

impl SpaceReader<'_> {
    /// What `block` and all below it say, as [`Self::texts`] tells: but what is not asked for by
    /// `sieve` is not read until it is wanted.
    ///
    /// # Errors
    /// As [`Self::subtree`].
    pub fn sieved_texts(&self, block: BlockId, sieve: Option<&dyn Sieve>) -> Result<SievedTexts> {
        let Some(place) = self.location(block)? else { return Ok(SievedTexts::default()) };
        let (document, mut gathered) = (place.document, Gathered::new(sieve));
        if place.parent.is_nil() {
            let expected = self.gather_all(document, &mut gathered)?;
            if gathered.texts.run(0).and_then(|run| run.id(0)) != Some(block) {
                return Err(records::damaged(&keyspaces::block_location(block)));
            }
            let texts = gathered.in_order()?;
            check_reached(document, texts.len(), expected)?;
            return Ok(texts);
        }
        self.find_in_runs(&place, block, &mut |key, run, index| {
            gathered.keep(run.only(index)).map_err(|fault| records::fault(key, fault))
        })?;
        let parents = gathered.parents(Extent::ALL)?;
        self.gather_below(document, parents, Extent::ALL, &mut gathered)?;
        gathered.in_order()
    }
}

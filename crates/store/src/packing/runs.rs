//! Runs cut anew so that they fill pages: beside runs that take half a page and more, much room is
//! left.

use std::ops::ControlFlow;
use std::sync::Arc;

use leafbase_model::{BlockId, DocumentId, Result};

use crate::keyspaces::{self, BLOCKS};
use crate::kv::{Durability, KeyRange, PageFill, Read, Store, Transaction, WriteOptions};
use crate::location_cache::{Changed, LocationCache};
use crate::order_key;
use crate::records;
use crate::records::location::{self, LocationRecord};
use crate::run::{self, Run, RunView};

/// So many runs of one parent are cut anew together: it bounds memory.
const MOST_RUNS: usize = 256;
/// Or runs of so many bytes: a block may be of any size.
const MOST_BYTES: usize = 2 << 20;
/// What is cut anew is written in transactions of about so many bytes.
const BATCH_BYTES: usize = 4 << 20;
/// With less room left in a page the next run begins another one, unless it is the last one and
/// fits.
const LEAST_ROOM: usize = 512;
/// It is done if one page in so many is saved.
const WORTH: u64 = 16;

/// Cuts runs anew if that saves pages.
pub(super) fn lay_runs(store: &dyn Store, lookups: &LocationCache) -> Result<()> {
    let Some(page) = saving(&*store.snapshot()?)? else { return Ok(()) };
    let (mut next, mut page) = (Some(vec![BLOCKS.tag]), page);
    while let Some(from) = next.take() {
        let (mut after, mut committing) = (None, None);
        store.write(WriteOptions::durability(Durability::Durable), &mut |rows| {
            let (mut at, mut filling, mut changed, mut bytes) =
                (Some(from.clone()), page, Changed::default(), 0);
            while let Some(start) = at.take_if(|_| bytes < BATCH_BYTES) {
                let Some(stretch) = Stretch::read(rows, &start, &mut filling)? else { break };
                bytes += stretch.old.iter().map(|(_, run)| run.bytes()).sum::<usize>();
                stretch.write(rows, &mut changed)?;
                at = stretch.next;
            }
            after = Some((at, filling));
            committing = Some(lookups.begin_commit(&changed));
            Ok(())
        })?;
        drop(committing);
        if let Some((at, filling)) = after {
            (next, page) = (at, filling);
        }
    }
    Ok(())
}

/// The page that the first run comes to lie in, if it is worth it to cut them anew.
fn saving(rows: &dyn Read) -> Result<Option<PageFill>> {
    let mut first = PageFill::default();
    rows.scan(KeyRange::half_open(&[], &[BLOCKS.tag]), &mut |key, value| {
        first.put(key.len() + value.len());
        Ok(ControlFlow::Continue(()))
    })?;
    let (mut kept, mut laid, mut next) = (first, first, Some(vec![BLOCKS.tag]));
    while let Some(from) = next {
        let Some(stretch) = Stretch::read(rows, &from, &mut laid)? else { break };
        for (key, run) in &stretch.old {
            kept.put(key.len() + run.value_bytes());
        }
        next = stretch.next;
    }
    Ok((kept.pages() > laid.pages() + laid.pages() / WORTH).then_some(first))
}

/// A run with its key.
type Keyed = (Vec<u8>, Run);

/// Consecutive runs of one parent, as they are and as they are to be.
struct Stretch {
    document: DocumentId,
    parent: BlockId,
    old: Vec<Keyed>,
    new: Vec<Keyed>,
    /// The key of the run behind them, of whatever parent.
    next: Option<Vec<u8>>,
}

impl Stretch {
    /// The runs from the key `from` on, to be laid from `page` on. None if there are no more.
    fn read(rows: &dyn Read, from: &[u8], page: &mut PageFill) -> Result<Option<Self>> {
        let (mut old, mut next) = (Vec::<Keyed>::new(), None);
        let (mut of, mut bytes) = (None, 0);
        rows.scan(
            KeyRange::half_open(from, &keyspaces::end_of([BLOCKS.tag])),
            &mut |key, value| {
                let (document, parent, _) =
                    keyspaces::read_run(key).ok_or_else(|| records::damaged(key))?;
                if *of.get_or_insert((document, parent)) != (document, parent)
                    || old.len() == MOST_RUNS
                    || bytes >= MOST_BYTES
                {
                    next = Some(key.to_vec());
                    return Ok(ControlFlow::Break(()));
                }
                bytes += value.len();
                old.push((key.to_vec(), Run::of(RunView::read(key, value)?)));
                Ok(ControlFlow::Continue(()))
            },
        )?;
        let Some((document, parent)) = of else { return Ok(None) };
        let goes_on = |key: &&[u8]| key.starts_with(&keyspaces::parent_runs(document, parent));
        let upper = next.as_deref().filter(goes_on).map(order_of);
        let runs = cut(&old, page);
        // Where no key is left between two, they stay as they are.
        let new = match orders(&old, upper, runs.len()) {
            Some(orders) => orders
                .iter()
                .map(|order| keyspaces::run(document, parent, order))
                .zip(runs)
                .collect(),
            None => old.clone(),
        };
        Ok(Some(Self { document, parent, old, new, next }))
    }

    /// Writes what is to be other than it is.
    fn write(&self, rows: &mut dyn Transaction, changed: &mut Changed) -> Result<()> {
        let is_same = |((old, before), (new, after)): (&Keyed, &Keyed)| {
            old == new && before.ids() == after.ids()
        };
        if self.old.len() == self.new.len() && self.old.iter().zip(&self.new).all(is_same) {
            return Ok(());
        }
        for (key, _) in self.old.iter().skip(self.new.len()) {
            rows.delete(key)?;
        }
        let mut value = Vec::with_capacity(run::MAX_BYTES);
        let mut before = self.old.iter().flat_map(|(key, run)| run.ids().iter().map(move |_| key));
        for (number, (key, run)) in self.new.iter().enumerate() {
            // It has the same blocks, and they stand behind as many.
            if self.old.get(number).is_some_and(|(old, same)| old == key && same.ids() == run.ids())
            {
                before.nth(run.ids().len().saturating_sub(1));
                continue;
            }
            run.seal_into(key, &mut value);
            rows.put(key, &value)?;
            let (document, parent, order) = (self.document, self.parent, Arc::from(order_of(key)));
            let location = LocationRecord { document, parent, order };
            for block in run.ids() {
                if before.next() == Some(key) {
                    continue;
                }
                let at = keyspaces::block_location(*block);
                records::seal_into(&at, &mut value, |out| location::put(out, &location));
                rows.put(&at, &value)?;
                changed.blocks.push(*block);
            }
        }
        Ok(())
    }
}

fn order_of(key: &[u8]) -> &[u8] {
    keyspaces::read_run(key).map_or(&[], |(_, _, order)| order)
}

/// The order keys of so many runs: those that there are, and more behind them.
fn orders(old: &[Keyed], upper: Option<&[u8]>, count: usize) -> Option<Vec<Vec<u8>>> {
    let mut orders: Vec<Vec<u8>> =
        old.iter().take(count).map(|(key, _)| order_of(key).to_vec()).collect();
    while orders.len() < count {
        orders.push(order_key::between(orders.last().map(Vec::as_slice), upper)?);
    }
    Some(orders)
}

/// The blocks of `old` in runs that fill the rest of `page`, and whole ones after it.
fn cut(old: &[Keyed], page: &mut PageFill) -> Vec<Run> {
    let key = old.iter().map(|(key, _)| key.len()).max().unwrap_or_default();
    let mut left: usize = old.iter().map(|(_, run)| run.bytes()).sum();
    let (mut runs, mut filling, mut most) = (Vec::new(), Run::default(), 0);
    for (id, record) in old.iter().flat_map(|(_, run)| run.entries()) {
        let bytes = run::ENTRY_BYTES + record.len();
        if !filling.is_empty() && filling.bytes() + bytes > most {
            page.put(key + filling.value_bytes());
            runs.push(std::mem::take(&mut filling));
        }
        if filling.is_empty() {
            let room = page.room().saturating_sub(key);
            let goes_on = room >= left || room >= LEAST_ROOM && room >= filling.bytes() + bytes;
            most = run::MAX_BYTES.min(if goes_on {
                room
            } else {
                PageFill::whole() - key.min(PageFill::whole())
            });
        }
        left = left.saturating_sub(bytes);
        filling.push(id, record);
    }
    if !filling.is_empty() {
        page.put(key + filling.value_bytes());
        runs.push(filling);
    }
    runs
}

//! Valid edits from random numbers.

use leafbase_model::{
    AssetId, AssetRecord, Author, BlockData, BlockId, BlockRecord, Comment, CommentId, Day,
    DocumentId, DocumentRecord, Edit, FolderId, FolderRecord, InsertTarget, KeptScope, ListStyle,
    Location, SpaceSettings, Stamp, SubtreeNode, Subtrees, TaskInfo, TaskState, Timestamp,
};
use leafbase_store::CHUNK_BYTES;

use super::collections::{is_movable, is_plain};
use super::{Naive, Rule, hashed, pick, stamp};

/// One of a few days.
pub fn day(number: u32) -> Day {
    Day::from_epoch_days(i64::from(number % 5) - 2)
}

/// Few days and instants, so that they repeat; some closed tasks have no stamp.
fn task(number: u32) -> TaskInfo {
    let state = [TaskState::Todo, TaskState::Todo, TaskState::Done, TaskState::Canceled]
        [number as usize % 4];
    let at = (!number.is_multiple_of(5)).then(|| Timestamp::from_millis(i64::from(number % 6) - 2));
    TaskInfo {
        schedule_date: number.is_multiple_of(3).then(|| day(number / 3)),
        deadline_date: number.is_multiple_of(2).then(|| day(number / 7)),
        completed_at: at.filter(|_| state == TaskState::Done),
        canceled_at: at.filter(|_| state == TaskState::Canceled),
        ..TaskInfo::of_state(state)
    }
}

/// Renames the space, unless it has the name.
fn settings_edit(naive: &Naive, number: u32) -> Option<Edit> {
    let (before, name) = (naive.settings(), format!("Space {}", number % 3));
    let after = SpaceSettings { name, ..before.clone() };
    (after != before).then_some(Edit::UpdateSpace { before, after })
}

/// Keeps one of a few scopes as another one, or deletes it.
fn scope_edit(naive: &Naive, [a, b]: [u32; 2]) -> Option<Edit> {
    let name = format!("scope {}", a % 3);
    let before = naive.scopes.get(&name).cloned().map(Box::new);
    let documents = naive.documents.keys().copied().take(b as usize % 4).collect();
    let scope = KeptScope { name, documents, ..KeptScope::default() };
    let after = (!b.is_multiple_of(5)).then(|| Box::new(scope));
    (after != before).then_some(Edit::SetScope { before, after })
}

/// Generates valid edits from random numbers.
pub struct Maker {
    next: u64,
    /// The rules that refused edits broke.
    pub tried: Vec<Rule>,
}

impl Maker {
    pub fn new() -> Self {
        Self { next: 1, tried: vec![] }
    }

    /// IDs are partly ascending, and partly not.
    pub fn id(&mut self) -> [u8; 16] {
        self.next += 1;
        let mixed = self.next.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let number = u128::from(self.next / 20 + 1) << 64 | u128::from(mixed);
        number.to_be_bytes()
    }

    pub fn block(&mut self, naive: &Naive, seed: u32) -> BlockRecord {
        let size = match seed % 23 {
            0 => 5_000,
            1 => 1_500,
            2 | 3 => 0,
            other => usize::try_from(other).unwrap() * 9,
        };
        let mut text = "x".repeat(size);
        match seed % 5 {
            0 => {
                let target = pick(&naive.blocks.keys().copied().collect::<Vec<_>>(), seed)
                    .unwrap_or_default();
                text = format!("{text} b:{target} b:{target}");
            }
            1 => text = format!("{text} d:2026-03-{:02}", seed % 28 + 1),
            _ => {}
        }
        for number in [seed % 11, seed % 13].iter().filter(|number| **number < 4) {
            // One is the beginning of another, and they differ in case.
            text = format!("{text} t:{}", ["a", "A", "ab", "B/É"][*number as usize]);
        }
        let mut data = match seed % 7 {
            0 => BlockData { inline: text, ..BlockData::page("") },
            1 => BlockData::new(leafbase_model::BlockKind::Line {
                style: leafbase_model::LineStyle::Strong,
            }),
            _ => BlockData::text(text),
        };
        if seed.is_multiple_of(3) {
            data.list_style = ListStyle::Task;
            data.task = Some(task(seed / 3));
        }
        let stamp = stamp(i64::from(seed) * 1_000);
        BlockRecord {
            id: BlockId::from_bytes(self.id()),
            rev: 1,
            created: stamp.clone(),
            modified: stamp,
            data,
        }
    }

    fn subtrees(&mut self, naive: &Naive, seed: u32) -> Subtrees {
        let count = if seed.is_multiple_of(3) { 1 } else { seed % 40 + 1 };
        let mut nodes: Vec<SubtreeNode> = vec![];
        for index in 0..count {
            let block = self.block(naive, seed.wrapping_mul(31).wrapping_add(index * 7));
            let depth = match nodes.last() {
                Some(before) if before.block.data.block_type().may_be_parent() => {
                    (seed.wrapping_add(index * 13) % 4).min(u32::from(before.depth) + 1)
                }
                Some(before) => u32::from(before.depth).min(seed % 3),
                None => 0,
            };
            nodes.push(SubtreeNode { depth: u16::try_from(depth).unwrap(), block });
        }
        Subtrees(nodes)
    }

    pub(super) fn target(naive: &Naive, a: u32, b: u32) -> Option<InsertTarget> {
        let parent = pick(&naive.parents(), a)?;
        let siblings = naive.children(parent);
        let at = usize::try_from(b).unwrap() % (siblings.len() + 1);
        Some(InsertTarget {
            document: naive.standing[&parent].0,
            parent,
            after: at.checked_sub(1).map(|before| siblings[before]),
        })
    }

    /// A valid edit, applied to `naive`, with the edits that must precede and follow it.
    pub fn edits(&mut self, naive: &mut Naive, numbers: [u32; 4]) -> Vec<Edit> {
        let mut edits = match numbers {
            [kind, ..] if kind % 34 >= 26 => self.collection_edits(naive, numbers),
            [kind, a, b, seed] if kind % 34 >= 23 => self.file_edits(naive, [a, b, seed]),
            numbers => self.edit(naive, numbers).into_iter().collect(),
        };
        if let Some(Edit::Remove { subtrees, .. } | Edit::EraseDocument { subtrees, .. }) =
            edits.first()
        {
            let gone: Vec<BlockId> = subtrees.0.iter().map(|node| node.block.id).collect();
            let comments = naive.comments.iter().filter(|((block, _), _)| gone.contains(block));
            let removed = comments.map(|((block, _), comment)| {
                let (document, block, comment) = (naive.standing[block].0, *block, comment.clone());
                Edit::RemoveComment { document, block, comment }
            });
            let before: Vec<_> = removed.chain(naive.schema_removals(&gone)).collect();
            edits.splice(0..0, before);
        }
        for edit in &edits {
            naive.apply(edit);
        }
        let unshown: Vec<Edit> = naive.unshown().into_iter().map(Edit::EraseAsset).collect();
        for edit in &unshown {
            naive.apply(edit);
        }
        edits.extend(unshown);
        edits
    }

    fn edit(&mut self, naive: &Naive, [kind, a, b, seed]: [u32; 4]) -> Option<Edit> {
        let inner = |naive: &Naive| -> Vec<BlockId> {
            naive
                .standing
                .iter()
                .filter(|(_, (_, parent))| parent.is_some())
                .map(|(id, _)| *id)
                .collect()
        };
        match kind % 34 {
            0 => {
                let mut subtrees = self.subtrees(naive, seed);
                for node in &mut subtrees.0 {
                    node.depth += 1;
                }
                let mut root = self.block(naive, 7);
                root.data = BlockData::page(format!("Title {a}"));
                let id = DocumentId::of_root(root.id);
                subtrees.0.insert(0, SubtreeNode { depth: 0, block: root });
                let day = Some(day(b))
                    .filter(|day| seed.is_multiple_of(4) && naive.note_of(*day).is_none());
                let location = match day {
                    Some(_) => Location::DailyNotes,
                    None if seed % 4 == 1 && naive.inbox().is_none() => Location::Inbox,
                    None => Location::Unsorted,
                };
                let at = Timestamp::from_millis(i64::from(b));
                let record =
                    DocumentRecord { id, location, day, created_at: at, modified_at: at, rev: 1 };
                Some(Edit::CreateDocument { record, subtrees })
            }
            1..=7 => Some(Edit::Insert {
                target: Self::target(naive, a, b)?,
                subtrees: self.subtrees(naive, seed),
            }),
            8..=10 => {
                let plain =
                    naive.blocks.values().filter(|block| is_plain(block)).map(|block| block.id);
                let id = pick(&plain.collect::<Vec<_>>(), a)?;
                let before = naive.blocks[&id].clone();
                let mut after = self.block(naive, seed);
                after.id = id;
                after.rev = before.rev + 1;
                after.created = before.created.clone();
                after.data.kind = before.data.kind.clone();
                let (document, _) = naive.standing[&id];
                Some(Edit::Update { document, before: Box::new(before), after: Box::new(after) })
            }
            11..=13 => {
                let first = pick(&inner(naive), a)?;
                let target = naive.slot_of(first);
                let siblings = naive.children(target.parent);
                let at = siblings.iter().position(|sibling| *sibling == first).unwrap();
                let count = usize::try_from(b % 12 + 1).unwrap();
                let subtrees = siblings[at..]
                    .iter()
                    .take(count)
                    .flat_map(|top| naive.subtree(*top, usize::MAX).0);
                Some(Edit::Remove { target, subtrees: Subtrees(subtrees.collect()) })
            }
            14..=16 => {
                let movable =
                    inner(naive).into_iter().filter(|block| is_movable(&naive.blocks[block]));
                let block = pick(&movable.collect::<Vec<_>>(), a)?;
                let from = naive.slot_of(block);
                let mut left = naive.clone();
                left.uproot(&naive.subtree(block, usize::MAX));
                Some(Edit::Move { block, from, to: Self::target(&left, b, seed)? })
            }
            17 if seed.is_multiple_of(4) => {
                let id = pick(&naive.documents.keys().copied().collect::<Vec<_>>(), a)?;
                let subtrees = naive.subtree(id.root(), usize::MAX);
                Some(Edit::EraseDocument { record: naive.documents[&id].clone(), subtrees })
            }
            17 | 18 => {
                let id = pick(&naive.documents.keys().copied().collect::<Vec<_>>(), a)?;
                let before = naive.documents[&id].clone();
                let folder = pick(&naive.folders.keys().copied().collect::<Vec<_>>(), b);
                let day = before
                    .day
                    .filter(|_| !seed.is_multiple_of(7))
                    .or((seed % 7 == 1).then(|| day(b)));
                let is_free =
                    day.is_none_or(|day| naive.note_of(day).is_none_or(|note| note == id));
                let location = match seed % 6 {
                    1 if naive.inbox().is_none_or(|inbox| inbox == id) => Location::Inbox,
                    2 if is_free => folder.map_or(Location::Templates, Location::Folder),
                    3 if is_free => day.map_or(Location::Unsorted, |_| Location::DailyNotes),
                    4 if is_free => Location::Templates,
                    _ => Location::Trash,
                };
                Some(Edit::UpdateDocument {
                    after: DocumentRecord { location, day, ..before.clone() },
                    before,
                })
            }
            19 => Some(self.folder_edit(naive, [a, b, seed])),
            20 if seed.is_multiple_of(2) => settings_edit(naive, b),
            20 if seed.is_multiple_of(3) => scope_edit(naive, [a, b]),
            _ => self.comment_edit(naive, [a, b, seed]),
        }
    }

    fn comment_edit(&mut self, naive: &Naive, [a, b, seed]: [u32; 3]) -> Option<Edit> {
        let all: Vec<_> =
            naive.comments.iter().map(|((block, _), comment)| (*block, comment)).collect();
        if let Some((block, comment)) = pick(&all, a).filter(|_| seed.is_multiple_of(3)) {
            return Some(Edit::RemoveComment {
                document: naive.standing[&block].0,
                block,
                comment: comment.clone(),
            });
        }
        if let Some((block, before)) = pick(&all, a).filter(|_| seed.is_multiple_of(5)) {
            let stamp =
                Stamp { at: Timestamp::from_millis(i64::from(seed)), by: before.author.clone() };
            let mut after = before.clone();
            if b.is_multiple_of(2) {
                after.resolved = after.resolved.is_none().then_some(stamp);
            } else {
                (after.content, after.edited) = (format!("says {b} now"), Some(stamp));
            }
            let document = naive.standing[&block].0;
            return Some(Edit::UpdateComment { document, block, before: before.clone(), after });
        }
        // Often on a block that has some.
        let block = match pick(&all, b).filter(|_| seed % 3 == 1) {
            Some((block, _)) => block,
            None => pick(&naive.blocks.keys().copied().collect::<Vec<_>>(), a)?,
        };
        let id = CommentId::from_bytes(self.id());
        let stamp =
            Stamp { at: Timestamp::from_millis(i64::from(seed % 4)), by: Author::new("Bob") };
        let comment = Comment::new(id, stamp, format!("says {b}"));
        Some(Edit::AddComment { document: naive.standing[&block].0, block, comment })
    }

    /// A file and a block that embeds it, or another block that embeds one.
    fn file_edits(&mut self, naive: &Naive, [a, b, seed]: [u32; 3]) -> Vec<Edit> {
        let Some(target) = Self::target(naive, a, b) else { return vec![] };
        let known = pick(&naive.assets.keys().copied().collect::<Vec<_>>(), b)
            .filter(|_| seed.is_multiple_of(4));
        let size = match seed % 7 {
            0 => 0,
            1 => CHUNK_BYTES as u64,
            2 => CHUNK_BYTES as u64 + 1,
            other => u64::from(other) * 100,
        };
        let created = known.is_none().then(|| {
            hashed(AssetRecord {
                id: AssetId::from_bytes(self.id()),
                media_type: "image/png".to_owned(),
                file_name: format!("{b}.png"),
                size,
                sha256: None,
                created: stamp(i64::from(seed)),
            })
        });
        let mut block = self.block(naive, seed);
        let Some(asset) = known.or(created.as_ref().map(|record| record.id)) else { return vec![] };
        block.data.inline = format!("f:{asset}");
        let shown = Edit::Insert { target, subtrees: Subtrees::one(block) };
        created.map(Edit::CreateAsset).into_iter().chain([shown]).collect()
    }

    fn folder_edit(&mut self, naive: &Naive, [a, b, seed]: [u32; 3]) -> Edit {
        let ids: Vec<_> = naive.folders.keys().copied().collect();
        let Some(id) = pick(&ids, a).filter(|_| !seed.is_multiple_of(3)) else {
            let id = FolderId::from_bytes(self.id());
            return Edit::CreateFolder(FolderRecord {
                id,
                name: format!("Folder {b}"),
                parent: pick(&ids, b),
                rev: 1,
            });
        };
        let folder = naive.folders[&id].clone();
        let is_empty = naive.folders.values().all(|other| other.parent != Some(id))
            && naive.documents.values().all(|document| document.location != Location::Folder(id));
        if is_empty && seed % 3 == 1 {
            Edit::RemoveFolder(folder)
        } else {
            let below = naive.folders_below(id);
            let parent = pick(&ids, seed / 3).filter(|parent| !below.contains(parent));
            Edit::UpdateFolder {
                after: FolderRecord { name: format!("Named {b}"), parent, ..folder.clone() },
                before: folder,
            }
        }
    }
}

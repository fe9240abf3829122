//! Compares every read of a space with the model.

use std::collections::BTreeMap;

use leafbase_model::{
    BlockId, Day, DocumentId, DocumentRecord, FolderId, FolderRecord, Location, TaskState,
    Timestamp,
};
use leafbase_store::{
    BackLink, CountedTag, DocumentQuery, DocumentTasks, EdgeEnd, IndexOrder, PageCursor,
    SpaceReader, Span, TaggedBlock, TaskRow, Within, task_location,
};

use super::{CHUNK_BYTES, Naive, bytes_of, extract, extract_tags};

impl Naive {
    fn back_links(&self) -> BTreeMap<EdgeEnd, Vec<BackLink>> {
        let mut links: BTreeMap<EdgeEnd, Vec<BackLink>> = BTreeMap::new();
        for block in self.blocks.values() {
            extract(&block.data, &mut |target| {
                links
                    .entry(target.to)
                    .or_default()
                    .push(BackLink { kind: target.kind, source: block.id });
            });
        }
        for sources in links.values_mut() {
            sources.sort_unstable();
            sources.dedup();
        }
        links
    }

    /// Compares every read with this model.
    pub fn agrees_with(&self, reader: SpaceReader<'_>) {
        assert_eq!(reader.meta().unwrap().settings(), self.settings());
        let mut scopes = reader.kept_scopes().unwrap();
        scopes.sort_by(|one, other| one.name.cmp(&other.name));
        assert_eq!(scopes, self.scopes.values().cloned().collect::<Vec<_>>());
        self.documents_agree(reader);
        self.tasks_agree(reader);
        self.tags_agree(reader);
        self.dependent_rows_agree(reader);
        self.collections_agree(reader);
        for document in self.documents.keys() {
            assert_eq!(
                reader.subtree(document.root(), None).unwrap(),
                self.subtree(document.root(), usize::MAX)
            );
        }
        for (index, (id, block)) in self.blocks.iter().enumerate() {
            let standing = reader.locate(*id).unwrap().unwrap();
            assert_eq!((standing.document, standing.parent), self.standing[id]);
            assert_eq!(reader.block(*id).unwrap().as_ref(), Some(block));
            let children = self.children(*id);
            assert_eq!(
                reader.last_child(standing.document, *id).unwrap(),
                children.last().copied()
            );
            assert_eq!(reader.children(standing.document, *id).unwrap(), children);
            let first: Vec<_> =
                children.iter().take(3).map(|child| self.blocks[child].clone()).collect();
            assert_eq!(reader.first_children(standing.document, *id, 3).unwrap(), first);
            if let Some(parent) = standing.parent {
                let siblings = self.children(parent);
                let at = siblings.iter().position(|sibling| sibling == id).unwrap();
                assert_eq!(
                    reader.previous_sibling(*id).unwrap(),
                    at.checked_sub(1).map(|before| siblings[before])
                );
            }
            if index.is_multiple_of(7) {
                for depth in [0, 1, 2, usize::MAX] {
                    let limit = (depth < usize::MAX).then_some(depth);
                    assert_eq!(reader.subtree(*id, limit).unwrap(), self.subtree(*id, depth));
                }
            }
        }
        let links = self.back_links();
        for (target, sources) in &links {
            assert_eq!(reader.edges_to(*target, None, usize::MAX).unwrap(), *sources);
            if let [first, rest @ ..] = sources.as_slice() {
                assert_eq!(reader.edges_to(*target, Some(*first), usize::MAX).unwrap(), *rest);
            }
        }
        // The store counts revisions.
        let without_rev = |folder: FolderRecord| FolderRecord { rev: 1, ..folder };
        let stored: Vec<_> = reader.folders().unwrap().into_iter().map(without_rev).collect();
        assert_eq!(stored, self.folders.values().cloned().map(without_rev).collect::<Vec<_>>());
        for parent in std::iter::once(None).chain(self.folders.keys().copied().map(Some)) {
            let inside: Vec<_> =
                self.folders.values().filter(|folder| folder.parent == parent).cloned().collect();
            let stored = reader.folders_in(parent).unwrap().into_iter().map(without_rev);
            assert!(stored.eq(inside.into_iter().map(without_rev)));
        }
    }

    fn documents_agree(&self, reader: SpaceReader<'_>) {
        let without_times = |record: &DocumentRecord| DocumentRecord {
            modified_at: Timestamp::MIN,
            rev: 1,
            ..record.clone()
        };
        let stored: Vec<DocumentRecord> =
            self.documents.keys().map(|id| reader.document(*id).unwrap().unwrap()).collect();
        assert!(stored.iter().map(without_times).eq(self.documents.values().map(without_times)));
        assert_eq!(reader.inbox().unwrap().map(|record| record.id), self.inbox());
        for location in self.locations() {
            let found = stored.iter().filter(|record| record.location == location).count() as u64;
            assert_eq!(reader.location_count(location).unwrap(), found, "{location:?}");
        }
        for day in -3..4 {
            let day = Day::from_epoch_days(day);
            assert_eq!(
                reader.note_of(day).unwrap().map(|record| record.id),
                self.note_of(day),
                "{day}"
            );
        }
        for query in self.queries() {
            let expected = answer(&stored, &query);
            assert_eq!(pages(reader, &query, usize::MAX), expected, "{query:?}");
            assert_eq!(pages(reader, &query, 2), expected, "{query:?}");
        }
    }

    fn locations(&self) -> Vec<Location> {
        let built_in = [
            Location::Unsorted,
            Location::Templates,
            Location::DailyNotes,
            Location::Trash,
            Location::Inbox,
        ];
        built_in.into_iter().chain(self.folders.keys().copied().map(Location::Folder)).collect()
    }

    fn queries(&self) -> Vec<DocumentQuery> {
        let folders: Vec<FolderId> = self.folders.keys().copied().collect();
        let mut places = vec![Within::All, Within::Folders(folders)];
        places.extend(self.locations().into_iter().map(Within::Location));
        let orders = [IndexOrder::Id, IndexOrder::Created, IndexOrder::Modified, IndexOrder::Day];
        let of_place = places.iter().enumerate().flat_map(|(number, within)| {
            let (order, descending) = (orders[number % 4], number % 3 == 0);
            let plain = DocumentQuery {
                within: within.clone(),
                order,
                descending,
                ..DocumentQuery::default()
            };
            let days =
                Span { from: Some(Day::from_epoch_days(-1)), to: Some(Day::from_epoch_days(1)) };
            let of_days =
                DocumentQuery { day: days, order: orders[(number + 1) % 4], ..plain.clone() };
            [plain, of_days]
        });
        of_place.collect()
    }

    fn tasks_agree(&self, reader: SpaceReader<'_>) {
        let tasks = self.tasks();
        let unlisted = [Location::Trash, Location::Templates];
        let shown =
            || tasks.iter().filter(|(_, _, document)| !unlisted.contains(&document.location));
        let mut open: Vec<_> = shown()
            .filter(|(_, task, _)| task.state == TaskState::Todo)
            .filter_map(|(block, task, _)| {
                Some((task.schedule_date.or(task.deadline_date)?, *block))
            })
            .collect();
        open.sort_unstable();
        let day = |number| Some(Day::from_epoch_days(number));
        for span in
            [Span::default(), Span { from: day(-1), to: day(1) }, Span { from: None, to: day(0) }]
        {
            let expected: Vec<_> = open
                .iter()
                .filter(|(day, _)| span.contains(*day))
                .map(|(_, block)| *block)
                .collect();
            for limit in [3, usize::MAX] {
                let found = paged(|cursor| {
                    let page = reader.open_tasks(span, cursor, limit).unwrap();
                    assert!(page.next.is_none() || page.tasks.len() == limit);
                    (page.tasks, page.next)
                });
                assert_eq!(self.listed(reader, &found), expected);
            }
        }
        let mut closed: Vec<_> = shown()
            .filter(|(_, task, _)| task.state != TaskState::Todo)
            .map(|(block, task, _)| {
                (task.completed_at.or(task.canceled_at).unwrap_or(Timestamp::MIN), *block)
            })
            .collect();
        closed.sort_unstable_by(|a, b| b.cmp(a));
        let found = paged(|cursor| {
            let page = reader.logbook(cursor, 2).unwrap();
            (page.tasks, page.next)
        });
        let closed: Vec<_> = closed.into_iter().map(|(_, block)| block).collect();
        assert_eq!(self.listed(reader, &found), closed);
        for document in self.documents.keys() {
            let in_order = self.subtree(document.root(), usize::MAX).0;
            let tasks =
                in_order.iter().filter_map(|node| Some((node.block.id, node.block.data.task?)));
            let (all, open): (Vec<_>, Vec<_>) = (
                tasks.clone().collect(),
                tasks.filter(|(_, task)| task.state == TaskState::Todo).collect(),
            );
            for (tasks, open_only) in [(all, false), (open, true)] {
                let expected: Vec<_> = tasks.into_iter().map(|(block, _)| block).collect();
                assert_eq!(reader.tasks_of(*document, open_only).unwrap(), expected);
                let ids = || DocumentTasks::Ids(expected.clone());
                let blocks = reader.task_blocks(*document, ids(), 0..expected.len()).unwrap();
                assert!(blocks.iter().map(|block| block.id).eq(expected.iter().copied()));
                // A page of half of the tasks or more decodes all of them.
                let half = expected.len().div_ceil(2);
                for limit in [0, half.saturating_sub(1), half, usize::MAX] {
                    let are_decoded = in_order.len() <= 256 || limit >= half;
                    let tasks =
                        if are_decoded { DocumentTasks::Blocks(blocks.clone()) } else { ids() };
                    assert_eq!(tasks.ids(), expected);
                    let found = reader.document_tasks(*document, open_only, limit).unwrap();
                    assert!(found == tasks, "{limit} of {} blocks", in_order.len());
                    let page = half.min(1)..half;
                    let listed = reader.task_blocks(*document, found, page.clone()).unwrap();
                    assert_eq!(listed, blocks[page]);
                }
            }
        }
    }

    /// The IDs of listed tasks, which are in step with their blocks and documents.
    fn listed(&self, reader: SpaceReader<'_>, rows: &[TaskRow]) -> Vec<BlockId> {
        for TaskRow { block, location } in rows {
            assert_eq!(reader.block(block.id).unwrap().as_ref(), Some(block));
            let document = reader.locate(block.id).unwrap().unwrap().document;
            assert_eq!(*location, task_location(&self.documents[&document]));
        }
        rows.iter().map(|row| row.block.id).collect()
    }

    /// The tags of each document, with the blocks and forms of each.
    fn tags(&self) -> BTreeMap<DocumentId, BTreeMap<(String, BlockId), String>> {
        let mut tags: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
        for block in self.blocks.values() {
            let of_document = tags.entry(self.standing[&block.id].0).or_default();
            extract_tags(&block.data, &mut |form| {
                let key = (form.to_lowercase(), block.id);
                of_document.entry(key).or_insert_with(|| form.to_owned());
            });
        }
        tags
    }

    fn tags_agree(&self, reader: SpaceReader<'_>) {
        let mut documents: BTreeMap<String, Vec<DocumentId>> = BTreeMap::new();
        let mut forms: BTreeMap<String, String> = BTreeMap::new();
        for (document, tags) in self.tags() {
            let tagged = |((tag, block), form): (&(String, BlockId), &String)| TaggedBlock {
                tag: tag.clone(),
                block: *block,
                form: form.clone(),
            };
            let expected: Vec<_> = tags.iter().map(tagged).collect();
            assert_eq!(reader.tags_in(document).unwrap(), expected);
            for ((tag, _), form) in &tags {
                let of_tag: Vec<_> =
                    expected.iter().filter(|other| other.tag == *tag).cloned().collect();
                assert_eq!(reader.blocks_tagged(document, tag).unwrap(), of_tag);
                let is_hidden = self.documents[&document].location == Location::Inbox;
                assert_eq!(reader.is_tagged(document, tag).unwrap(), !is_hidden);
                if !is_hidden {
                    documents.entry(tag.clone()).or_default().push(document);
                    forms.entry(tag.clone()).or_insert_with(|| form.clone());
                }
            }
        }
        let mut counted = vec![];
        for (tag, mut documents) in documents {
            documents.dedup();
            assert_eq!(reader.documents_tagged(&tag).unwrap(), documents);
            let is_counted = |id: &&DocumentId| self.documents[id].location != Location::Trash;
            let count = documents.iter().filter(is_counted).count() as u64;
            if count > 0 {
                let form = forms[&tag].clone();
                counted.push(CountedTag { tag, form, documents: count });
            }
        }
        let of = |prefix: &str, after, limit| reader.counted_tags(prefix, after, limit).unwrap();
        assert_eq!(of("", None, usize::MAX), counted);
        let begin: Vec<_> =
            counted.iter().filter(|tag| tag.tag.starts_with('a')).cloned().collect();
        assert_eq!(of("a", None, usize::MAX), begin);
        if let [first, rest @ ..] = counted.as_slice() {
            assert_eq!(of("", Some(&first.tag), 1), rest[..rest.len().min(1)]);
            assert_eq!(of("", None, 1), counted[..1]);
        }
    }

    /// Comments and files.
    fn dependent_rows_agree(&self, reader: SpaceReader<'_>) {
        for document in self.documents.keys() {
            let of_document =
                self.comments.iter().filter(|((block, _), _)| self.standing[block].0 == *document);
            let mut expected: Vec<_> =
                of_document.map(|((block, _), comment)| (*block, comment.clone())).collect();
            expected.sort_by_key(|(block, comment)| (*block, comment.created_at, comment.id));
            assert_eq!(reader.comments_in(*document).unwrap(), expected);
            for (block, comment) in &expected {
                assert_eq!(reader.block_of_comment(comment.id).unwrap(), Some(*block));
                let found = reader.comment(*document, *block, comment.id).unwrap();
                assert_eq!(found.as_ref(), Some(comment));
            }
            assert_eq!(reader.may_have_comments(*document), !expected.is_empty());
            let (asked, _): (Vec<_>, Vec<_>) =
                self.blocks.keys().partition(|block| block.to_bytes()[15] % 3 > 0);
            let among = expected.iter().filter(|(block, _)| asked.contains(block)).cloned();
            assert_eq!(
                reader.comments_among(*document, &asked).unwrap(),
                among.collect::<Vec<_>>()
            );
            for (block, _) in &expected {
                let on_block = expected
                    .iter()
                    .filter(|(other, _)| other == block)
                    .map(|(_, comment)| comment.clone());
                assert_eq!(
                    reader.comments_on(*document, *block).unwrap(),
                    on_block.collect::<Vec<_>>()
                );
            }
        }
        for (id, record) in &self.assets {
            assert_eq!(reader.asset(*id).unwrap().as_ref(), Some(record));
            let mut stored = vec![];
            for number in 0.. {
                let Some(chunk) = reader.chunk(*id, number).unwrap() else { break };
                assert!(stored.len().is_multiple_of(CHUNK_BYTES));
                stored.extend(chunk);
            }
            assert!(stored == bytes_of(record));
        }
        assert_eq!(reader.uploads().unwrap(), []);
    }
}

/// The matches of `query` among `records`, by brute force.
pub fn answer(records: &[DocumentRecord], query: &DocumentQuery) -> Vec<DocumentRecord> {
    let is_within = |location| match &query.within {
        _ if location == Location::Inbox => false,
        Within::All => true,
        Within::Location(place) => *place == location,
        Within::Folders(folders) => {
            folders.iter().any(|folder| Location::Folder(*folder) == location)
        }
    };
    let is_of_day = |day: Option<Day>| match day {
        Some(day) => query.day.contains(day),
        None => query.day == Span::default() && query.order != IndexOrder::Day,
    };
    let mut found: Vec<_> = records
        .iter()
        .filter(|record| is_within(record.location) && is_of_day(record.day))
        .filter(|record| {
            query.created.contains(record.created_at) && query.modified.contains(record.modified_at)
        })
        .cloned()
        .collect();
    found.sort_by_key(|record| match query.order {
        IndexOrder::Id => (0, false, record.id),
        IndexOrder::Created => (record.created_at.as_millis(), false, record.id),
        IndexOrder::Modified => (record.modified_at.as_millis(), false, record.id),
        IndexOrder::Day => {
            (record.day.unwrap().epoch_days(), record.location == Location::Trash, record.id)
        }
    });
    if query.descending {
        found.reverse();
    }
    found
}

/// All matches of `query`, in pages.
pub fn pages(reader: SpaceReader<'_>, query: &DocumentQuery, limit: usize) -> Vec<DocumentRecord> {
    paged(|cursor| {
        let page = reader.find_documents(query, cursor, limit).unwrap();
        assert!(page.documents.len() <= limit);
        assert!(page.next.is_none() || page.documents.len() == limit);
        (page.documents.into_iter().map(|row| row.record).collect(), page.next)
    })
}

/// All pages in order. Only the first may be empty: `next` is exact.
fn paged<T>(mut page: impl FnMut(Option<&PageCursor>) -> (Vec<T>, Option<PageCursor>)) -> Vec<T> {
    let (mut all, mut cursor) = (vec![], None);
    loop {
        let (found, next) = page(cursor.as_ref());
        assert!(cursor.is_none() || !found.is_empty());
        all.extend(found);
        let Some(next) = next else { return all };
        cursor = Some(PageCursor::from_bytes(next.as_bytes()));
    }
}

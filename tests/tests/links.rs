//! Links followed backwards: tables of spaces in one notation, and random spaces whose links a
//! naive model finds by reading every block.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use leafbase::{
    AccessScope, BackLinks, Batch, Block, BlockId, BlockPatch, Connection, Day, DeleteBlocks,
    DeleteDocuments, DocumentId, ErrorKind, Fetch, FindDocuments, Link, MoveBlocks, MoveDocuments,
    PlainText, Position, Scoped, Space, TitleMention, UnlinkedMentions, UpdateBlocks,
};
use leafbase_test_outline::{Numbers, SequentialIds};
use tests::model::sequences::sequences;

/// Documents of a space: a line for each, `title: block, page/block`, where `block>a b` links to a
/// and b; and `-title` for one in the trash.
const SPACE: &str = "
    A: one>B, two>inner B B, page, page/below>page B, self>self A
    B: first>A, page2>one, page2/inner>first below
    -C: gone>B inner one
    D: last>B last";

/// A target, with `itself` for the target without the blocks below it, and the links to it.
const BACK_LINKS: &Rows = &[
    ("B itself", "one>B two>B below>B last>B"),
    ("B", "one>B two>B below>B last>B two>inner"),
    ("inner", "two>inner"),
    ("page2", "two>inner"),
    ("page2 itself", ""),
    ("page", "inner>below"),
    ("page itself", "below>page"),
    ("A itself", "self>A first>A"),
    ("A", "first>A page2>one inner>below"),
    ("one", "page2>one"),
    ("self", ""),
    ("last", ""),
    ("C", ""),
    ("D", ""),
    ("gone", ""),
];

/// Targets, and the links to them.
type Rows = [(&'static str, &'static str)];

struct Shelf {
    notes: Connection,
    names: BTreeMap<String, BlockId>,
}

impl Shelf {
    fn new(documents: &str) -> Self {
        let space = Space::builder().ids(SequentialIds::new(1)).in_memory().unwrap();
        let mut shelf = Self { notes: space.connect(), names: BTreeMap::new() };
        let documents: Vec<(&str, &str)> =
            documents.lines().filter_map(|line| line.trim().split_once(": ")).collect();
        // Titles first, then blocks, so that IDs are in the order of the lines.
        for (title, _) in &documents {
            let title = title.trim_start_matches('-');
            let id = shelf.notes.create_document(title).unwrap().id();
            shelf.names.insert(title.to_owned(), id.root());
        }
        for (title, blocks) in &documents {
            for block in blocks.split(", ") {
                let path = block.split('>').next().unwrap();
                let path = format!("{}/{path}", title.trim_start_matches('-'));
                let (parents, name) = path.rsplit_once('/').unwrap();
                let parent = shelf.id(parents.rsplit('/').next().unwrap());
                let made = shelf.notes.insert_markdown(name, Position::end_of(parent)).unwrap();
                shelf.names.insert(name.to_owned(), made[0].id);
            }
        }
        for block in documents.iter().flat_map(|(_, blocks)| blocks.split(", ")) {
            if let Some((path, targets)) = block.split_once('>') {
                let name = path.rsplit('/').next().unwrap();
                let link = |target: &str| format!("[x](block://{})", shelf.id(target));
                let links: Vec<String> = targets.split(' ').map(link).collect();
                let text = format!("{name} {}", links.join(" "));
                shelf.notes.update_markdown(shelf.id(name), &text).unwrap();
            }
        }
        for (title, _) in documents {
            if let Some(title) = title.strip_prefix('-') {
                shelf.notes.delete_documents(DocumentId::of_root(shelf.id(title))).unwrap();
            }
        }
        shelf
    }

    fn id(&self, name: &str) -> BlockId {
        *self.names.get(name).unwrap_or_else(|| panic!("no block {name}"))
    }

    fn request(&self, target: &str) -> BackLinks {
        match target.strip_suffix(" itself") {
            Some(target) => BackLinks::to(self.id(target)).only_itself(),
            None => BackLinks::to(self.id(target)),
        }
    }

    fn shown(&self, links: &[Link]) -> String {
        let name = |id: BlockId| {
            let found = self.names.iter().find(|(_, known)| **known == id);
            found.map_or("?", |(name, _)| name.as_str())
        };
        let line = |link: &Link| {
            assert!(link.markdown.starts_with(name(link.block_id)), "{link:?}");
            format!("{}>{}", name(link.block_id), name(link.target_block_id.unwrap_or_default()))
        };
        links.iter().map(line).collect::<Vec<_>>().join(" ")
    }
}

/// What is wrong with a row, on a connection.
fn fault<A: AccessScope>(
    shelf: &Shelf,
    notes: &Connection<A>,
    target: &str,
    expected: &str,
) -> Option<String> {
    let request = shelf.request(target);
    let all = notes.back_links(request.clone()).unwrap();
    let found = shelf.shown(&all);
    for limit in 1..=all.len() + 1 {
        assert_eq!(joined(notes, &request, limit), all.items, "{target} by {limit}");
    }
    (found != expected).then(|| format!("{target}: {found:?} and not {expected:?}"))
}

/// The pages of a list, joined. Each but the last is full.
fn joined<A: AccessScope>(notes: &Connection<A>, request: &BackLinks, limit: usize) -> Vec<Link> {
    let (mut links, mut next) = (Vec::new(), request.clone().limit(limit));
    loop {
        let page = notes.back_links(next).unwrap();
        let is_full = page.len() == limit;
        links.extend(page.items);
        let Some(cursor) = page.next_cursor else { return links };
        assert!(is_full, "a page with another one after it is full");
        next = request.clone().limit(limit).after(cursor);
    }
}

#[test]
fn back_links_of_blocks_pages_and_documents() {
    let shelf = Shelf::new(SPACE);
    let faults: Vec<_> = BACK_LINKS
        .iter()
        .filter_map(|(id, links)| fault(&shelf, &shelf.notes, id, links))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The control: a row that says something else is reported.
#[test]
fn a_wrong_row_is_reported() {
    let shelf = Shelf::new(SPACE);
    assert!(fault(&shelf, &shelf.notes, "inner", "").is_some());
    assert!(fault(&shelf, &shelf.notes, "inner", "two>inner gone>inner").is_some());
}

/// A guest is answered as if the rest did not exist: links from there take no place on a page.
#[test]
fn guests_see_the_links_between_what_they_see() {
    let shelf = Shelf::new(SPACE);
    let space = shelf.notes.space();
    let document = |name| DocumentId::of_root(shelf.id(name));
    let rows: &[(Connection<Scoped>, &Rows)] = &[
        (
            space.scoped([document("B"), document("D"), document("C")]),
            &[("B", "last>B"), ("page2", ""), ("first", "inner>first"), ("D", "")],
        ),
        (
            space.page_scope([shelf.id("page")]).connect(),
            &[("page", ""), ("page itself", "below>page"), ("below", "")],
        ),
        (
            space.page_scope([shelf.id("page"), shelf.id("page2")]).connect(),
            &[("page", "inner>below"), ("below", "inner>below"), ("page2", "")],
        ),
    ];
    for (guest, rows) in rows {
        let faults: Vec<_> =
            rows.iter().filter_map(|(id, links)| fault(&shelf, guest, id, links)).collect();
        assert!(faults.is_empty(), "{}", faults.join("\n"));
        for hidden in ["A", "one", "gone", "C"] {
            let error = guest.back_links(BackLinks::to(shelf.id(hidden))).unwrap_err();
            assert_eq!((error.kind(), error.path()), (ErrorKind::NotFound, "id"), "{hidden}");
        }
    }
    let page = rows[2].0.back_links(shelf.id("page")).unwrap();
    let [link] = page.items.as_slice() else { panic!("{page:?}") };
    assert_eq!(link.document_id.root(), shelf.id("page2"));
    assert_eq!(link.target_document_id.map(DocumentId::root), Some(shelf.id("page")));
    assert!(link.markdown.contains("invalid:out_of_scope#1)"), "{}", link.markdown);
    assert!(!link.markdown.contains(&shelf.id("first").to_string()), "{}", link.markdown);
}

#[test]
fn links_to_a_day_are_links_to_its_note() {
    let notes = Space::in_memory().unwrap().connect();
    let day: Day = "2026-03-01".parse().unwrap();
    let line = notes.insert_markdown("a note", Position::end_of_day(day)).unwrap()[0].id;
    let note = notes.fetch(Fetch::day(day)).unwrap().id;
    let diary = notes.create_document("Diary").unwrap().id();
    let text = format!("[a](date://{day})\n\n[b](block://{line})\n\n[c](block://{note})");
    let made = notes.insert_markdown(&text, diary).unwrap();
    let [by_day, by_line, by_note] = [0, 1, 2].map(|index: usize| made[index].id);
    let found = |request: BackLinks| -> Vec<BlockId> {
        let all = notes.back_links(request.clone()).unwrap();
        assert!(all.iter().all(|link| link.target_document_id.map(DocumentId::root) == Some(note)));
        assert_eq!(joined(&notes, &request, 1), all.items);
        all.iter().map(|link| link.block_id).collect()
    };
    let within: BTreeSet<BlockId> = found(BackLinks::to(note)).into_iter().collect();
    assert_eq!(within, BTreeSet::from([by_day, by_line, by_note]));
    assert_eq!(found(BackLinks::to(note).only_itself()), [by_note, by_day]);
    assert_eq!(found(BackLinks::to(line)), [by_line]);
}

/// A cursor stays valid while links come and go, and is one of its target alone.
#[test]
fn cursors_are_positions() {
    let shelf = Shelf::new(SPACE);
    let (notes, target) = (&shelf.notes, shelf.id("B"));
    let first = notes.back_links(BackLinks::to(target).limit(2)).unwrap();
    let cursor = first.next_cursor.clone().unwrap();
    notes.delete_blocks(DeleteBlocks::new([first[0].block_id, first[1].block_id])).unwrap();
    let rest = notes.back_links(BackLinks::to(target).after(&cursor)).unwrap();
    assert_eq!(shelf.shown(&rest), "below>B last>B");

    let id = target.to_string();
    let wrong = [
        (shelf.id("A"), cursor.clone()),
        (target, String::new()),
        (target, "é".repeat(40)),
        (target, format!("l{id}")),
        (target, format!("l{id}{id}")),
        (target, format!("l{id}{id}{id}{id}")),
        (target, format!("l{id}{id}2026-02-30")),
    ];
    for (target, cursor) in wrong {
        let error = notes.back_links(BackLinks::to(target).after(&cursor)).unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::Validation, "cursor"), "{cursor}");
    }
    let error = notes.back_links(BackLinks::to(target).limit(0)).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Validation, "limit"));
    let error = notes.back_links(BlockId::NIL).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::NotFound, "id"));
}

/// Programs of the property.
fn programs() -> u32 {
    tests::cases(400, 20_000)
}

/// Titles of documents, of which the first is hidden from guests: then a name leads to one alone.
const TITLES: [&str; 4] = ["Title 1", "title 1", "Title 2", "Title 3"];

/// A space that changes at random.
struct Scene<'a, 'n> {
    numbers: &'a mut Numbers<'n>,
    notes: Connection,
    documents: Vec<DocumentId>,
    blocks: Vec<BlockId>,
}

impl Scene<'_, '_> {
    fn block(&mut self) -> BlockId {
        self.blocks[self.numbers.below(self.blocks.len())]
    }

    fn text(&mut self) -> String {
        let links = (0..self.numbers.below(4)).map(|_| match self.numbers.below(3) {
            0 => format!("[[{}#y|x]]", TITLES[self.numbers.below(TITLES.len())].to_uppercase()),
            _ => format!("[x](block://{})", self.block()),
        });
        links.collect::<Vec<_>>().join(" and ") + " text"
    }

    /// One write; those that the rules refuse change nothing.
    fn change(&mut self) {
        let (block, other, text) = (self.block(), self.block(), self.text());
        let document = self.documents[self.numbers.below(self.documents.len())];
        match self.numbers.below(9) {
            0..=3 => drop(self.notes.update_markdown(block, &text)),
            4 | 5 => {
                if let Ok(made) = self.notes.insert_markdown(&text, Position::end_of(block)) {
                    self.blocks.extend(made.iter().map(|block| block.id));
                }
            }
            6 => drop(self.notes.move_blocks(MoveBlocks::new([block], Position::end_of(other)))),
            7 if self.numbers.once_in(3) => drop(self.notes.delete_documents(document)),
            _ if self.numbers.once_in(3) => {
                drop(self.notes.delete_blocks(DeleteBlocks::new([block])));
            }
            // Several writes of one transaction keep the edges as one write does.
            _ => {
                let update = UpdateBlocks::new([BlockPatch::markdown(block, &text)]);
                let batch = Batch::default().then("update_blocks", &update);
                let batch = batch.and_then(|batch| batch.then("update_blocks", &update));
                drop(self.notes.run_batch(batch.unwrap()));
            }
        }
    }
}

/// A block and all below it, and the text of each.
fn texts(block: &Block) -> Vec<(BlockId, String)> {
    let (mut found, mut waiting) = (Vec::new(), vec![block]);
    while let Some(block) = waiting.pop() {
        found.push((block.id, block.data.inline.clone()));
        waiting.extend(block.children());
    }
    found
}

/// The naive model of back links: target and linking block of each, by the texts of these
/// documents. `counts_inner` is a fault for controls.
fn naive<A: AccessScope>(
    notes: &Connection<A>,
    documents: &[DocumentId],
    request: &BackLinks,
    counts_inner: bool,
) -> Vec<(BlockId, BlockId)> {
    let mut targets: Vec<_> = texts(&notes.fetch(Fetch::new(request.id)).unwrap());
    targets.truncate(if request.within { usize::MAX } else { 1 });
    let targets: BTreeSet<BlockId> = targets.into_iter().map(|(id, _)| id).collect();
    let titles: Vec<(BlockId, String)> = documents
        .iter()
        .map(|id| (id.root(), texts(&notes.fetch(Fetch::new(*id)).unwrap())[0].1.to_lowercase()))
        .collect();
    // A name leads to the document that alone has it as its title; only for one as a whole.
    let own = titles.iter().find(|(root, _)| *root == request.id);
    let own = own.filter(|(_, own)| titles.iter().filter(|(_, title)| title == own).count() == 1);
    let mut found = BTreeSet::new();
    for document in documents {
        for (source, text) in texts(&notes.fetch(Fetch::new(*document)).unwrap()) {
            let mut names = text.split("[[").skip(1).filter_map(|rest| rest.split_once("]]"));
            if let Some((root, title)) = own
                && names.any(|(name, _)| name.trim_end_matches("#y|x").to_lowercase() == *title)
                && (counts_inner || !targets.contains(&source))
            {
                found.insert((*root, source));
            }
            let links = text.match_indices("(block://").filter_map(|(at, scheme)| {
                let start = at + scheme.len();
                text.get(start..start + 26)?.parse::<BlockId>().ok()
            });
            if counts_inner || !targets.contains(&source) {
                found.extend(links.filter(|to| targets.contains(to)).map(|to| (to, source)));
            }
        }
    }
    found.into_iter().collect()
}

fn ends(links: &[Link]) -> Vec<(BlockId, BlockId)> {
    links.iter().map(|link| (link.target_block_id.unwrap(), link.block_id)).collect()
}

/// Runs a program and compares its back links with the naive model: on the full connection and as a
/// guest. Returns how many links there were; an error names the first difference.
fn run(numbers: &[u32], counts_inner: bool) -> Result<usize, String> {
    let mut numbers = Numbers::new(numbers);
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let documents: Vec<DocumentId> =
        TITLES.iter().map(|title| notes.create_document(title).unwrap().id()).collect();
    let blocks = documents.iter().map(|document| document.root()).collect();
    let mut scene =
        Scene { numbers: &mut numbers, notes: notes.clone(), documents: documents.clone(), blocks };
    for _ in 0..40 {
        scene.change();
    }
    let is_live =
        |id: &DocumentId| notes.document(*id).unwrap().record.location != leafbase::Location::Trash;
    let live: Vec<DocumentId> = documents.iter().copied().filter(is_live).collect();
    let shared: Vec<DocumentId> = live.iter().copied().skip(1).collect();
    let guest = space.scoped(shared.clone());
    let mut count = 0;
    for id in scene.blocks {
        for request in [BackLinks::to(id), BackLinks::to(id).only_itself()] {
            let Ok(all) = notes.back_links(request.clone()) else {
                assert!(notes.fetch(Fetch::new(id)).is_err(), "{id} is there");
                continue;
            };
            let expected = naive(&notes, &live, &request, counts_inner);
            if ends(&all) != expected {
                return Err(format!("{request:?}: {:?} and not {expected:?}", ends(&all)));
            }
            count += expected.len();
            for limit in 1..=expected.len() + 1 {
                assert_eq!(ends(&joined(&notes, &request, limit)), expected, "by {limit}");
            }
            match guest.back_links(request.clone()) {
                Ok(seen) => {
                    assert_eq!(ends(&seen), naive(&guest, &shared, &request, false));
                    assert_eq!(joined(&guest, &request, 1), seen.items);
                }
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::NotFound);
                    let document = notes.document_of(id).unwrap();
                    assert!(!shared.contains(&document), "{id} is seen");
                }
            }
        }
    }
    Ok(count)
}

#[test]
fn back_links_are_those_that_reading_everything_finds() {
    let count = Mutex::new(0);
    let kept = sequences(programs(), 600, |numbers| {
        *count.lock().unwrap() += run(numbers, false).unwrap();
    });
    kept.unwrap_or_else(|error| panic!("{error}"));
    let count = count.into_inner().unwrap();
    println!("{count} links in {} programs", programs());
    assert!(count > 10 * programs() as usize, "{count} links");
}

/// The control: a model that counts links between the targets differs.
#[test]
fn a_model_that_counts_inner_links_differs() {
    let faults = Mutex::new(0);
    let kept = sequences(20, 600, |numbers| {
        *faults.lock().unwrap() += u32::from(run(numbers, true).is_err());
    });
    kept.unwrap_or_else(|error| panic!("{error}"));
    assert!(faults.into_inner().unwrap() > 10);
}

/// The links of Trip by its wiki links, and what Lisbon is called by them.
#[test]
fn a_name_is_a_link_once_one_document_has_it() {
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let trip = notes.create_document("Trip").unwrap().id();
    let line = notes.insert_markdown("to [[Later#Part|there]] and [[later]]", trip).unwrap()[0].id;
    let embed = notes.insert_markdown("![[Travel/Later.md]]", trip).unwrap()[0].id;
    let before = notes.fetch(Fetch::new(line).with_metadata()).unwrap();
    let links = || -> Vec<(BlockId, Option<DocumentId>)> {
        let links = notes.document_links(trip).unwrap().links;
        links.iter().map(|link| (link.block_id, link.target_document_id)).collect()
    };
    let sources = |id: DocumentId| -> BTreeSet<BlockId> {
        let links = notes.back_links(id).unwrap();
        let both = notes.document_links(id).unwrap().back_links;
        let ids = |links: &[Link]| -> BTreeSet<BlockId> {
            links.iter().map(|link| link.block_id).collect()
        };
        assert_eq!(both.len(), links.len());
        assert_eq!(ids(&both), ids(&links));
        ids(&links)
    };
    let set = BTreeSet::from_iter::<Vec<BlockId>>;
    assert_eq!(links(), []);
    let folder = notes.create_folder("Travel", None).unwrap().id;
    let later = notes.create_document("Later").unwrap().id();
    assert_eq!((links(), sources(later)), (vec![(line, Some(later))], set(vec![line])));
    notes.move_documents(MoveDocuments::new([later], folder)).unwrap();
    assert_eq!(links(), [(line, Some(later)), (embed, Some(later))]);
    assert_eq!(sources(later), set(vec![line, embed]));
    assert_eq!(notes.back_links(BackLinks::to(later).limit(1)).unwrap().len(), 1);
    // The text stays as it is, and so does its revision.
    assert_eq!(notes.fetch(Fetch::new(line).with_metadata()).unwrap(), before);
    // A second document of the title: the name leads to neither, but the path does to one.
    let second = notes.create_document("LATER").unwrap().id();
    assert_eq!((links(), sources(second)), (vec![(embed, Some(later))], set(vec![])));
    // To a guest a hidden document is none.
    let guest = space.scoped([trip, second]);
    let seen: Vec<_> = guest.back_links(second).unwrap().iter().map(|it| it.block_id).collect();
    assert_eq!(seen, [line]);
    let guest = space.scoped([trip, later, second]);
    assert!(guest.back_links(second).unwrap().is_empty());
    notes.delete_documents(second).unwrap();
    assert_eq!(sources(later), set(vec![line, embed]));
    notes.update_markdown(later.root(), "Sooner").unwrap();
    assert_eq!((links(), sources(later)), (vec![], set(vec![])));
    // An alias in front matter, for as long as no title is the same.
    let front = leafbase::BlockData::new(leafbase::BlockKind::Code {
        raw_code: "aliases: [Later, \"2026\"]".to_owned(),
        language: leafbase::CodeLanguage::Yaml,
        language_tag: "yaml frontmatter".to_owned(),
    });
    let request = leafbase::InsertBlocks::blocks(vec![front.into()], later);
    notes.insert_blocks(request).unwrap();
    assert_eq!((links(), sources(later)), (vec![(line, Some(later))], set(vec![line])));
    let found = notes.find_documents(FindDocuments::named("LATER")).unwrap();
    assert_eq!(found[0].id(), later);
    let guest = space.scoped([trip, later]);
    assert_eq!(guest.back_links(later).unwrap().len(), 1);
    assert_eq!(guest.find_documents(FindDocuments::named("later")).unwrap()[0].id, later);
    // A day.
    let diary = notes.insert_markdown("[[2026-03-01]] `[[Trip]]` [[Trip]]", later).unwrap()[0].id;
    let day: Day = "2026-03-01".parse().unwrap();
    notes.insert_markdown("a note", Position::end_of_day(day)).unwrap();
    let note = notes.fetch(Fetch::day(day)).unwrap().id;
    assert_eq!(
        (sources(DocumentId::of_root(note)), sources(trip)),
        (set(vec![diary]), set(vec![diary]))
    );
    // The note of the day comes before an alias, on a scope as well.
    let front = leafbase::BlockData::new(leafbase::BlockKind::Code {
        raw_code: "aliases: [2026-03-01]".to_owned(),
        language: leafbase::CodeLanguage::Yaml,
        language_tag: "yaml frontmatter".to_owned(),
    });
    let start = Position::start_of(trip);
    notes.insert_blocks(leafbase::InsertBlocks::blocks(vec![front.into()], start)).unwrap();
    let note = DocumentId::of_root(note);
    let guest = space.scoped([trip, later, note]);
    assert_eq!(sources(note), set(vec![diary]));
    assert_eq!(guest.back_links(note).unwrap()[0].block_id, diary);
    let found = guest.find_documents(FindDocuments::named("2026-03-01")).unwrap();
    assert_eq!(found.iter().map(|document| document.id).collect::<Vec<_>>(), [note]);
    assert!(space.check().unwrap().is_clean());
}

/// A document's back links are those of its list of links both ways.
#[test]
fn the_links_of_a_document_are_the_same() {
    let shelf = Shelf::new(SPACE);
    for title in ["A", "B", "C", "D"] {
        let document = DocumentId::of_root(shelf.id(title));
        let mut links = shelf.notes.document_links(document).unwrap().back_links;
        links.sort_by_key(|link| (link.target_block_id, link.block_id));
        assert_eq!(links, shelf.notes.back_links(document).unwrap().items, "{title}");
    }
}

/// A title, a text in another document, and what of it is a mention.
const MENTIONS: &[(&str, &str, &[&str])] = &[
    ("Lisbon", "to Lisbon, LISBON and lisbon.", &["Lisbon", "LISBON", "lisbon"]),
    ("Lisbon", "Lisbonense, OldLisbon, Lisbon2, Lisbon's", &["Lisbon"]),
    ("Lisbon", "Li**sbon** and *Lisbon*", &["Lisbon", "Lisbon"]),
    ("Lisbon", "[Lisbon](block://ID) and [to Lisbon](https://x.org) and Lisbon", &["Lisbon"]),
    ("Lisbon", "![Lisbon](https://x.org/a.png)", &[]),
    ("Lisbon", "[[Lisbon]], [[Porto|to Lisbon]] and `Lisbon`", &["Lisbon"]),
    ("Lisbon", "![[Lisbon#Alfama]] *Lisbon*, \\[[Lisbon]]", &["Lisbon", "Lisbon"]),
    ("Lisbon", "<highlight color=\"yellow\">Lisbon</highlight>", &["Lisbon"]),
    ("A (b)* [c]", "a \\(b)\\* \\[c\\]", &["a (b)* [c]"]),
    ("C++", "C++ and c++11, C+", &["C++", "c++"]),
    ("東京", "私は東京に住む", &["東京"]),
    ("Élan vital", "élan vital, ÉLAN VITAL, élan  vital", &["élan vital", "ÉLAN VITAL"]),
    ("**Bold** move", "a bold move", &["bold move"]),
    ("Lis &amp; bon", "Lis & bon", &["Lis & bon"]),
    ("a", "a b A", &["a", "A"]),
    ("Lisbon", "# Lisbon", &["Lisbon"]),
    ("Lisbon", "- [ ] Lisbon", &["Lisbon"]),
    ("Lisbon", "```\nLisbon\n```", &[]),
    ("Lisbon", "| a |\n|---|\n| Lisbon |", &[]),
    (" ", "Lisbon", &[]),
];

#[test]
fn a_title_is_mentioned_in_words_of_its_own() {
    for (title, text, expected) in MENTIONS {
        let space = Space::in_memory().unwrap();
        let notes = space.connect();
        let [target, trip] =
            [*title, "Trip"].map(|title| notes.create_document(title).unwrap().id());
        notes.insert_markdown("Lisbon, A (b)* [c] itself", target).unwrap();
        let made = notes.insert_markdown(&text.replace("ID", &target.to_string()), trip).unwrap();
        let guest = space.scoped([target, trip]);
        let found = notes.unlinked_mentions(target).unwrap();
        assert_eq!(found.items, guest.unlinked_mentions(target).unwrap().items, "{title}: {text}");
        let plain = PlainText::of(&made[0].data.inline).into_string();
        let said: Vec<&str> = found
            .iter()
            .flat_map(|mention| {
                assert_eq!((mention.document_id, mention.block_id), (trip, made[0].id));
                mention.ranges.iter().map(|range| &plain[range.clone()])
            })
            .collect();
        assert_eq!(&said, expected, "{title}: {text}");
    }
}

/// No pattern may be as long as the longest titles. An alias is looked for all the same.
#[test]
fn a_title_that_is_too_long_to_look_for_has_no_mentions() {
    let rows = [("東", 1_000, 0), ("東", 333, 1), ("x", 1_000, 0), ("x", 950, 1)];
    for (letter, count, mentions) in rows {
        let notes = Space::in_memory().unwrap().connect();
        let (title, trip) = (letter.repeat(count), notes.create_document("Trip").unwrap().id());
        let target = notes.create_document(&title).unwrap().id();
        notes.insert_markdown(&title, trip).unwrap();
        let found = || notes.unlinked_mentions(target).unwrap().len();
        assert_eq!(found(), mentions, "{count} of {letter}");
        let front = leafbase::BlockData::new(leafbase::BlockKind::Code {
            raw_code: "aliases: [Lisbon]".to_owned(),
            language: leafbase::CodeLanguage::Yaml,
            language_tag: "yaml frontmatter".to_owned(),
        });
        notes.insert_blocks(leafbase::InsertBlocks::blocks(vec![front.into()], target)).unwrap();
        notes.insert_markdown("to Lisbon", trip).unwrap();
        // Of a shorter title there is no room for it in the pattern.
        assert_eq!(found(), 1, "{count} of {letter}");
    }
}

#[test]
fn mentions_come_in_pages_from_what_is_seen() {
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let [lisbon, trip, diary, old] = ["Lisbon", "Trip to Lisbon", "Diary", "Old"]
        .map(|title| notes.create_document(title).unwrap().id());
    let page = notes.insert_markdown("Alfama", lisbon).unwrap()[0].id;
    notes.insert_markdown("in Lisbon", Position::end_of(page)).unwrap();
    for document in [trip, diary, old] {
        notes.insert_markdown("lisbon\n\nAlfama\n\nLisbon, Lisbon", document).unwrap();
    }
    notes.delete_documents(DeleteDocuments::from(old)).unwrap();
    let all = notes.unlinked_mentions(lisbon).unwrap();
    // The title of the trip, and two lines in each of both.
    assert_eq!((all.len(), all.next_cursor.as_ref()), (5, None));
    let order = |mention: &TitleMention| (mention.document_id, mention.block_id);
    assert!(all.items.is_sorted_by_key(order));
    for limit in 1..=6 {
        let (mut joined, mut request) = (Vec::new(), UnlinkedMentions::of(lisbon).limit(limit));
        loop {
            let page = notes.unlinked_mentions(request.clone()).unwrap();
            assert!(page.len() <= limit);
            joined.extend(page.items);
            let Some(cursor) = page.next_cursor else { break };
            request = request.after(cursor);
        }
        assert_eq!(joined, all.items, "by {limit}");
    }
    // Of a page: outside of it, also in its document.
    notes.insert_markdown("to Alfama", lisbon).unwrap();
    assert_eq!(notes.unlinked_mentions(page).unwrap().len(), 3);
    // Guests of documents and pages.
    let guest = space.scoped([lisbon, diary]);
    assert_eq!(guest.unlinked_mentions(lisbon).unwrap().len(), 2);
    let guest = space.page_scope([page]);
    guest.add([diary]);
    let guest = guest.connect();
    assert_eq!(guest.unlinked_mentions(page).unwrap().len(), 1);
    assert_eq!(guest.unlinked_mentions(diary).unwrap().len(), 0);
    for (target, cursor, kind, path) in [
        (trip.root(), None, ErrorKind::NotFound, "id"),
        (BlockId::NIL, None, ErrorKind::NotFound, "id"),
        (page, Some("m"), ErrorKind::Validation, "cursor"),
    ] {
        let mut request = UnlinkedMentions::of(target);
        request.paging.cursor = cursor.map(str::to_owned);
        let error = guest.unlinked_mentions(request).unwrap_err();
        assert_eq!((error.kind(), error.path()), (kind, path));
    }
    let text = all[0].block_id;
    let error = notes.unlinked_mentions(text).map(drop);
    let is_title = text == trip.root();
    assert!(is_title || error.unwrap_err().kind() == ErrorKind::Validation);
}

//! Embeds resolved: rows of spaces in one notation, and random spaces whose graph of embeds has the
//! properties that a naive search finds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use leafbase::{
    AccessScope, BlockId, Connection, DocumentId, EmbedGraph, ErrorKind, Limits, ResolveEmbeds,
    Space,
};
use leafbase_test_outline::{Numbers, SequentialIds};
use tests::model::sequences::sequences;

/// Documents, `title: block / block` with `@title` for the ID of a document and `-title` for one in
/// the trash; the requested document, with the levels; its embeds, `root>name=target` or
/// `root>name?` with the number of candidates, and the cycle after `!`; and the targets.
const ROWS: &[(&str, &str, &str, &str)] = &[
    ("A: ![[B]] / b; B: text", "A", "A>B=B", "B"),
    ("A: ![[b]]; B: text", "A", "A>b=B", "B"),
    ("A: ![[ B | 300 ]]; B: text", "A", "A>B=B", "B"),
    ("A: - ![[B]]; B: text", "A", "A>B=B", "B"),
    ("A: ![x](block://@B); B: text", "A", "A>@B=B", "B"),
    ("A: - ![x](<block://@B>); B: text", "A", "A>@B=B", "B"),
    ("A: text", "A", "", ""),
    ("A: ![[A]]", "A", "A>A=A!A", ""),
    ("A: ![[B]]; B: ![[A]]", "A", "A>B=B B>A=A!A,B", "B"),
    ("A: ![[B]]; B: ![[C]]; C: ![[B]]", "A", "A>B=B B>C=C C>B=B!B,C", "B C"),
    ("A: ![[B]] / ![[C]]; B: ![[D]]; C: ![[D]]; D: x", "A", "A>B=B A>C=C B>D=D C>D=D", "B C D"),
    ("A: ![[B]] / ![[B]]; B: x", "A", "A>B=B A>B=B", "B"),
    ("A: ![[B]]; B: ![[C]]; C: ![[D]]; D: x", "A 0", "A>B=B", ""),
    ("A: ![[B]]; B: ![[C]]; C: ![[D]]; D: x", "A 1", "A>B=B B>C=C", "B"),
    ("A: ![[B]]; B: ![[C]]; C: ![[D]]; D: x", "A 2", "A>B=B B>C=C C>D=D", "B C"),
    ("A: ![[B]]; B: ![[A]]", "A 0", "A>B=B", ""),
    ("A: ![[None]]", "A", "A>None?0", ""),
    ("A: ![[B]]; B: x; b: y", "A", "A>B?2", ""),
    ("A: ![[B]]; B: x; -b: y", "A", "A>B=B", "B"),
    ("A: ![[B]] / ![x](block://@B); -B: x", "A", "A>B?0 A>@B?0", ""),
    ("A: ![[B#x]] / ![[#x]]; B: x", "A", "A>B#x?0 A>#x?0", ""),
    // No embeds.
    ("A: see ![[B]] / ![[B]] more / [[B]] / `![[B]]` / ![[]]; B: x", "A", "", ""),
    ("A: - [x](block://@B) / see ![x](block://@B); B: x", "A", "", ""),
    ("A: - ![x](block://@B) ![y](block://@B); B: x", "A", "", ""),
    ("A: - ![a] and ![x](block://@B); B: x", "A", "", ""),
    ("A: - ![x](block://@B) (more); B: x", "A", "", ""),
    ("A: - ![x](block://@B \"title\"); B: x", "A", "", ""),
    ("A: ![x](https://example.org/a.png) / ![x](date://2026-03-01)", "A", "", ""),
];

struct Shelf {
    notes: Connection,
    names: BTreeMap<BlockId, String>,
}

impl Shelf {
    fn new(documents: &str) -> Self {
        let space = Space::builder().ids(SequentialIds::new(1)).in_memory().unwrap();
        let mut shelf = Self { notes: space.connect(), names: BTreeMap::new() };
        let documents: Vec<(&str, &str)> =
            documents.split("; ").map(|document| document.split_once(": ").unwrap()).collect();
        for (title, _) in &documents {
            let title = title.trim_start_matches('-');
            let id = shelf.notes.create_document(title).unwrap().id();
            shelf.names.insert(id.root(), title.to_owned());
        }
        for (title, text) in &documents {
            let mut text = text.replace(" / ", "\n\n");
            for (id, name) in &shelf.names {
                text = text.replace(&format!("@{name}"), &id.to_string());
            }
            let document = shelf.id(title.trim_start_matches('-'));
            shelf.notes.insert_markdown(&text, document).unwrap();
        }
        for (title, _) in documents {
            if let Some(title) = title.strip_prefix('-') {
                shelf.notes.delete_documents(shelf.id(title)).unwrap();
            }
        }
        shelf
    }

    fn id(&self, title: &str) -> DocumentId {
        let found = self.names.iter().find(|(_, name)| *name == title);
        DocumentId::of_root(*found.unwrap_or_else(|| panic!("no document {title}")).0)
    }

    fn shown(&self, graph: &EmbedGraph) -> (String, String) {
        let name = |id: &BlockId| self.names.get(id).map_or("?", String::as_str);
        let names = |ids: &[BlockId]| ids.iter().map(name).collect::<Vec<_>>();
        let embeds = graph.embeds.iter().map(|embed| {
            let mut text = embed.name.replace("block://", "@");
            for (id, name) in &self.names {
                text = text.replace(&id.to_string(), name);
            }
            let target = match embed.target_id {
                Some(target) => format!("={}", name(&target)),
                None => format!("?{}", embed.candidates.len()),
            };
            let cycle = names(&embed.cycle).join(",");
            let mark = if cycle.is_empty() { "" } else { "!" };
            format!("{}>{text}{target}{mark}{cycle}", name(&embed.root_id))
        });
        let targets: Vec<BlockId> = graph.targets.iter().map(|target| target.id).collect();
        (embeds.collect::<Vec<_>>().join(" "), names(&targets).join(" "))
    }
}

fn request(shelf: &Shelf, text: &str) -> ResolveEmbeds {
    match text.split_once(' ') {
        Some((title, levels)) => ResolveEmbeds::of(shelf.id(title)).depth(levels.parse().unwrap()),
        None => ResolveEmbeds::of(shelf.id(text)),
    }
}

/// What is wrong with a row.
fn fault((documents, asked, embeds, targets): &(&str, &str, &str, &str)) -> Option<String> {
    let shelf = Shelf::new(documents);
    let graph = shelf.notes.resolve_embeds(request(&shelf, asked)).unwrap();
    let found = shelf.shown(&graph);
    (found != ((*embeds).to_owned(), (*targets).to_owned()))
        .then(|| format!("{documents}, {asked}: {found:?} and not {embeds:?} {targets:?}"))
}

#[test]
fn embeds_are_resolved_to_any_depth() {
    let faults: Vec<_> = ROWS.iter().filter_map(fault).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The control: a row that says something else is reported.
#[test]
fn a_wrong_row_is_reported() {
    assert!(fault(&("A: ![[B]]; B: x", "A", "A>B=B", "")).is_some());
    assert!(fault(&("A: ![[A]]", "A", "A>A=A", "")).is_some());
}

/// A block that embeds another one, within a page of the document that it shows.
#[test]
fn blocks_and_pages_are_embedded_as_well() {
    let shelf = Shelf::new("A: page; B: x / y");
    let page = shelf.notes.fetch(leafbase::Fetch::new(shelf.id("A"))).unwrap().children()[0].id;
    let line = shelf.notes.fetch(leafbase::Fetch::new(shelf.id("B"))).unwrap().children()[1].id;
    let text = format!("![x](block://{line})\n\n![x](block://{page})");
    let end = leafbase::Position::end_of(page);
    let made = shelf.notes.insert_markdown(&text, end).unwrap();
    let graph = shelf.notes.resolve_embeds(shelf.id("A")).unwrap();
    let roots: Vec<BlockId> = graph.targets.iter().map(|target| target.id).collect();
    assert_eq!(roots, [line, page]);
    assert_eq!(graph.targets[0].data.inline, "y");
    let cycles = graph.embeds.iter().map(|embed| (embed.root_id, embed.block_id, &embed.cycle));
    let (a, [one, two]) = (shelf.id("A").root(), [made[0].id, made[1].id]);
    let none = Vec::new();
    let expected = [(a, one, &none), (a, two, &none), (page, one, &none), (page, two, &vec![page])];
    assert_eq!(cycles.collect::<Vec<_>>(), expected);
    // A block that is an embed itself.
    let graph = shelf.notes.resolve_embeds(made[0].id).unwrap();
    assert_eq!((graph.embeds.len(), graph.targets[0].id), (1, line));
}

/// A guest resolves as if the rest did not exist: a hidden namesake makes no title ambiguous.
#[test]
fn guests_see_the_embeds_of_what_they_see() {
    let shelf = Shelf::new(
        "A: ![[B]] / ![[C]] / ![x](block://@C); B: x / ![[A]]; b: hidden; C: hidden; -d: x",
    );
    let space = shelf.notes.space();
    let [a, b, c] = ["A", "B", "C"].map(|title| shelf.id(title));
    let guest = space.scoped([a, b]);
    let found = shelf.shown(&guest.resolve_embeds(a).unwrap());
    let embeds = "A>B=B A>C?0 A>invalid:out_of_scope#1?0 B>A=A!A,B";
    assert_eq!(found, (embeds.to_owned(), "B".to_owned()));
    let full = shelf.shown(&shelf.notes.resolve_embeds(a).unwrap()).0;
    assert!(full.starts_with("A>B?2 A>C=C A>@C=C"), "{full}");
    let error = guest.resolve_embeds(c).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::NotFound, "id"));
    // A page of a scope has the title by which it is found.
    let page = shelf.notes.insert_markdown("Page", b).unwrap()[0].id;
    let pages = space.page_scope([page]);
    pages.add([a]);
    shelf.notes.insert_markdown("![[page]]", a).unwrap();
    let graph = pages.connect().resolve_embeds(a).unwrap();
    assert_eq!(graph.targets.iter().map(|target| target.id).collect::<Vec<_>>(), [page]);
}

#[test]
fn the_blocks_of_all_targets_are_limited() {
    let mut limits = Limits::default();
    limits.blocks_per_fetch = 5;
    let notes = Space::builder().limits(limits).in_memory().unwrap().connect();
    let [a, b] = ["A", "B"].map(|title| notes.create_document(title).unwrap().id());
    notes.insert_markdown("![[B]]", a).unwrap();
    notes.insert_markdown("1\n\n2", b).unwrap();
    assert_eq!(notes.resolve_embeds(a).unwrap().targets.len(), 1);
    notes.insert_markdown("3", b).unwrap();
    let error = notes.resolve_embeds(a).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::LimitExceeded, "id"));
    assert_eq!(notes.resolve_embeds(ResolveEmbeds::of(a).depth(0)).unwrap().embeds.len(), 1);
}

/// A chain of embeds is as long as a user makes it.
#[test]
fn long_chains_are_resolved_without_recursion() {
    let notes = Space::in_memory().unwrap().connect();
    let documents: Vec<DocumentId> = (0..2_000)
        .map(|number| notes.create_document(&format!("D{number}")).unwrap().id())
        .collect();
    for (number, document) in documents.iter().enumerate() {
        let next = (number + 1) % documents.len();
        notes.insert_markdown(&format!("![[D{next}]]"), *document).unwrap();
    }
    let graph = notes.resolve_embeds(documents[0]).unwrap();
    assert_eq!((graph.embeds.len(), graph.targets.len()), (2_000, 1_999));
    let first: Vec<BlockId> = documents.iter().map(|document| document.root()).collect();
    assert_eq!(graph.embeds.last().unwrap().cycle, first[..Limits::CYCLE_ROOTS]);
    assert!(graph.embeds.iter().rev().skip(1).all(|embed| embed.cycle.is_empty()));
}

/// Programs of the property.
fn programs() -> u32 {
    tests::cases(400, 20_000)
}

/// The documents that are reached from `start` by at most `levels` edges.
fn reached(edges: &[(usize, usize)], start: usize, levels: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::from([start]);
    for _ in 0..levels {
        let next: Vec<usize> =
            edges.iter().filter(|(from, _)| found.contains(from)).map(|(_, to)| *to).collect();
        found.extend(next);
    }
    found
}

/// What is wrong with the graph of document 0, by a naive model of the edges between documents.
/// Without cycles if `drops_cycles`, for a control.
fn difference<A: AccessScope>(
    notes: &Connection<A>,
    documents: &[DocumentId],
    edges: &[(usize, usize)],
    levels: usize,
    drops_cycles: bool,
) -> Result<usize, String> {
    let request = ResolveEmbeds::of(documents[0]).depth(levels);
    let graph = notes.resolve_embeds(request).unwrap();
    let number = |id: BlockId| documents.iter().position(|known| known.root() == id).unwrap();
    let mut targets: Vec<usize> = graph.targets.iter().map(|target| number(target.id)).collect();
    targets.sort_unstable();
    let mut read = reached(edges, 0, levels);
    let mut expected: Vec<(usize, usize)> =
        edges.iter().copied().filter(|(from, _)| read.contains(from)).collect();
    read.remove(&0);
    if targets != read.iter().copied().collect::<Vec<_>>() {
        return Err(format!("targets {targets:?} and not {read:?}"));
    }
    let (mut found, mut kept) = (Vec::new(), Vec::new());
    for embed in &graph.embeds {
        let edge = (number(embed.root_id), number(embed.target_id.unwrap()));
        found.push(edge);
        let cycle: Vec<usize> = embed.cycle.iter().map(|root| number(*root)).collect();
        if cycle.is_empty() || drops_cycles {
            kept.push(edge);
            continue;
        }
        let closed: Vec<usize> = cycle.iter().copied().chain([edge.1]).collect();
        let is_path = closed.windows(2).all(|pair| edges.contains(&(pair[0], pair[1])));
        if !is_path || closed[0] != edge.1 || cycle.last() != Some(&edge.0) {
            return Err(format!("{edge:?}: {cycle:?} is not a cycle of it"));
        }
    }
    found.sort_unstable();
    expected.sort_unstable();
    if found != expected {
        return Err(format!("embeds {found:?} and not {expected:?}"));
    }
    // Without the embeds that name a cycle, no document leads back to itself.
    for (from, to) in &kept {
        if reached(&kept, *to, documents.len()).contains(from) {
            return Err(format!("{from} to {to} is on a cycle, and no embed names it"));
        }
    }
    Ok(graph.embeds.len() - kept.len())
}

/// Documents that embed one another at random.
fn run(numbers: &[u32], drops_cycles: bool) -> Result<usize, String> {
    let mut numbers = Numbers::new(numbers);
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let count = 1 + numbers.below(7);
    let documents: Vec<DocumentId> = (0..count)
        .map(|number| notes.create_document(&format!("D{number}")).unwrap().id())
        .collect();
    let mut edges = Vec::new();
    for (from, document) in documents.iter().enumerate() {
        for _ in 0..numbers.below(3) {
            let to = numbers.below(count);
            let text = match numbers.below(3) {
                0 => format!("- ![x](block://{})", documents[to]),
                1 => format!("![x](block://{})", documents[to]),
                _ => format!("![[d{to}]]"),
            };
            notes.insert_markdown(&text, *document).unwrap();
            edges.push((from, to));
        }
    }
    let mut cycles = 0;
    for levels in 0..=count {
        cycles += difference(&notes, &documents, &edges, levels, drops_cycles)?;
        let guest = space.scoped(documents.clone());
        difference(&guest, &documents, &edges, levels, drops_cycles)?;
    }
    Ok(cycles)
}

#[test]
fn the_graph_is_that_of_a_naive_search() {
    let cycles = Mutex::new(0);
    let kept = sequences(programs(), 600, |numbers| {
        *cycles.lock().unwrap() += run(numbers, false).unwrap();
    });
    kept.unwrap_or_else(|error| panic!("{error}"));
    let cycles = cycles.into_inner().unwrap();
    println!("{cycles} cycles in {} programs", programs());
    assert!(cycles > programs() as usize, "{cycles} cycles");
}

/// The control: without the cycles that embeds name, documents lead back to themselves.
#[test]
fn a_graph_without_named_cycles_is_noticed() {
    let faults = Mutex::new(0);
    let kept = sequences(40, 600, |numbers| {
        *faults.lock().unwrap() += u32::from(run(numbers, true).is_err());
    });
    kept.unwrap_or_else(|error| panic!("{error}"));
    assert!(faults.into_inner().unwrap() > 10);
}

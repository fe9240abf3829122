//! Vaults of other programs: taken in, looked at, written out, and taken in again with the same
//! blocks.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use leafbase::{Block, BlockId, Connection, Content, Document, Fetch, FolderId, Location, Space};
use serde_json::Value;

use super::transcript::{Desk, package};

/// The files below a directory with what is in them, by path.
fn files(top: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let (mut found, mut waiting) = (Vec::new(), vec![top.to_owned()]);
    while let Some(path) = waiting.pop() {
        if path.is_file() {
            found.push((path.strip_prefix(top).unwrap().to_owned(), fs::read(&path).unwrap()));
        } else {
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    found.sort();
    found
}

/// Documents by where they are kept, block by block in reading order. Two spaces that differ in
/// nothing but IDs give the same.
type Told = BTreeMap<String, Vec<String>>;

fn told(space: &Path) -> Told {
    let space = Space::builder().read_only(true).open(space).unwrap();
    let notes = space.connect();
    let folders = folders(&notes);
    let mut documents = BTreeMap::new();
    for document in notes.documents().unwrap().0 {
        let place = place(&document, &folders);
        // Documents of one name are imported in the order of their files' names, and so are their
        // IDs.
        let twins = (2..).map(|number| format!("{place} {number}"));
        let free = std::iter::once(place.clone())
            .chain(twins)
            .find(|place| !documents.contains_key(place))
            .unwrap();
        documents.insert(free, notes.fetch(Fetch::new(document.id())).unwrap());
    }
    let names = documents.iter().flat_map(|(place, root)| {
        root.walk()
            .enumerate()
            .map(move |(number, (_, block))| (block.id, format!("{place}#{number}")))
    });
    let names: HashMap<BlockId, String> = names.collect();
    let lines =
        |root: &Block| root.walk().map(|(depth, block)| line(depth, block, &names)).collect();
    documents.iter().map(|(place, root)| (place.clone(), lines(root))).collect()
}

fn folders(notes: &Connection) -> HashMap<FolderId, String> {
    let (mut paths, mut above) = (HashMap::new(), Vec::new());
    for top in notes.folders().unwrap().0 {
        for (depth, folder) in top.walk() {
            above.truncate(depth);
            above.push(folder.name.clone());
            paths.extend(folder.folder_id().map(|id| (id, above.join("/"))));
        }
    }
    paths
}

fn place(document: &Document, folders: &HashMap<FolderId, String>) -> String {
    match document.record.location {
        Location::Folder(folder) => format!("{}/{}", folders[&folder], document.title),
        location => format!("{location:?}: {}", document.title),
    }
}

/// What a block says, with places for the IDs in it.
fn line(depth: usize, block: &Block, names: &HashMap<BlockId, String>) -> String {
    let alone = Block { content: Content::None, ..block.clone() };
    let mut value = serde_json::to_value(alone).unwrap();
    value.as_object_mut().unwrap().retain(|field, _| field != "id" && field != "rev");
    // A closed task is stamped by the import that makes it.
    if let Some(task) = value.get_mut("taskInfo").and_then(Value::as_object_mut) {
        task.retain(|field, _| field != "completedAt" && field != "canceledAt");
    }
    let mut told = format!("{depth} ");
    let text = Value::to_string(&value);
    let mut parts = text.split("://");
    told += parts.next().unwrap_or_default();
    for part in parts {
        let id = part.get(..26).and_then(|id| id.parse::<BlockId>().ok());
        match id.map(|id| names.get(&id)) {
            Some(Some(name)) => write!(told, "://{name}{}", &part[26..]).unwrap(),
            // A file's.
            Some(None) if told.ends_with("asset") => {
                write!(told, "://FILE{}", &part[26..]).unwrap();
            }
            _ => write!(told, "://{part}").unwrap(),
        }
    }
    told
}

/// Runs a line that must not fail, and gives what it shows.
fn shown(desk: &mut Desk, line: &str) -> String {
    let shown = desk.run(line);
    assert!(!shown.contains("[exit"), "{line}\n{shown}");
    shown
}

/// Imports a vault, exports it, and imports that. Gives what both imports and the export told.
fn there_and_back(desk: &mut Desk, vault: &Path) -> [String; 3] {
    let vault = vault.display();
    let reports = [
        format!(
            "leafbase new one.leafbase > /dev/null && leafbase -s one.leafbase import '{vault}'"
        ),
        "leafbase -s one.leafbase export one".to_owned(),
        "leafbase new two.leafbase > /dev/null && leafbase -s two.leafbase import one".to_owned(),
    ];
    let reports = reports.map(|line| shown(desk, &line));
    shown(desk, "leafbase -s two.leafbase export two");
    shown(desk, "leafbase -s one.leafbase check && leafbase -s two.leafbase check");
    let [one, two] = ["one", "two"].map(|name| files(&desk.path().join(name)));
    assert!(one == two, "{vault}: the second export differs from the first");
    reports
}

/// What differs between the blocks of both spaces.
fn differences(desk: &Desk) -> Vec<String> {
    let [one, two] = ["one.leafbase", "two.leafbase"].map(|name| told(&desk.path().join(name)));
    let mut found: Vec<String> =
        two.keys().filter(|place| !one.contains_key(*place)).cloned().collect();
    for (place, before) in &one {
        let after = two.get(place).map_or(&[][..], Vec::as_slice);
        let first = (0..before.len().max(after.len()))
            .find(|number| before.get(*number) != after.get(*number));
        found.extend(first.map(|number| {
            format!("{place}: {:?} became {:?}", before.get(number), after.get(number))
        }));
    }
    found
}

#[test]
fn the_sample_notes_come_back_as_they_went() {
    let mut desk = Desk::new();
    let notes = desk.path().join("notes");
    there_and_back(&mut desk, &notes);
    assert_eq!(files(&desk.path().join("one")).len(), 13);
    assert_eq!(differences(&desk), Vec::<String>::new());
    // What is changed is found.
    shown(&mut desk, "leafbase -s two.leafbase add --to Bread more");
    assert_eq!(differences(&desk).len(), 1);
}

/// Real vaults, with words that are in them and a document that is linked. They are not part of the
/// project.
const VAULTS: [(&str, &str, &str); 3] = [
    ("obsidian-tasks", "recurring task", "docs/Introduction"),
    ("logseq-docs", "journals page", "pages/Start here"),
    ("foam", "wikilink", "docs/index"),
];

#[test]
#[ignore = "needs real vaults: LEAFBASE_CORPUS=FOLDER cargo test -p leafbase-cli --test it -- --ignored --nocapture vaults"]
fn vaults_come_back_as_they_went() {
    let beside =
        || package().ancestors().map(|top| top.join("shared/corpus")).find(|path| path.is_dir());
    let corpora = std::env::var_os("LEAFBASE_CORPUS").map(PathBuf::from).or_else(beside);
    let corpora = corpora.expect("LEAFBASE_CORPUS names the folder of the vaults");
    for (name, words, document) in VAULTS {
        let mut desk = Desk::new();
        let [imported, exported, again] = there_and_back(&mut desk, &corpora.join(name));
        println!("\n== {name}\n{imported}\n{exported}\nagain: {again}");
        for line in [
            "leafbase -s one.leafbase ls --all",
            "leafbase -s one.leafbase tree",
            &format!("leafbase -s one.leafbase search {words}"),
            "leafbase -s one.leafbase tasks logbook",
            &format!("leafbase -s one.leafbase links '{document}'"),
        ] {
            println!("{:6} lines: {line}", shown(&mut desk, line).lines().count());
        }
        assert_eq!(differences(&desk), Vec::<String>::new(), "{name}");
    }
}

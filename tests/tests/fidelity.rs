//! Files that come in and go out again as they were: constructs as rows, and the files of a corpus
//! beside the project.

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use leafbase::{ExportOptions, ImportOptions, MemorySource, Progress, Space};

fn on(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

type Files = BTreeMap<String, Vec<u8>>;

fn files_below(top: &Path) -> Files {
    let (mut files, mut waiting) = (Files::new(), vec![PathBuf::new()]);
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(top.join(&directory)).unwrap() {
            let path = directory.join(entry.unwrap().file_name());
            if top.join(&path).is_dir() {
                waiting.push(path);
            } else {
                let bytes = fs::read(top.join(&path)).unwrap();
                files.insert(path.to_string_lossy().into_owned(), bytes);
            }
        }
    }
    files
}

/// What an export of these files has.
fn round(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Files {
    let notes = Space::in_memory().unwrap().connect();
    let source = &mut MemorySource::from_iter(files);
    notes.import_from(source, &ImportOptions::new(), &mut on).unwrap();
    let directory = tempfile::tempdir().unwrap();
    notes.export_folder(directory.path(), &ExportOptions::new(), &mut on).unwrap();
    files_below(directory.path())
}

/// Files beside `Target.md`, as they come in and go out.
const KEPT: &[&str] = &[
    "---\ntitle: x\n---\n\ntext\n",
    // As plugins of applications write it.
    "---\n\nkanban-plugin: basic\n\n---\n\n## Backlog\n\n- [ ] one\n",
    "---\n\n\ntags: [a]\n---\n",
    // No front matter.
    "*****\n\nwords\n\n*****\n",
    // Footnotes, and text that begins as a definition does, beside a file of that name.
    "a[^3]\n\n[^3]: Target is a page\n",
    "[TODO]: Target the words\n",
    "[^Target]: Target\n",
    "[a][b]\n\n[b]: Target.md\n",
    "<details>\n<summary>more</summary>\n\ntext\n\n</details>\n",
    "a ==marked== %%comment%% #tag\n",
    "$$\nx^2\n$$\n",
    "| a | b |\n| --- | ---: |\n| 1 | 2 |\n",
];

#[test]
fn constructs_come_back_as_they_were() {
    for text in KEPT {
        let files = [("Note.md", *text), ("Target.md", "target\n")];
        let files = files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
        let back = round(files.clone());
        let shown = back.get("Note.md").map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        assert_eq!(shown.as_deref(), Some(*text));
    }
}

/// The least share of the files of the corpus that are the same, of 1,000.
const SAME_OF_1_000: usize = 300;

/// Imports the corpus beside the project, if it is there, and compares what is exported.
#[test]
fn files_of_a_corpus_come_back_as_they_were() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus");
    if !corpus.is_dir() {
        return;
    }
    let mut files = files_below(&corpus);
    files.retain(|path, _| path.ends_with(".md"));
    let back = round(files.clone());
    let same = files.iter().filter(|(path, bytes)| back.get(*path) == Some(bytes)).count();
    let moved = files.keys().filter(|path| !back.contains_key(*path)).count();
    println!("{same} of {} files are the same, {moved} have another path", files.len());
    assert!(same * 1_000 >= files.len() * SAME_OF_1_000, "{same} of {}", files.len());
}

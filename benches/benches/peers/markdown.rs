//! Markdown alone: the parser beside bare pulldown-cmark events, the renderer beside the parser.

use crate::app::{Document, File};
use crate::leaf::{self, kept, parsed};
use crate::report::{Column, Report};
use benches::measure::timed;
use benches::workload::Generator;
use leafbase::{BlockDraft, BlockId, Content};
use leafbase_markdown::render;
use pulldown_cmark::{Options, Parser};
use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::{Path, PathBuf};

/// The extensions that the dialect takes from pulldown-cmark.
const EXTENSIONS: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_TASKLISTS)
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_MATH);

/// The markdown files below a directory, in the order of their paths; none if there is no such
/// directory. Files that Leafbase refuses are counted and left out for everybody.
pub fn corpus(directory: &Path, make: &mut Generator) -> Vec<File> {
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut waiting = vec![directory.to_owned()];
    while let Some(next) = waiting.pop() {
        for entry in std::fs::read_dir(next).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    let trial = leafbase::Space::in_memory().expect("a space").connect();
    let mut refused: BTreeMap<&str, (usize, String)> = BTreeMap::new();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).ok()?;
        let name = path.file_stem()?.to_string_lossy();
        let document = trial.create_document("").expect("a document").id();
        if let Err(error) = trial.insert_markdown(&text, document) {
            let (count, _) = refused.entry(error.code()).or_insert((0, format!("{name}: {error}")));
            *count += 1;
            return None;
        }
        let drafts = parsed(&text);
        make.now();
        let id = make.id();
        let ids = drafts.iter().flat_map(BlockDraft::walk).map(|_| make.id()).collect();
        let title = name.chars().filter(|letter| letter.is_alphanumeric()).collect();
        Some(File { id, title, text, ids })
    };
    let files = paths.into_iter().filter_map(read).collect();
    for (code, (count, first)) in refused {
        println!("{count} files of the corpus are left out, {code}; the first is {first}");
    }
    files
}

/// A file's blocks, ready to be compared.
pub fn document(file: &File, now: i64) -> Document {
    let blocks = kept(parsed(&file.text), &mut file.ids.iter().copied(), now);
    Document { id: file.id, title: file.title.clone(), blocks }
}

/// Texts, and the trees that they give.
pub struct Texts {
    name: &'static str,
    texts: Vec<String>,
    trees: Vec<Vec<leafbase::Block>>,
}

impl Texts {
    pub fn of_corpus(files: &[File]) -> Self {
        let texts: Vec<String> = files.iter().map(|file| file.text.clone()).collect();
        let trees = texts.iter().map(|text| shown(parsed(text))).collect();
        Self { name: "corpus", texts, trees }
    }

    pub fn generated(documents: &[Document]) -> Self {
        let blocks = |document: &Document| document.blocks.iter().map(leaf::draft).collect();
        let trees: Vec<Vec<leafbase::Block>> = documents.iter().map(blocks).map(shown).collect();
        Self { name: "generated", texts: trees.iter().map(|tree| render(tree)).collect(), trees }
    }

    pub fn measure(&self, round: usize, report: &mut Report) {
        let parse_op = format!("markdown parse, {}", self.name);
        let render_op = format!("markdown render, {} (to parse)", self.name);
        for turn in 0..4 {
            match (turn + round) % 4 {
                0 => {
                    let (took, ()) =
                        timed(|| self.texts.iter().for_each(|text| drop(black_box(parsed(text)))));
                    report.record(&parse_op, Column::Leafbase, took);
                    report.record(&render_op, Column::Sqlite, took);
                }
                1 => {
                    let (took, _) = timed(|| {
                        self.texts
                            .iter()
                            .map(|text| black_box(Parser::new_ext(text, EXTENSIONS)).count())
                            .sum::<usize>()
                    });
                    report.record(&parse_op, Column::Sqlite, took);
                    report.record(&parse_op, Column::Floor, took);
                }
                2 => {
                    let (took, ()) =
                        timed(|| self.trees.iter().for_each(|tree| drop(black_box(render(tree)))));
                    report.record(&render_op, Column::Leafbase, took);
                }
                _ => {
                    let (took, ()) =
                        timed(|| self.trees.iter().for_each(|tree| drop(black_box(joined(tree)))));
                    report.record(&render_op, Column::Floor, took);
                }
            }
        }
    }
}

/// The texts of blocks, one after the other: the bytes that any renderer copies.
fn joined(tree: &[leafbase::Block]) -> String {
    let mut text = String::new();
    for (_, block) in tree.iter().flat_map(leafbase::Block::walk) {
        text.push_str(&block.data.inline);
        text.push('\n');
    }
    text
}

fn shown(drafts: Vec<BlockDraft>) -> Vec<leafbase::Block> {
    let show = |draft: BlockDraft| {
        let (data, content) = draft.into_parts();
        let content = if data.block_type().may_be_parent() {
            Content::Blocks(shown(content))
        } else {
            Content::None
        };
        leafbase::Block {
            id: BlockId::NIL,
            rev: 1,
            data,
            block_form: None,
            plain: None,
            metadata: None,
            item: None,
            content,
        }
    };
    drafts.into_iter().map(show).collect()
}

/// How many blocks and bytes files have.
pub fn size(files: &[File]) -> (usize, usize) {
    (files.iter().map(|file| file.ids.len()).sum(), files.iter().map(|file| file.text.len()).sum())
}

//! Before anything is measured: every peer gives the same trees after the same edits.

use crate::app::{self, Block, Document, Edit, Mode, Open, PAGE, Peer, Position};
use benches::workload::{Generator, Id};
use std::path::Path;

struct Check<'a> {
    names: Vec<&'a str>,
    peers: Vec<Box<dyn Peer>>,
    documents: Vec<Id>,
    make: Generator,
}

/// Applies random edits of every kind to all, and compares each document that they touch; then
/// everything, then everything again after the peers were opened anew.
pub fn check(candidates: &[(&str, Open)], root: &Path, edits: usize) {
    let directory = |name: &str, mode: Mode| {
        let path = root.join(format!("check {name} {mode:?}"));
        std::fs::create_dir_all(&path).expect("a directory");
        path
    };
    for mode in [Mode::Relaxed, Mode::Durable] {
        let open =
            || candidates.iter().map(|(name, open)| open(&directory(name, mode), mode)).collect();
        let mut make = Generator::new(0x5EED);
        let shapes = [(100, 0, 0), (5, 5, 19), (50, 1, 49), (1, 0, 0), (300, 20, 30)];
        let documents: Vec<Document> = shapes
            .map(|(flat, pages, each)| app::document(&make.document(flat, pages, each)))
            .into();
        let ids = documents.iter().map(|document| document.id).collect();
        let names = candidates.iter().map(|(name, _)| *name).collect();
        let mut check = Check { names, peers: open(), documents: ids, make };
        check.apply(&Edit::Import(documents));
        check.compare_all();
        for _ in 0..edits {
            check.step();
        }
        check.compare_all();
        check.peers.iter_mut().for_each(|peer| peer.flush());
        check.peers.clear();
        check.peers = open();
        check.compare_all();
    }
}

impl Check<'_> {
    fn apply(&mut self, edit: &Edit) {
        let now = self.make.now() as i64;
        for peer in &mut self.peers {
            let ready = peer.ready(edit);
            peer.apply(edit, ready, now);
        }
    }

    /// The document's tree, the same from all.
    fn tree(&mut self, document: Id) -> Block {
        let mut trees = self.peers.iter_mut().map(|peer| peer.fetch(document).tree()).map(normal);
        let first = trees.next().expect("a peer");
        for (name, tree) in self.names[1..].iter().zip(trees) {
            assert!(
                tree == first,
                "{name} and {} differ:\n{}",
                self.names[0],
                difference(&tree, &first)
            );
        }
        first
    }

    fn any_document(&mut self) -> Id {
        *self.make.rng.pick(&self.documents)
    }

    fn step(&mut self) {
        let (from, to) = (self.any_document(), self.any_document());
        let source = self.tree(from);
        let target = self.tree(to);
        let blocks: Vec<(Id, usize, &Block)> = app::rows(from, &source.children);
        match self.make.rng.below(10) {
            0..=2 => {
                let count = 1 + self.make.rng.below(4);
                let made = (0..count)
                    .map(|_| {
                        let kind = if self.make.rng.below(5) == 0 { PAGE } else { app::TEXT };
                        let mut block = app::block(&self.make.block(kind));
                        if kind == PAGE {
                            block.children = (0..self.make.rng.below(4))
                                .map(|_| app::block(&self.make.block(app::TEXT)))
                                .collect();
                        }
                        block
                    })
                    .collect();
                let position = self.position(&target, &[]);
                self.apply(&Edit::Insert(made, position));
            }
            3..=5 if !blocks.is_empty() => {
                let id = self.make.rng.pick(&blocks).2.id;
                let bytes = 1 + self.make.rng.below(300);
                let words = app::text(&self.make.words.text(&mut self.make.rng, bytes));
                self.apply(&Edit::Update(id, words));
            }
            6..=8 if !blocks.is_empty() => {
                let ids = self.siblings(&blocks, 60);
                let position = self.position(&target, &ids);
                if !ids.is_empty() {
                    self.apply(&Edit::Move(ids, position));
                }
            }
            _ if blocks.len() > 30 => {
                let ids = self.siblings(&blocks, 10);
                self.apply(&Edit::Delete(ids));
            }
            _ => {}
        }
        self.tree(from);
        self.tree(to);
    }

    /// Some siblings, in their order, with holes between.
    fn siblings(&mut self, blocks: &[(Id, usize, &Block)], most: usize) -> Vec<Id> {
        let parent = self.make.rng.pick(blocks).0;
        let all: Vec<Id> =
            blocks.iter().filter(|row| row.0 == parent).map(|row| row.2.id).collect();
        let start = self.make.rng.below(all.len());
        let length = (1 + self.make.rng.below(most)).min(all.len() - start);
        let holes = self.make.rng.below(2) == 0;
        let chosen = all[start..start + length].iter().enumerate();
        chosen.filter(|(at, _)| !holes || at % 3 != 1).map(|(_, id)| *id).collect()
    }

    /// A place in `document`, not in or beside blocks that go.
    fn position(&mut self, document: &Block, going: &[Id]) -> Position {
        let mut open = vec![document];
        let (mut parents, mut siblings) = (Vec::new(), Vec::new());
        while let Some(parent) = open.pop() {
            parents.push(parent.id);
            for child in parent.children.iter().filter(|child| !going.contains(&child.id)) {
                siblings.push(child.id);
                if child.kind == PAGE {
                    open.push(child);
                }
            }
        }
        let parent = *self.make.rng.pick(&parents);
        match self.make.rng.below(4) {
            0 => Position::Start { document: document.id, parent },
            1 => Position::End { document: document.id, parent },
            _ if siblings.is_empty() => Position::End { document: document.id, parent },
            _ => Position::After(*self.make.rng.pick(&siblings)),
        }
    }

    fn compare_all(&mut self) {
        for document in self.documents.clone() {
            let tree = self.tree(document);
            for (_, _, block) in app::rows(document, &tree.children) {
                for (name, peer) in self.names.iter().zip(&mut self.peers) {
                    assert_eq!(peer.document_of(block.id), document, "{name}");
                    let alone = peer.block(block.id).tree();
                    assert!(
                        alone == Block { children: Vec::new(), ..block.clone() },
                        "{name}: another block"
                    );
                }
            }
        }
    }
}

/// A document without what `SQLite` keeps in its row of documents and Leafbase in its root block.
pub fn normal(tree: Block) -> Block {
    Block { id: tree.id, markdown: tree.markdown, children: tree.children, ..Block::default() }
}

pub fn difference(a: &Block, b: &Block) -> String {
    if a.markdown != b.markdown {
        return format!("title {:?} {:?}", a.markdown, b.markdown);
    }
    let (all, others) = (app::rows(a.id, &a.children), app::rows(b.id, &b.children));
    let first = all.iter().zip(&others).position(|(a, b)| a.0 != b.0 || a.2 != b.2);
    match first {
        Some(at) => format!("block {at}: {:?}\n{:?}", alone(all[at].2), alone(others[at].2)),
        None => format!("{} and {} blocks", all.len(), others.len()),
    }
}

fn alone(block: &Block) -> Block {
    Block { children: Vec::new(), ..block.clone() }
}

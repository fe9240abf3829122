//! A naive model in memory, and the check that every candidate gives its trees after each kind of
//! edit.

use crate::peer::{Mode, Open, Peer, Position};
use benches::workload::{Block, Document, Generator, Id, Node, PAGE, TEXT, Tree};
use std::collections::HashMap;
use std::path::Path;

#[derive(Default)]
struct Model {
    documents: Vec<Id>,
    children: HashMap<Id, Vec<Id>>,
    parent: HashMap<Id, Id>,
    blocks: HashMap<Id, Block>,
}

impl Model {
    fn import(&mut self, document: &Document) {
        self.documents.push(document.id);
        self.children.insert(document.id, Vec::new());
        for (parent, block) in document.with_parents() {
            self.attach(parent, self.children.get(&parent).map_or(0, Vec::len), block.id);
            self.blocks.insert(block.id, block.clone());
        }
    }

    fn attach(&mut self, parent: Id, at: usize, block: Id) {
        self.children.entry(parent).or_default().insert(at, block);
        self.parent.insert(block, parent);
    }

    fn index(&self, block: Id) -> usize {
        self.children[&self.parent[&block]]
            .iter()
            .position(|known| *known == block)
            .expect("a child of its parent")
    }

    fn slot(&self, position: &Position) -> (Id, usize) {
        match position {
            Position::After(sibling) => (self.parent[sibling], self.index(*sibling) + 1),
            Position::End { parent, .. } => {
                (*parent, self.children.get(parent).map_or(0, Vec::len))
            }
        }
    }

    fn insert(&mut self, block: &Block, position: &Position) {
        let (parent, at) = self.slot(position);
        self.attach(parent, at, block.id);
        self.blocks.insert(block.id, block.clone());
    }

    fn update(&mut self, id: Id, markdown: &str, now: u64) {
        let block = self.blocks.get_mut(&id).expect("a block");
        block.rev += 1;
        block.modified = now;
        markdown.clone_into(&mut block.markdown);
    }

    fn relocate(&mut self, ids: &[Id], position: &Position) {
        for id in ids {
            let (parent, at) = (self.parent[id], self.index(*id));
            self.children.get_mut(&parent).expect("siblings").remove(at);
        }
        let (parent, at) = self.slot(position);
        for (step, id) in ids.iter().enumerate() {
            self.attach(parent, at + step, *id);
        }
    }

    fn document_of(&self, block: Id) -> Id {
        let mut at = block;
        while let Some(parent) = self.parent.get(&at) {
            at = *parent;
        }
        at
    }

    fn tree(&self, document: Id) -> Tree {
        let mut tree = Vec::new();
        self.walk(document, 0, &mut tree);
        tree
    }

    fn walk(&self, parent: Id, depth: u32, tree: &mut Tree) {
        for id in self.children.get(&parent).into_iter().flatten() {
            tree.push(Node { depth, block: self.blocks[id].clone() });
            self.walk(*id, depth + 1, tree);
        }
    }

    fn is_below(&self, block: Id, any: &[Id]) -> bool {
        let mut at = Some(block);
        while let Some(id) = at {
            if any.contains(&id) {
                return true;
            }
            at = self.parent.get(&id).copied();
        }
        false
    }

    /// Any parent that can take children.
    fn parent(&self, make: &mut Generator) -> Id {
        let pages = self.blocks.values().filter(|block| block.kind == PAGE).map(|block| block.id);
        let mut parents: Vec<Id> = pages.chain(self.documents.iter().copied()).collect();
        parents.sort_unstable();
        *make.rng.pick(&parents)
    }

    fn position(&self, make: &mut Generator) -> Position {
        let parent = self.parent(make);
        let children = self.children.get(&parent).filter(|children| !children.is_empty());
        match children {
            Some(children) if make.rng.below(4) > 0 => Position::After(*make.rng.pick(children)),
            _ => Position::End { document: self.document_of(parent), parent },
        }
    }
}

fn anchor(position: &Position) -> Id {
    match position {
        Position::After(id) | Position::End { parent: id, .. } => *id,
    }
}

/// Lengths around what splits runs, and some that no run holds.
fn length(make: &mut Generator) -> usize {
    match make.rng.below(20) {
        0 => 6000,
        1 => 2000,
        2 => 0,
        _ => make.rng.below(300),
    }
}

/// Applies random edits of every kind to a peer and the model, and compares each touched tree, then
/// everything, then everything again after reopening.
pub fn check(name: &str, open: Open, directory: &Path, edits: usize) {
    let mut make = Generator::new(0x5EED);
    let mut model = Model::default();
    let mut peer = open(directory);
    let documents: Vec<Document> = [(100, 0, 0), (5, 5, 19), (50, 1, 49), (0, 0, 0), (300, 20, 30)]
        .map(|(f, p, e)| make.document(f, p, e))
        .into();
    documents.iter().for_each(|document| model.import(document));
    peer.import(&documents, true, make.now());

    for edit in 0..edits {
        match edit % 90 {
            0 => peer.set_mode(Mode::Shared),
            30 => peer.set_mode(Mode::Own),
            60 => peer.set_mode(Mode::Durable),
            _ => {}
        }
        let now = make.now();
        let position = model.position(&mut make);
        let mut touched = vec![model.document_of(anchor(&position))];
        match make.rng.below(50) {
            0 => {
                let document = make.document(4, 2, 60);
                model.import(&document);
                touched.push(document.id);
                peer.import(&[document], false, now);
            }
            1..=20 => {
                let bytes = length(&mut make);
                let kind = if make.rng.below(10) == 0 { PAGE } else { TEXT };
                let block = make.block_of(kind, bytes);
                model.insert(&block, &position);
                peer.insert(&block, &position, now);
            }
            21..=35 => {
                let mut ids: Vec<Id> = model.blocks.keys().copied().collect();
                ids.sort_unstable();
                let id = *make.rng.pick(&ids);
                let bytes = length(&mut make);
                let markdown = make.words.text(&mut make.rng, bytes);
                touched.push(model.document_of(id));
                model.update(id, &markdown, now);
                peer.update(id, &markdown, now);
            }
            _ => {
                let parent = model.parent(&mut make);
                let Some(children) =
                    model.children.get(&parent).filter(|children| !children.is_empty())
                else {
                    continue;
                };
                let start = make.rng.below(children.len());
                let length = (1 + make.rng.below(60)).min(children.len() - start);
                let holes = make.rng.below(2) == 0;
                let all = children[start..start + length].iter().enumerate();
                let ids: Vec<Id> =
                    all.filter(|(at, _)| !holes || at % 3 != 1).map(|(_, id)| *id).collect();
                if model.is_below(anchor(&position), &ids) {
                    continue;
                }
                touched.push(model.document_of(parent));
                model.relocate(&ids, &position);
                peer.relocate(&ids, &position, now);
            }
        }
        for document in touched {
            assert!(
                peer.fetch(document) == model.tree(document),
                "{name}: another tree after edit {edit}"
            );
        }
    }
    compare(name, &model, peer.as_mut());
    peer.set_mode(Mode::Durable);
    drop(peer);
    compare(name, &model, open(directory).as_mut());
}

fn compare(name: &str, model: &Model, peer: &mut dyn Peer) {
    for document in &model.documents {
        assert!(peer.fetch(*document) == model.tree(*document), "{name}: another tree");
    }
    for (id, block) in &model.blocks {
        assert_eq!(peer.block(*id), *block, "{name}");
        assert_eq!(peer.document_of(*id), model.document_of(*id), "{name}");
    }
}

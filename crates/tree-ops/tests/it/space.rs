//! Rules as data: an outline before, an operation, and the outline after or the error.

use leafbase_model::{
    BlockId, BlockPatch, Destination, Error, ErrorKind, Fetch, Limits, Position, Result,
};
use leafbase_test_outline::{BlockRequest, Labels, NaiveSpace, Outline, change};

use crate::compare::{Reply, step};

/// A space whose blocks have labels. Every operation is compared with the naive one, and undone to
/// see that it can be.
pub(crate) struct Space {
    pub(crate) naive: NaiveSpace,
    pub(crate) labels: Labels,
    number: u32,
}

impl Space {
    pub(crate) fn new(outline: &str) -> Self {
        let (naive, labels) = NaiveSpace::from_outline(outline)
            .unwrap_or_else(|error| panic!("{error} in\n{outline}"));
        Self { naive, labels, number: 0 }
    }

    pub(crate) fn limited(mut self, limit: impl FnOnce(&mut Limits)) -> Self {
        limit(&mut self.naive.limits);
        self
    }

    /// The block of a label; one that is not there for `?`.
    pub(crate) fn id(&self, label: &str) -> BlockId {
        if label == "?" { BlockId::from_bytes([9; 16]) } else { self.labels.id(label) }
    }

    pub(crate) fn ids(&self, labels: &str) -> Vec<BlockId> {
        labels.split_whitespace().map(|label| self.id(label)).collect()
    }

    /// `end of p`, `start of p`, `before p`, `after p`.
    pub(crate) fn position(&self, text: &str) -> Position {
        let words: Vec<_> = text.split_whitespace().collect();
        match words[..] {
            ["end", "of", label] => Position::end_of(self.id(label)),
            ["start", "of", label] => Position::start_of(self.id(label)),
            ["before", label] => Position::before(self.id(label)),
            ["after", label] => Position::after(self.id(label)),
            _ => panic!("no position: {text}"),
        }
    }

    pub(crate) fn run(&mut self, request: &BlockRequest) -> Result<Reply> {
        self.number += 1;
        step(&mut self.naive, request, self.number, None)
            .unwrap_or_else(|error| panic!("{request:#?}\n{error}"))
    }

    pub(crate) fn insert(&mut self, position: &str, drafts: &str) -> Result<Reply> {
        let request = BlockRequest::Insert {
            drafts: Outline::drafts(drafts),
            position: self.position(position),
        };
        self.run(&request)
    }

    pub(crate) fn move_to(&mut self, labels: &str, position: &str) -> Result<Reply> {
        let request =
            BlockRequest::Move { ids: self.ids(labels), position: self.position(position) };
        self.run(&request)
    }

    pub(crate) fn delete(&mut self, labels: &str) -> Result<Reply> {
        let request = BlockRequest::Delete(self.ids(labels));
        self.run(&request)
    }

    /// Each change is a label and what the block is to say: `p "new" indent=1`.
    pub(crate) fn update(&mut self, changes: &[&str]) -> Result<Reply> {
        let patches = changes.iter().map(|change| self.patch(change)).collect();
        self.run(&BlockRequest::Update(patches))
    }

    fn patch(&self, text: &str) -> BlockPatch {
        let (label, fields) = text.split_once(' ').unwrap_or((text, ""));
        change(fields).unwrap_or_else(|error| panic!("{text}: {error}")).patch(self.id(label))
    }

    pub(crate) fn create(&mut self, draft: &str, destination: Destination) -> Result<Reply> {
        self.run(&BlockRequest::CreateDocument {
            root: Outline::drafts(draft).remove(0),
            destination,
        })
    }

    pub(crate) fn fetch(&mut self, label: &str, max_depth: Option<usize>) -> String {
        let request = BlockRequest::Fetch(Fetch { max_depth, ..Fetch::new(self.id(label)) });
        match self.run(&request) {
            Ok(Reply::Block(block)) => {
                Outline::print(&[Outline::of_block(&block, &Labels::default())])
            }
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn rev(&self, label: &str) -> u64 {
        self.naive.find(self.id(label)).unwrap().record.rev
    }

    fn check_outline(&self, after: &str) {
        let after = Outline::parse(after).unwrap_or_else(|error| panic!("{error} in\n{after}"));
        let found = self.naive.outline(&self.labels.used_in(&after));
        pretty_eq(&found, &Outline::print(&after));
    }
}

fn pretty_eq(found: &str, expected: &str) {
    assert!(found == expected, "found\n{found}\nexpected\n{expected}");
}

/// The operation turns the space `before` into the space `after`; labels must name the same blocks.
#[track_caller]
pub(crate) fn check(
    before: &str,
    operation: impl FnOnce(&mut Space) -> Result<Reply>,
    after: &str,
) {
    let mut space = Space::new(before);
    operation(&mut space).unwrap_or_else(|error| panic!("{error:?}"));
    space.check_outline(after);
}

/// The operation is refused, and nothing changes.
#[track_caller]
pub(crate) fn refuse(
    before: &str,
    operation: impl FnOnce(&mut Space) -> Result<Reply>,
    kind: ErrorKind,
    path: &str,
) -> Error {
    let mut space = Space::new(before);
    let untouched = space.naive.clone();
    let error = operation(&mut space).expect_err("it is refused");
    assert_eq!((error.kind(), error.path()), (kind, path), "{error:?}");
    assert!(space.naive.documents == untouched.documents, "a refused request changes nothing");
    error
}

//! What every text has that a pattern matches, as a letter or two in a row: looked for many bytes
//! at a time, so that most texts need not be matched at all.

use crate::row::{CASE, LONGEST, Row, Set, ascii, share};
use crate::sieve::{MOST_OTHERS, Sieve};
use crate::tree::Node;

/// More pairs are not looked for.
const PAIRS: usize = 2;
/// What more than one in so many places has tells little.
const RARE: f64 = 1.0 / 20.0;

/// What a text must have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Needed {
    pub(crate) sieve: Option<Sieve>,
    pairs: Vec<Pair>,
}

/// One or two bytes in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pair {
    first: Bytes,
    second: Option<Bytes>,
    /// Whether letters beyond ASCII may stand in its place.
    others: bool,
    /// In which share of all places it is, roughly.
    share: f64,
}

/// Some bytes of ASCII: with these bits set they are in a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bytes {
    set: u8,
    from: u8,
    length: u8,
}

impl Bytes {
    /// Those of a set; none if they are none or lie apart.
    fn of(set: u128) -> Option<Self> {
        let has = |byte: u8| set >> byte & 1 == 1;
        let all = || (0..128_u8).filter(|byte| has(*byte));
        let folds = all().all(|byte| byte.is_ascii_alphabetic() && has(byte ^ CASE));
        let set = if folds { CASE } else { 0 };
        let (from, to) = (all().map(|byte| byte | set).min()?, all().map(|byte| byte | set).max()?);
        let is_whole = (from..=to).all(has);
        is_whole.then_some(Self { set, from, length: to - from })
    }

    const fn has(self, byte: u8) -> bool {
        (byte | self.set).wrapping_sub(self.from) <= self.length
    }

    fn share(self) -> f64 {
        (0..128_u8).filter(|byte| self.has(*byte)).map(share).sum()
    }
}

impl Pair {
    fn is_in(&self, bytes: &[u8]) -> bool {
        if self.others && !bytes.is_ascii() {
            return true;
        }
        // Without a way out before the end, so that many bytes are looked at together.
        match self.second {
            None => bytes.iter().fold(false, |is_in, byte| is_in | self.first.has(*byte)),
            Some(second) => {
                let rows = bytes.iter().zip(bytes.get(1..).unwrap_or_default());
                rows.fold(false, |is_in, (one, other)| {
                    is_in | (self.first.has(*one) & second.has(*other))
                })
            }
        }
    }
}

impl Needed {
    /// What every text has that the pattern matches. A tree nests no deeper than a pattern.
    pub(crate) fn of(tree: &Node) -> Self {
        let mut gathering = Gathering::default();
        gathering.add(tree);
        gathering.end();
        let (mut sieves, mut pairs) = (gathering.sieves, gathering.pairs);
        sieves.sort_by(|(_, one), (_, other)| one.share().total_cmp(&other.share()));
        let (row, sieve) =
            sieves.into_iter().next().map(|(row, sieve)| (row, sieve.knowing(tree))).unzip();
        // What it has of that row is told by the whole of it.
        pairs.retain(|(other, _)| Some(*other) != row);
        pairs.sort_by(|(_, one), (_, other)| one.share.total_cmp(&other.share));
        let mut pairs: Vec<Pair> = pairs.into_iter().map(|(_, pair)| pair).collect();
        pairs.dedup();
        pairs.truncate(PAIRS);
        Self { sieve, pairs }
    }

    /// Whether the text of these bytes has it.
    pub(crate) fn is_in(&self, text: &[u8]) -> bool {
        self.sieve.as_ref().is_none_or(|sieve| sieve.is_in(text))
            && self.pairs.iter().all(|pair| pair.is_in(text))
    }
}

/// The letters of ASCII that may stand at a place, and those beyond.
struct Place {
    ascii: Set,
    others: Others,
    /// Whether it is the end of a choice beside the row.
    is_edge: bool,
}

enum Others {
    Few(Vec<char>),
    Many,
}

/// Letters that have to stand in a row.
#[derive(Default)]
struct Gathering {
    row: Vec<Place>,
    /// Whether it has more than ends of choices: these only make a row rarer, and are none by
    /// themselves.
    has_letters: bool,
    /// How many rows ended before.
    ended: usize,
    /// The rarest pair of each row, with the row's number.
    pairs: Vec<(usize, Pair)>,
    sieves: Vec<(usize, Sieve)>,
}

impl Gathering {
    fn add(&mut self, node: &Node) {
        match node {
            Node::Letter(ranges) => {
                self.row.push(place(ranges));
                self.has_letters = true;
            }
            // They take no letter, so what stands beside them is in a row.
            Node::Look(_) | Node::Around(..) => {}
            Node::Sequence(nodes) => nodes.iter().for_each(|node| self.add(node)),
            Node::Repeat { least: 1.., most, node, .. } => {
                self.add(node);
                if *most != Some(1) {
                    self.end();
                }
            }
            Node::Choice(_) => {
                self.row.extend(edge_place(node, Side::First));
                self.end();
                self.row.extend(edge_place(node, Side::Last));
            }
            Node::Repeat { .. } => self.end(),
        }
    }

    /// What comes next does not stand beside what was last.
    fn end(&mut self) {
        let row = std::mem::take(&mut self.row);
        self.ended += 1;
        if !std::mem::take(&mut self.has_letters) {
            return;
        }
        self.pairs.extend(rarest(&row).map(|pair| (self.ended, pair)));
        for places in row.split(|place| matches!(place.others, Others::Many) || place.ascii == 0) {
            for places in places.chunks(LONGEST) {
                let found = sieve(places).or_else(|| sieve(without_edges(places)));
                self.sieves.extend(found.map(|sieve| (self.ended, sieve)));
            }
        }
    }
}

/// An end of what a node takes.
#[derive(Clone, Copy)]
enum Side {
    First,
    Last,
}

/// The letter that each choice has at this end.
fn edge_place(node: &Node, side: Side) -> Option<Place> {
    let mut ranges = edge(node, side)?;
    ranges.sort_unstable();
    ranges.dedup();
    // With more letters beyond ASCII the row beside it would have too many.
    Some(Place { is_edge: true, ..place(&ranges) })
        .filter(|place| matches!(&place.others, Others::Few(others) if others.len() < MOST_OTHERS))
}

/// The letters of which one is at this end of whatever the node takes; none if it may take nothing,
/// or that is not soon told.
fn edge(node: &Node, side: Side) -> Option<Vec<(char, char)>> {
    match node {
        Node::Letter(ranges) => Some(ranges.clone()),
        Node::Sequence(nodes) => {
            let mut nodes =
                nodes.iter().filter(|node| !matches!(node, Node::Look(_) | Node::Around(..)));
            let outer = match side {
                Side::First => nodes.next(),
                Side::Last => nodes.next_back(),
            };
            edge(outer?, side)
        }
        Node::Choice(nodes) => {
            let edges = nodes.iter().map(|node| edge(node, side)).collect::<Option<Vec<_>>>();
            edges.map(|edges| edges.concat())
        }
        Node::Repeat { least: 1.., node, .. } => edge(node, side),
        Node::Repeat { .. } | Node::Look(_) | Node::Around(..) => None,
    }
}

/// The row by itself: with what stands beside it, it may have too many letters beyond ASCII.
fn without_edges(places: &[Place]) -> &[Place] {
    let places = match places {
        [first, rest @ ..] if first.is_edge => rest,
        _ => places,
    };
    match places {
        [rest @ .., last] if last.is_edge => rest,
        _ => places,
    }
}

fn rarest(row: &[Place]) -> Option<Pair> {
    let letters: Vec<_> =
        row.iter().map(|place| (Bytes::of(place.ascii), place.others.are_there())).collect();
    let single = letters.iter().filter_map(|(bytes, others)| Some(((*bytes)?, None, *others)));
    let pairs = letters.windows(2).filter_map(|pair| match pair {
        [(Some(first), one), (Some(second), other)] => {
            Some((*first, Some(*second), *one || *other))
        }
        _ => None,
    });
    let pairs = single.chain(pairs).map(|(first, second, others)| {
        let share = first.share() * second.map_or(1.0, Bytes::share);
        Pair { first, second, others, share }
    });
    pairs.filter(|pair| pair.share < RARE).min_by(|one, other| one.share.total_cmp(&other.share))
}

fn sieve(places: &[Place]) -> Option<Sieve> {
    let sets: Vec<Set> = places.iter().map(|place| place.ascii).collect();
    let row = Row::of(&sets).filter(|row| row.share() < RARE)?;
    let others = places.iter().flat_map(|place| match &place.others {
        Others::Few(others) => others.as_slice(),
        Others::Many => &[],
    });
    Sieve::new(row, others.copied().collect())
}

impl Others {
    const fn are_there(&self) -> bool {
        match self {
            Self::Few(others) => !others.is_empty(),
            Self::Many => true,
        }
    }
}

fn place(ranges: &[(char, char)]) -> Place {
    let beyond = ranges.iter().filter(|(_, to)| !to.is_ascii());
    let beyond = beyond.flat_map(|(from, to)| (*from).max('\u{80}')..=*to);
    let others: Vec<char> = beyond.take(MOST_OTHERS + 1).collect();
    let others = if others.len() > MOST_OTHERS { Others::Many } else { Others::Few(others) };
    Place { ascii: ascii(ranges), others, is_edge: false }
}

//! What every text has that a pattern matches, as a letter or two in a row: looked for many bytes at a time, so that most texts need not be
//! matched at all.

use super::tree::Node;

/// More rows are not looked for.
const ROWS: usize = 2;
/// What more than one in so many places has tells little.
const RARE: f64 = 1.0 / 20.0;

/// What a text must have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Needed(Vec<Row>);

/// One or two bytes in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
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

/// The bit that tells small letters from capitals.
const CASE: u8 = 0x20;

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

/// In which share of the places of a text a byte is, roughly.
fn share(byte: u8) -> f64 {
    // Of English, in thousandths.
    const LETTERS: [u8; 26] =
        [65, 12, 22, 33, 103, 18, 16, 50, 57, 1, 6, 33, 20, 57, 62, 15, 1, 50, 52, 74, 23, 8, 19, 2, 16, 1];
    let letter = LETTERS.get(usize::from((byte | CASE).wrapping_sub(b'a'))).copied().unwrap_or_default();
    let thousandths = match byte {
        b'a'..=b'z' => f64::from(letter),
        b'A'..=b'Z' => f64::from(letter) / 20.0,
        b' ' => 180.0,
        b'\n' | b',' | b'.' | b'-' => 10.0,
        _ => 2.0,
    };
    thousandths / 1_000.0
}

impl Row {
    fn is_in(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        if self.others && !bytes.is_ascii() {
            return true;
        }
        // Without a way out before the end, so that many bytes are looked at together.
        match self.second {
            None => bytes.iter().fold(false, |is_in, byte| is_in | self.first.has(*byte)),
            Some(second) => {
                let rows = bytes.iter().zip(bytes.get(1..).unwrap_or_default());
                rows.fold(false, |is_in, (one, other)| is_in | (self.first.has(*one) & second.has(*other)))
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
        let mut rows = gathering.rows;
        rows.sort_by(|one, other| one.share.total_cmp(&other.share));
        rows.dedup();
        rows.truncate(ROWS);
        Self(rows)
    }

    /// Whether the text has it.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        self.0.iter().all(|row| row.is_in(text))
    }
}

/// Letters that have to stand in a row.
#[derive(Default)]
struct Gathering {
    row: Vec<(Option<Bytes>, bool)>,
    rows: Vec<Row>,
}

impl Gathering {
    fn add(&mut self, node: &Node) {
        match node {
            Node::Letter(ranges) => self.row.push(letter(ranges)),
            // They take no letter, so what stands beside them is in a row.
            Node::Look(_) | Node::Around(..) => {}
            Node::Sequence(nodes) => nodes.iter().for_each(|node| self.add(node)),
            Node::Repeat { least: 1.., most, node, .. } => {
                self.add(node);
                if *most != Some(1) {
                    self.end();
                }
            }
            Node::Choice(_) | Node::Repeat { .. } => self.end(),
        }
    }

    /// What comes next does not stand beside what was last.
    fn end(&mut self) {
        let row = std::mem::take(&mut self.row);
        let single = row.iter().filter_map(|(bytes, others)| Some((bytes.as_ref().copied()?, None, *others)));
        let pairs = row.windows(2).filter_map(|pair| match pair {
            [(Some(first), one), (Some(second), other)] => Some((*first, Some(*second), *one || *other)),
            _ => None,
        });
        let rows = single.chain(pairs).map(|(first, second, others)| {
            let share = first.share() * second.map_or(1.0, Bytes::share);
            Row { first, second, others, share }
        });
        let rarest = rows.filter(|row| row.share < RARE).min_by(|one, other| one.share.total_cmp(&other.share));
        self.rows.extend(rarest);
    }
}

/// The letters of ASCII among these, and whether there are others.
fn letter(ranges: &[(char, char)]) -> (Option<Bytes>, bool) {
    let is_in = |byte: &u8| ranges.iter().any(|(from, to)| (*from..=*to).contains(&char::from(*byte)));
    let ascii = (0..128_u8).filter(is_in).fold(0, |set, byte| set | 1_u128 << byte);
    (Bytes::of(ascii), ranges.iter().any(|(_, to)| !to.is_ascii()))
}

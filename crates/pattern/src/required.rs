//! What every text has that a pattern matches, as trigrams: three letters in a row, folded. An
//! index by trigrams tells which documents can match at all (Cox, "Regular Expression Matching with
//! a Trigram Index", 2012).

use std::collections::BTreeSet;

use crate::tree::Node;

/// Three letters in a row, folded.
pub type Trigram = [char; 3];

/// So many texts are followed at once.
const TEXTS: usize = 32;
/// A class of more letters tells nothing.
const LETTERS: u32 = 8;

/// What a text must have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Required {
    /// Nothing that is known.
    Nothing,
    /// This.
    Trigram(Trigram),
    /// All of these.
    All(Vec<Required>),
    /// One of these.
    Any(Vec<Required>),
}

/// Each trigram of `text`, once.
pub fn trigrams(text: &str) -> BTreeSet<Trigram> {
    each_trigram(text).collect()
}

/// The trigrams of `text`, as they come.
pub fn each_trigram(text: &str) -> impl Iterator<Item = Trigram> {
    let mut last = [None, None];
    text.chars().filter_map(move |letter| {
        let [first, second] = last;
        let third = folded(letter);
        last = [second, Some(third)];
        Some([first?, second?, third])
    })
}

/// A letter as trigrams have it. One letter for one, so that rows stay rows.
fn folded(letter: char) -> char {
    if letter.is_ascii() {
        return letter.to_ascii_lowercase();
    }
    letter.to_lowercase().next().unwrap_or(letter)
}

impl Required {
    fn all(mut parts: Vec<Self>) -> Self {
        parts.retain(|part| *part != Self::Nothing);
        parts.sort_unstable();
        parts.dedup();
        match (parts.len(), parts.pop()) {
            (_, None) => Self::Nothing,
            (1, Some(only)) => only,
            (_, Some(last)) => Self::All(parts.into_iter().chain([last]).collect()),
        }
    }

    fn any(mut parts: Vec<Self>) -> Self {
        if parts.is_empty() || parts.contains(&Self::Nothing) {
            return Self::Nothing;
        }
        parts.sort_unstable();
        parts.dedup();
        match (parts.len(), parts.pop()) {
            (1, Some(only)) => only,
            (_, last) => Self::Any(parts.into_iter().chain(last).collect()),
        }
    }

    fn of_texts(texts: &BTreeSet<String>) -> Self {
        let each =
            |text: &String| Self::all(trigrams(text).into_iter().map(Self::Trigram).collect());
        Self::any(texts.iter().map(each).collect())
    }
}

/// What is known of the texts that a node matches.
enum Known {
    /// These they are, folded; they are not many.
    Exactly(BTreeSet<String>),
    Required(Required),
}

/// What every text has that the pattern matches.
pub(crate) fn required(tree: &Node) -> Required {
    match known(tree) {
        Known::Exactly(texts) => Required::of_texts(&texts),
        Known::Required(required) => required,
    }
}

fn known(node: &Node) -> Known {
    match node {
        Node::Letter(ranges) => letters(ranges),
        // What a group that looks around needs is not looked at: less is required.
        Node::Look(_) | Node::Around(..) => empty(),
        Node::Sequence(nodes) => sequence(nodes.iter()),
        Node::Choice(nodes) => choice(nodes),
        Node::Repeat { least: 0, most: Some(1), node, .. } => match known(node) {
            Known::Exactly(mut texts) if texts.len() < TEXTS => {
                texts.insert(String::new());
                Known::Exactly(texts)
            }
            _ => Known::Required(Required::Nothing),
        },
        Node::Repeat { least: 0, .. } => Known::Required(Required::Nothing),
        Node::Repeat { least, most, node, .. } if Some(*least) == *most && *least <= 3 => {
            sequence(std::iter::repeat_n(node.as_ref(), *least as usize))
        }
        Node::Repeat { node, .. } => Known::Required(required(node)),
    }
}

fn empty() -> Known {
    Known::Exactly(BTreeSet::from([String::new()]))
}

fn letters(ranges: &[(char, char)]) -> Known {
    let count: u32 = ranges
        .iter()
        .map(|(from, to)| u32::from(*to) - u32::from(*from) + 1)
        .fold(0, u32::saturating_add);
    if count == 0 || count > LETTERS {
        return Known::Required(Required::Nothing);
    }
    let letters = ranges.iter().flat_map(|(from, to)| *from..=*to);
    Known::Exactly(letters.map(|letter| folded(letter).to_string()).collect())
}

fn sequence<'n>(nodes: impl Iterator<Item = &'n Node>) -> Known {
    let (mut parts, mut texts) = (Vec::new(), BTreeSet::from([String::new()]));
    let mut is_exact = true;
    for node in nodes {
        match known(node) {
            Known::Exactly(more) if texts.len() * more.len() <= TEXTS => {
                texts = texts
                    .iter()
                    .flat_map(|text| more.iter().map(move |more| format!("{text}{more}")))
                    .collect();
            }
            Known::Exactly(more) => {
                is_exact = false;
                parts.push(Required::of_texts(&texts));
                texts = more;
            }
            Known::Required(required) => {
                is_exact = false;
                parts.push(Required::of_texts(&texts));
                parts.push(required);
                texts = BTreeSet::from([String::new()]);
            }
        }
    }
    if is_exact {
        return Known::Exactly(texts);
    }
    parts.push(Required::of_texts(&texts));
    Known::Required(Required::all(parts))
}

fn choice(nodes: &[Node]) -> Known {
    let (mut texts, mut parts, mut is_exact) = (BTreeSet::new(), Vec::new(), true);
    for node in nodes {
        match known(node) {
            Known::Exactly(more) => {
                parts.push(Required::of_texts(&more));
                texts.extend(more);
            }
            Known::Required(required) => {
                is_exact = false;
                parts.push(required);
            }
        }
    }
    if is_exact && texts.len() <= TEXTS {
        Known::Exactly(texts)
    } else {
        Known::Required(Required::any(parts))
    }
}

//! Patterns against other matchers: plain ones against the crate `regex`, those that look around
//! against a matcher that goes back.

use std::ops::Range;

use leafbase_model::ErrorKind;
use proptest::prelude::*;

use super::syntax::{Parsed, parse};
use super::tree::{Node, tree};
use super::*;

const PLENTY: u64 = 50_000_000;

fn found(pattern: &Pattern, walking: bool, text: &str) -> Vec<Range<usize>> {
    let matcher = pattern.matcher();
    let mut matcher = if walking { matcher.walking() } else { matcher };
    let mut fuel = Fuel::new(PLENTY);
    let found = matcher.find_all(text, usize::MAX, &mut fuel).unwrap();
    assert_eq!(matcher.is_match(text, &mut fuel).unwrap(), !found.is_empty(), "{text:?}");
    let letters = matcher.find_letters(text, usize::MAX, &mut fuel).unwrap();
    assert!(
        letters.iter().eq(found.iter().filter(|range| !range.is_empty())),
        "{text:?}: {letters:?}"
    );
    found
}

/// Matches by going back: every way to go on, the preferred one first.
struct Backtracking<'t> {
    parsed: &'t Parsed,
    text: &'t str,
    /// Steps that are left: without any, there is no verdict.
    left: std::cell::Cell<u32>,
}

type Next<'n> = &'n dyn Fn(usize) -> Option<usize>;

impl Backtracking<'_> {
    fn node(&self, node: &Node, at: usize, next: Next<'_>) -> Option<usize> {
        self.left.set(self.left.get().saturating_sub(1));
        if self.left.get() == 0 {
            return None;
        }
        match node {
            Node::Letter(ranges) => {
                let letter = self.text[at..].chars().next()?;
                let is_in = ranges.iter().any(|(from, to)| (*from..=*to).contains(&letter));
                if is_in { next(at + letter.len_utf8()) } else { None }
            }
            Node::Look(look) => {
                if super::walk::holds(*look, self.text, at) {
                    next(at)
                } else {
                    None
                }
            }
            Node::Around(group, inner) => {
                let around = self.parsed.arounds[*group];
                let matches = if around.ahead {
                    self.node(inner, at, &Some).is_some()
                } else {
                    let starts = (0..=at).filter(|start| self.text.is_char_boundary(*start));
                    let ends = |start| {
                        self.node(inner, start, &|end| (end == at).then_some(end)).is_some()
                    };
                    starts.into_iter().any(ends)
                };
                if matches == around.negative { None } else { next(at) }
            }
            Node::Sequence(nodes) => match nodes.split_first() {
                None => next(at),
                Some((first, rest)) => {
                    let rest = Node::Sequence(rest.to_vec());
                    self.node(first, at, &|at| self.node(&rest, at, next))
                }
            },
            Node::Choice(nodes) => nodes.iter().find_map(|node| self.node(node, at, next)),
            Node::Repeat { least, most, greedy, node } => {
                self.repeat(*least, *most, *greedy, node, at, next)
            }
        }
    }

    fn repeat(
        &self,
        least: u32,
        most: Option<u32>,
        greedy: bool,
        node: &Node,
        at: usize,
        next: Next<'_>,
    ) -> Option<usize> {
        let more = || {
            if most == Some(0) {
                return None;
            }
            self.node(node, at, &|after| {
                // Matchers differ in what a turn that takes nothing is followed by: there is no
                // verdict.
                if after == at && least == 0 {
                    self.left.set(0);
                    return None;
                }
                self.repeat(
                    least.saturating_sub(1),
                    most.map(|most| most - 1),
                    greedy,
                    node,
                    after,
                    next,
                )
            })
        };
        match (least, greedy) {
            (1.., _) => more(),
            (0, true) => more().or_else(|| next(at)),
            (0, false) => next(at).or_else(more),
        }
    }

    fn all(&self, tree: &Node) -> Option<Vec<Range<usize>>> {
        let find = |from: usize| {
            let mut starts =
                (from..=self.text.len()).filter(|start| self.text.is_char_boundary(*start));
            Ok::<_, ()>(
                starts.find_map(|start| self.node(tree, start, &Some).map(|end| start..end)),
            )
        };
        let found = super::all(self.text, usize::MAX, true, find).ok();
        found.filter(|_| self.left.get() > 0)
    }
}

/// A pattern and what must be the same as it by going back; none if that takes too long.
fn by_going_back(pattern: &str, text: &str) -> Option<Vec<Range<usize>>> {
    let parsed = parse(pattern, true).unwrap();
    let tree = tree(&parsed).unwrap();
    Backtracking { parsed: &parsed, text, left: std::cell::Cell::new(200_000) }.all(&tree)
}

fn piece(around: bool) -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        6 => proptest::sample::select(vec!["a", "b", "c", "é", "字", "1", " "]).prop_map(str::to_owned),
        2 => proptest::sample::select(vec![".", "[ab]", "[^a]", r"\w", r"\d", r"\s", "[é字]", r"\W", "[a-c1]"]).prop_map(str::to_owned),
        1 => proptest::sample::select(vec!["^", "$", r"\b", r"\B", r"\A", r"\z", "(?m:^)", "(?m:$)"]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let looks = proptest::sample::select(vec!["(?=", "(?!"]);
        let behind = proptest::sample::select(vec!["(?<=", "(?<!"]);
        let fixed = proptest::sample::select(vec!["a", "ab", "[ab]c", "é", "a|b", "ab|c", ".", r"\bb", "(?=b)", "^a?{0}"]);
        prop_oneof![
            4 => proptest::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            2 => proptest::collection::vec(inner.clone(), 2..4).prop_map(|parts| format!("(?:{})", parts.join("|"))),
            3 => (inner.clone(), proptest::sample::select(vec!["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,2}?", "{2,}"]))
                .prop_map(|(inner, times)| format!("(?:{inner}){times}")),
            1 => inner.clone().prop_map(|inner| format!("({inner})")),
            if around { 2 } else { 0 } => (looks, inner).prop_map(|(look, inner)| format!("{look}{inner})")),
            if around { 2 } else { 0 } => (behind, fixed).prop_map(|(look, inner)| format!("{look}{})", inner.replace("a?{0}", "a"))),
        ]
    })
    .boxed()
}

fn text() -> impl Strategy<Value = String> {
    proptest::string::string_regex("[abcé字1 \n]{0,12}").unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn plain_patterns_match_as_elsewhere(pattern in piece(false), case in any::<bool>(), texts in proptest::collection::vec(text(), 1..4)) {
        let expected = regex::RegexBuilder::new(&pattern).case_insensitive(!case).build().unwrap();
        let pattern = Pattern::new(&pattern, case).unwrap();
        for text in &texts {
            let expected: Vec<_> = expected.find_iter(text).map(|found| found.range()).collect();
            prop_assert_eq!(&found(&pattern, false, text), &expected, "{:?}", text);
            prop_assert_eq!(&found(&pattern, true, text), &expected, "walking, {:?}", text);
        }
    }

    #[test]
    fn patterns_that_look_around_match_as_by_going_back(pattern in piece(true), texts in proptest::collection::vec(text(), 1..4)) {
        let compiled = Pattern::new(&pattern, true).unwrap();
        for text in &texts {
            if let Some(expected) = by_going_back(&pattern, text) {
                prop_assert_eq!(found(&compiled, false, text), expected, "{:?}", text);
            }
        }
    }

    #[test]
    fn what_matches_is_found_among_others(pattern in piece(false), case in any::<bool>(), texts in proptest::collection::vec(text(), 1..5)) {
        let pattern = Pattern::new(&pattern, case).unwrap();
        for separator in ['\0', '\n'].into_iter().filter(|separator| pattern.may_join(*separator)) {
            let joined = texts.join(separator.encode_utf8(&mut [0; 4]));
            for walking in [false, true] {
                let is_found = texts.iter().any(|text| !found(&pattern, walking, text).is_empty());
                prop_assert!(!is_found || !found(&pattern, walking, &joined).is_empty(), "{:?}", joined);
            }
        }
    }

    #[test]
    fn what_is_required_is_there(pattern in piece(true), case in any::<bool>(), text in text()) {
        let pattern = Pattern::new(&pattern, case).unwrap();
        if !found(&pattern, false, &text).is_empty() {
            prop_assert!(meets(pattern.required(), &trigrams(&text)), "{:?}", pattern.required());
            prop_assert!(pattern.may_match(text.as_bytes()), "{:?}", pattern.needed);
        }
    }

    #[test]
    fn texts_that_match_are_found_in_bytes_that_they_lie_among(pattern in piece(true), case in any::<bool>(), kelvin in any::<bool>(), texts in proptest::collection::vec(text(), 1..5)) {
        // The sign of Kelvin is a k, whatever the case.
        let other = |text: &String| text.replace('c', "k").replace('é', "\u{212a}");
        let (pattern, texts) = if kelvin { (other(&pattern), texts.iter().map(other).collect()) } else { (pattern, texts) };
        let pattern = Pattern::new(&pattern, case).unwrap();
        let bytes = [b"\x91", texts.join("\u{1}").as_bytes()].concat();
        if let Some(sieve) = pattern.sieve().filter(|sieve| sieve.tells(&bytes)) {
            let mut at = 1;
            for text in &texts {
                let end = at + text.len();
                let is_found = sieve.next(&bytes, at).is_some_and(|found| found < end);
                prop_assert!(is_found || found(&pattern, false, text).is_empty(), "{:?}: {:?}", sieve, text);
                at = end + 1;
            }
        }
    }

    #[test]
    fn what_is_told_without_an_automaton_is_so(start in short(), end in short(), between in piece(false), case in any::<bool>(), text in text()) {
        for pattern in [format!("{start}{end}"), format!("{start}{between}{end}"), between] {
            let pattern = Pattern::new(&pattern, case).unwrap();
            if let Some(told) = pattern.matches_plainly(text.as_bytes(), 0, &mut Fuel::new(PLENTY)) {
                prop_assert_eq!(told, !found(&pattern, true, &text).is_empty(), "{:?}: {:?}", pattern.needed, text);
            }
        }
    }

    #[test]
    fn a_row_is_found_where_it_is(sets in proptest::collection::vec(proptest::sample::subsequence(b"zqk".to_vec(), 1..3), 1..=16), bytes in dense()) {
        let sets: Vec<row::Set> = sets.iter().map(|set| set.iter().fold(0, |set, byte| set | 1 << byte)).collect();
        let row = row::Row::of(&sets).unwrap();
        let is_at = |here: &[u8]| here.iter().zip(&sets).all(|(byte, set)| byte.is_ascii() && set >> byte & 1 == 1);
        let expected: Vec<usize> = bytes.windows(sets.len()).enumerate().filter(|(_, here)| is_at(here)).map(|(at, _)| at).collect();
        let near = std::iter::successors(row.find(&bytes, 0), |at| row.find(&bytes, at + 1));
        let far = std::iter::successors(row.find_far(&bytes, 0), |at| row.find_far(&bytes, at + 1));
        prop_assert_eq!(near.collect::<Vec<_>>(), &expected[..]);
        prop_assert_eq!(far.collect::<Vec<_>>(), &expected[..]);
    }

    #[test]
    fn a_text_costs_its_length_if_the_row_is_in_it(start in short(), end in short(), text in text()) {
        let pattern = Pattern::new(&format!("{start}{end}"), false).unwrap();
        let Some(sieve) = pattern.sieve() else { return Ok(()) };
        let (rows, mut fuel) = (text.as_bytes().windows(1).enumerate().filter(|(at, _)| sieve.next(text.as_bytes(), *at) == Some(*at)), Fuel::new(PLENTY));
        let (rows, told) = (rows.count() as u64, pattern.matches_plainly(text.as_bytes(), 0, &mut fuel));
        let (steps, length) = (PLENTY - fuel.left(), text.len() as u64 / 4 + 1);
        // What is told by letters that the pattern needs elsewhere costs nothing either.
        match told.filter(|_| sieve.is_exact() && text.is_ascii() && rows > 0) {
            None => prop_assert_eq!(steps, 0),
            Some(true) => prop_assert!((length + 1..=length + rows).contains(&steps), "{} for {}", steps, text),
            Some(false) => prop_assert_eq!(steps, length + rows),
        }
        // With less there is no verdict.
        if let Some(fewer) = steps.checked_sub(1) {
            prop_assert_eq!(pattern.matches_plainly(text.as_bytes(), 0, &mut Fuel::new(fewer)), None);
            prop_assert_eq!(pattern.matches_plainly(text.as_bytes(), 0, &mut Fuel::new(steps)), told);
        }
    }

    #[test]
    fn texts_that_match_are_told_from_others_that_they_are_laid_to(pattern in piece(false), case in any::<bool>(), texts in proptest::collection::vec(text(), 1..5)) {
        let pattern = Pattern::new(&pattern, case).unwrap();
        let matches = |text: &String| !found(&pattern, true, text).is_empty();
        for separator in ['\0', '\n'].into_iter().filter(|separator| pattern.may_join(*separator)) {
            let (laid, mut at) = (laid(&pattern, &texts, separator), 0);
            for next in laid.into_iter().chain([texts.len()]) {
                prop_assert!(!texts[at..next].iter().any(matches), "{:?} up to {}", texts, next);
                if let Some(text) = texts.get(next).filter(|_| pattern.stays_within(separator) && is_plain(&texts)) {
                    prop_assert!(matches(text), "{:?}", text);
                }
                at = next + 1;
            }
        }
    }
}

/// Bytes that almost have rows of these letters everywhere, and some that have them nowhere.
fn dense() -> impl Strategy<Value = Vec<u8>> {
    let piece = proptest::sample::select(vec![
        "z",
        "zz",
        "q",
        "k",
        "zqk",
        "zzzzzzzzzzzzzzzz",
        "a stretch of others",
        "\u{fe}",
    ]);
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat().into_bytes())
}

/// Patterns that are mostly letters in a row.
fn short() -> impl Strategy<Value = String> {
    let part = proptest::sample::select(vec![
        "a",
        "b",
        "[ab]",
        r"\w",
        r"\b",
        r"\B",
        "^",
        "$",
        " ",
        r"\w+",
        "a*",
        "b?",
        "a{2}",
        r"(?:\w+?)",
    ]);
    proptest::collection::vec(part, 0..5).prop_map(|parts| parts.concat())
}

#[test]
fn letters_in_a_row_need_no_automaton() {
    for (pattern, text, expected) in [
        (r"\w+ck\b", "a Clock", Some(true)),
        (r"\w+ck\b", "ck clocks", Some(false)),
        (r"\w+ck\b", "cloc\u{212a}", None),
        (r"\b\w\w \d+", "on 12", None),
        (r"\b\w\w \d+", "one two", Some(false)),
        (r"\Bkll\w*", "skill, skll", Some(true)),
        (r"\Bkll\w*", "kll", Some(false)),
        (r"\s*(no)t?", "No", Some(true)),
        ("^k{3}$", "kkk", None),
        (r"a\w+b", "aab", None),
        (r"\w+", "a", None),
        ("x|y", "x", None),
    ] {
        let told = Pattern::new(pattern, false).unwrap().matches_plainly(
            text.as_bytes(),
            0,
            &mut Fuel::new(PLENTY),
        );
        assert_eq!(told, expected, "{pattern} {text}");
    }
}

#[test]
fn a_row_is_sought_by_its_rarest_letter() {
    for (pattern, bytes, expected) in [
        (r"\w+ck\b", "a clock, a sock", vec![5, 13]),
        ("lantern \\w+ train\\w+", "a LANTERN and trains, lanterns", vec![2]),
        ("trained|trains", "train, trains, retrained", vec![7, 17]),
        ("(?:kick|rock|zip)ed", "locked, baked, sailed, zipped", vec![3, 10, 26]),
        ("(?-i)Ace", "ace Ace", vec![4]),
    ] {
        let pattern = Pattern::new(pattern, false).unwrap();
        let sieve = pattern.sieve().unwrap();
        let found = std::iter::successors(sieve.next(bytes.as_bytes(), 0), |at| {
            sieve.next(bytes.as_bytes(), at + 1)
        });
        assert_eq!(found.collect::<Vec<_>>(), expected, "{bytes}");
    }
    let row =
        row::Row::of(&[b'a', b'b', b'c'].map(|byte| 1 << byte | 1 << (byte ^ row::CASE))).unwrap();
    for bytes in
        ["", "b", "ab", "abc", "xxABCx", &"xaBc".repeat(30), &format!("{}c abc", "ab".repeat(40))]
    {
        let far = std::iter::successors(row.find_far(bytes.as_bytes(), 0), |at| {
            row.find_far(bytes.as_bytes(), at + 1)
        });
        let near = std::iter::successors(row.find(bytes.as_bytes(), 0), |at| {
            row.find(bytes.as_bytes(), at + 1)
        });
        assert_eq!(far.collect::<Vec<_>>(), near.collect::<Vec<_>>(), "{bytes}");
    }
    for pattern in [r"\w+", "e", "[a-f][0-9]", "東京", "(?=ck)", "a|ck"] {
        assert!(Pattern::new(pattern, false).unwrap().sieve().is_none(), "{pattern}");
    }
}

/// Texts about which an automaton can always tell.
fn is_plain(texts: &[String]) -> bool {
    texts.iter().all(|text| text.is_ascii())
}

/// Which texts are told of as matches, one after the other, of those laid together.
fn laid(pattern: &Pattern, texts: &[String], separator: char) -> Vec<usize> {
    let (joined, mut matcher) = (texts.join(separator.encode_utf8(&mut [0; 4])), pattern.matcher());
    let ends: Vec<usize> = texts
        .iter()
        .scan(0, |at, text| Some(std::mem::replace(at, *at + text.len() + 1) + text.len()))
        .collect();
    let (mut told, mut from) = (Vec::new(), 0);
    while from <= joined.len() {
        let end = match matcher.least_end(&joined, joined.is_ascii(), from, &mut Fuel::new(PLENTY))
        {
            Ok(Some(end)) => end,
            Ok(None) => break,
            // Each of them has to be looked at.
            Err(Unknown) => from,
        };
        let text = ends.partition_point(|other| *other < end);
        told.extend((text < texts.len()).then_some(text));
        from = ends.get(text).map_or(usize::MAX, |end| end + 1);
    }
    told
}

#[test]
fn what_another_pattern_needs_would_be_found_out() {
    let outcome = proptest::test_runner::TestRunner::deterministic().run(
        &(piece(false), text()),
        |(pattern, text)| {
            let other = Pattern::new(&format!("(?:{pattern})b"), true).unwrap();
            let is_found = !found(&Pattern::new(&pattern, true).unwrap(), true, &text).is_empty();
            prop_assert!(!is_found || other.may_match(text.as_bytes()));
            Ok(())
        },
    );
    assert!(outcome.is_err());
}

fn meets(required: &Required, trigrams: &std::collections::BTreeSet<Trigram>) -> bool {
    match required {
        Required::Nothing => true,
        Required::Trigram(trigram) => trigrams.contains(trigram),
        Required::All(parts) => parts.iter().all(|part| meets(part, trigrams)),
        Required::Any(parts) => parts.iter().any(|part| meets(part, trigrams)),
    }
}

#[test]
fn the_matcher_that_goes_back_agrees_with_another_one() {
    for (pattern, text) in [
        ("a+?b|a", "aab a"),
        ("(?:ab|a)(?:c|bcd)", "abcd"),
        (r"\b\w+\b", "ab é字 1"),
        ("a*", "baa"),
    ] {
        let expected: Vec<_> = regex::Regex::new(pattern)
            .unwrap()
            .find_iter(text)
            .map(|found| found.range())
            .collect();
        assert_eq!(by_going_back(pattern, text).unwrap(), expected, "{pattern}");
    }
}

#[test]
fn looking_around() {
    for (pattern, expected) in [
        ("a(?=b)", "<a>b ac"),
        ("a(?!b)", "ab <a>c"),
        ("(?<=b)a", "b<a> ca"),
        ("(?<!b)a", "ba c<a>"),
        ("(?<=€)\\d+", "€<12> 13"),
        ("(?i)A(?=B)", "<a>b"),
        ("(?=(?i:X))x", "<x>"),
        (r"(?<=\bfoo)bar", "foo<bar> xfoobar"),
        ("(?<!a|bc)d", "ad bcd <d>"),
        ("(?=.*\\d)(?=.*[a-z]).{3,}", "<abc1>"),
        ("^(?!.*no).*$", "<yes>"),
        ("^(?!.*no).*$", "oh no"),
        ("(?:(?=a)a){2}", "<aa>"),
        ("(?!)|x", "<x>"),
        ("(?=)", "<>"),
        ("(?<=(?<!a)b)c", "abc b<c>"),
        ("a(?=b(?!c))", "abc <a>bd"),
    ] {
        let text = expected.replace(['<', '>'], "");
        let mut shown = text.clone();
        for Range { start, end } in
            found(&Pattern::new(pattern, true).unwrap(), false, &text).into_iter().rev()
        {
            shown.insert(end, '>');
            shown.insert(start, '<');
        }
        assert_eq!(shown, expected, "{pattern}");
    }
}

#[test]
fn what_is_no_pattern_is_refused_with_its_place() {
    for (pattern, message) in [
        (r"(a)\1", "back-references are not supported, at byte 3"),
        (r"(?<n>a)\k<n>", "back-references are not supported, at byte 7"),
        ("(?P<n>a)(?P=n)", "back-references are not supported, at byte 8"),
        ("x(?>a)", "atomic groups are not supported, at byte 1"),
        ("a++b", "possessive repetitions are not supported, at byte 2"),
        ("a{2}+b", "possessive repetitions are not supported, at byte 4"),
        ("a**", "a repetition cannot be repeated, at byte 2"),
        ("é(?<=a+)c", "a look-behind needs a fixed width, at byte 2"),
        ("(?<!a|b*)c", "a look-behind needs a fixed width, at byte 0"),
        ("(?(1)a|b)", "conditions are not supported, at byte 0"),
        ("a(?R)", "recursion is not supported, at byte 1"),
        ("a(?1)", "recursion is not supported, at byte 3"),
        (r"a\Kb", "what is matched cannot depend on where the search is, at byte 1"),
        ("(?#x)a", "comments are not supported, at byte 0"),
        ("(?x)a b", "the flags are i, m, s and U, at byte 2"),
        ("a{1001}", "repeated more than 1000 times, at byte 1"),
        ("(a", "unclosed group, at byte 0"),
        ("a)", "unopened group, at byte 1"),
        ("é[a", "unclosed character class, at byte 2"),
        ("(?=a", "unclosed group, at byte 0"),
        ("(?=a)(?<=b))", "unopened group, at byte 11"),
        ("*a", "repetition operator missing expression, at byte 0"),
        (r"(?=a)\q", "unrecognized escape sequence, at byte 5"),
    ] {
        let error = Pattern::new(pattern, true).unwrap_err();
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::InvalidPattern, message),
            "{pattern}"
        );
    }
    let error = Pattern::new(&"a".repeat(1_001), true).unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::LimitExceeded, "bytes of a pattern: at most 1000, got 1001")
    );
    assert_eq!(Pattern::new("(?:a{500}){500}", true).unwrap_err().kind(), ErrorKind::LimitExceeded);
}

#[test]
fn what_looks_like_something_else_is_taken_as_it_is() {
    for (pattern, text, is_match) in [
        ("a{", "a{", true),
        ("a{b}", "a{b}", true),
        ("a{,2}", "a{,2}", true),
        (r"\Q(a+\E+", "(a+++", true),
        (r"\Qa.b", "axb", false),
        ("[(?=]", "?", true),
        (r"\(?=", "=", true),
        ("[]a]", "]", true),
        ("[^]a]", "b", true),
        ("[a[b]]", "b", true),
        ("[[:alpha:]*+]", "+", true),
        (r"\x{61}+?", "a", true),
        (r"\p{Greek}", "ω", true),
    ] {
        let pattern = Pattern::new(pattern, true).unwrap();
        assert_eq!(!found(&pattern, false, text).is_empty(), is_match, "{text}");
    }
}

#[test]
fn texts_are_laid_together_where_that_hides_nothing() {
    for (pattern, zero, line_break) in [
        ("a.c", true, true),
        ("[^b]*", true, true),
        (r"\bword\B", true, true),
        ("(?m)^a", false, true),
        ("(?m)a$", false, true),
        ("^a", false, false),
        ("a|b$", false, false),
        (r"\Aa", false, false),
        (r"a\z", false, false),
        ("a(?=b)", false, false),
        ("a(?!b)", false, false),
        (r"\w{1000}", true, true),
    ] {
        let read =
            Pattern::new(pattern, false).map_err(|error| format!("{pattern}: {error}")).unwrap();
        assert_eq!((read.may_join('\0'), read.may_join('\n')), (zero, line_break), "{pattern}");
        assert!(!read.may_join('x'));
    }
}

#[test]
fn steps_are_lent_and_what_is_left_of_them_comes_back() {
    let mut fuel = Fuel::new(100);
    for (most, steps, is_done, left) in
        [(30, 10, true, 90), (30, 31, false, 60), (70, 60, true, 0), (1, 1, false, 0)]
    {
        let done = fuel.lend(most, |fuel| fuel.take(steps).is_ok());
        assert_eq!((done, fuel.left()), (is_done, left));
    }
}

/// The decision is needed: without it, what matches would not be found.
#[test]
fn texts_that_may_not_be_laid_together_would_hide_a_match() {
    for pattern in ["^b", "a$", r"a\z", "a(?!.*b)", "(?<!a.)b"] {
        let pattern = Pattern::new(&pattern.replace('.', r"[\s\S]"), true).unwrap();
        let is_found = |text| !found(&pattern, false, text).is_empty();
        assert!(
            (is_found("a") || is_found("b")) && !is_found("a\nb\na\nb.") && !pattern.may_join('\n'),
            "{pattern:?}"
        );
    }
}

#[test]
fn what_is_required_is_said_shortly() {
    let required =
        |pattern: &str| format!("{:?}", Pattern::new(pattern, false).unwrap().required());
    for (pattern, expected) in [
        ("Abc", "Trigram(['a', 'b', 'c'])"),
        ("ab", "Nothing"),
        (
            "colou?r",
            "Any([All([Trigram(['c', 'o', 'l']), Trigram(['l', 'o', 'r']), Trigram(['o', 'l', 'o'])]), All([Trigram(['c', 'o', 'l']), Trigram(['l', 'o', 'u']), Trigram(['o', 'l', 'o']), Trigram(['o', 'u', 'r'])])])",
        ),
        (".*abc.*def", "All([Trigram(['a', 'b', 'c']), Trigram(['d', 'e', 'f'])])"),
        (r"\d+", "Nothing"),
        ("abc|x", "Nothing"),
        ("(?=abc)d", "Nothing"),
        ("abc(?!d)", "Trigram(['a', 'b', 'c'])"),
        ("(?:abc)+", "Trigram(['a', 'b', 'c'])"),
    ] {
        assert_eq!(required(pattern), expected, "{pattern}");
    }
}

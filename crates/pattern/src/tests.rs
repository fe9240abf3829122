//! Patterns against other matchers: plain ones against the crate `regex`, those that look around
//! against a matcher that goes back.

use std::ops::Range;

use leafbase_model::ErrorKind;
use proptest::prelude::*;

use super::matcher::collect_matches;
use super::syntax::{ParsedPattern, parse};
use super::tree::{Node, tree};
use super::*;

const PLENTY: u64 = 50_000_000;

fn found(pattern: &Pattern, walking: bool, text: &str) -> Vec<Range<usize>> {
    let matcher = pattern.matcher();
    let mut matcher = if walking { matcher.without_dfas() } else { matcher };
    let mut budget = StepBudget::new(PLENTY);
    let found = matcher.find_all(text, usize::MAX, &mut budget).unwrap();
    assert_eq!(matcher.is_match(text, &mut budget).unwrap(), !found.is_empty(), "{text:?}");
    let letters = matcher.find_non_empty(text, usize::MAX, &mut budget).unwrap();
    assert!(
        letters.iter().eq(found.iter().filter(|range| !range.is_empty())),
        "{text:?}: {letters:?}"
    );
    found
}

/// Matches by going back: every way to go on, the preferred one first.
struct Backtracking<'t> {
    parsed: &'t ParsedPattern,
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
            Node::Class(ranges) => {
                let letter = self.text[at..].chars().next()?;
                let is_in = ranges.iter().any(|(from, to)| (*from..=*to).contains(&letter));
                if is_in { next(at + letter.len_utf8()) } else { None }
            }
            Node::Look(look) => {
                if super::pike_vm::holds(*look, self.text, at) {
                    next(at)
                } else {
                    None
                }
            }
            Node::LookAround(group, inner) => {
                let around = self.parsed.look_arounds[*group];
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
            Node::Concat(nodes) => match nodes.split_first() {
                None => next(at),
                Some((first, rest)) => {
                    let rest = Node::Concat(rest.to_vec());
                    self.node(first, at, &|at| self.node(&rest, at, next))
                }
            },
            Node::Alternation(nodes) => nodes.iter().find_map(|node| self.node(node, at, next)),
            Node::Group(_, node) => self.node(node, at, next),
            Node::Repetition { min: least, max: most, greedy, node } => {
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
        let found = collect_matches(self.text, usize::MAX, true, find).ok();
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
    fn groups_are_those_of_another_library(pattern in piece(false), texts in proptest::collection::vec(text(), 1..4)) {
        let elsewhere = regex::Regex::new(&pattern).unwrap();
        let groups: Vec<_> = (0..elsewhere.captures_len()).map(|group| format!("[${{{group}}}]")).collect();
        let template = groups.concat();
        let pattern = Pattern::new(&pattern, true).unwrap();
        for text in &texts {
            let expected: Vec<String> = elsewhere
                .captures_iter(text)
                .map(|found| {
                    let mut replacement = String::new();
                    found.expand(&template, &mut replacement);
                    replacement
                })
                .collect();
            prop_assert_eq!(replaced(&pattern, &template, text), expected, "{:?}", text);
        }
    }

    /// Whatever a pattern looks at, a group around all of it is the match.
    #[test]
    fn a_group_around_the_pattern_is_the_match(pattern in piece(true), texts in proptest::collection::vec(text(), 1..4)) {
        let grouped = Pattern::new(&format!("({pattern})"), true).unwrap();
        for text in &texts {
            let expected: Vec<_> = found(&grouped, true, text).into_iter().map(|range| text[range].to_owned()).collect();
            prop_assert_eq!(replaced(&grouped, "$1", text), expected, "{:?}", text);
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
    fn what_is_required_is_there(pattern in piece(true), case in any::<bool>(), text in text()) {
        let pattern = Pattern::new(&pattern, case).unwrap();
        if !unfiltered(&pattern, &text).is_empty() {
            prop_assert!(meets(pattern.trigram_query(), &trigrams(&text)), "{:?}", pattern.trigram_query());
            prop_assert!(pattern.may_match(&text), "{:?}", pattern.prefilter());
        }
    }

    #[test]
    fn texts_that_match_are_found_in_bytes_that_they_lie_among(pattern in piece(true), case in any::<bool>(), kelvin in any::<bool>(), texts in proptest::collection::vec(text(), 1..5)) {
        // The sign of Kelvin is a k, whatever the case.
        let other = |text: &String| text.replace('c', "k").replace('é', "\u{212a}");
        let (pattern, texts) = if kelvin { (other(&pattern), texts.iter().map(other).collect()) } else { (pattern, texts) };
        let pattern = Pattern::new(&pattern, case).unwrap();
        let bytes = [b"\x91", texts.join("\u{1}").as_bytes()].concat();
        if let Some(prefilter) = pattern.prefilter() {
            let mut candidates = prefilter.candidates(&bytes);
            let mut at = 1;
            for text in &texts {
                let range = at..at + text.len();
                let is_candidate = candidates.advance_to(&range);
                prop_assert_eq!(is_candidate, prefilter.find(&bytes, range.start).is_some_and(|found| found < range.end));
                prop_assert!(is_candidate || unfiltered(&pattern, text).is_empty(), "{:?}: {:?}", prefilter, text);
                at = range.end + 1;
            }
        }
    }
}

/// The matches of the Pike VM, without the prefilter.
fn unfiltered(pattern: &Pattern, text: &str) -> Vec<Range<usize>> {
    let (mut cache, mut budget) = (pike_vm::PikeCache::default(), StepBudget::new(PLENTY));
    let mut vm = pike_vm::PikeVm::new(&pattern.program, text, &mut cache, &mut budget).unwrap();
    collect_matches(text, usize::MAX, true, |from| vm.find(from, &mut budget)).unwrap()
}

fn offsets(prefilter: &Prefilter, haystack: &str) -> Vec<usize> {
    let find = |from| prefilter.find(haystack.as_bytes(), from);
    std::iter::successors(find(0), |at| find(at + 1)).collect()
}

#[test]
fn the_prefilter_searches_for_the_rarest_literals() {
    for (pattern, haystack, expected) in [
        (r"\w+ck\b", "a clock, a sock, cloc\u{212a}", vec![5, 13, 20]),
        ("lantern \\w+ train\\w+", "a LANTERN and trains, lamps", vec![13]),
        ("trained|trains", "train, trains, retrained", vec![0, 7, 17]),
        ("(?:kick|rock|zip)", "locked, rocked, sailed, zipped", vec![8, 24]),
        ("(?-i)Ace", "ace Ace", vec![4]),
        ("東京", "京都, 東京", vec![8]),
        (r"\d\d:\d\d", "at 22:15", vec![5]),
        ("x(?=ck)", "ck x", vec![3]),
    ] {
        let pattern = Pattern::new(pattern, false).unwrap();
        assert_eq!(offsets(pattern.prefilter().unwrap(), haystack), expected, "{haystack}");
    }
    for pattern in [r"\w+", "e", "(?=ck)", "a|ck", "(?:ck)*", "(?:ck)?", "[a-z]k?"] {
        assert!(Pattern::new(pattern, false).unwrap().prefilter().is_none(), "{pattern}");
    }
}

#[test]
fn words_are_found_in_any_case_at_their_beginning() {
    let of = |words: &[&str]| Prefilter::of_ascii_words(words.iter().copied());
    let haystack = "Hopes, all LANTERNS; 25 hops";
    assert_eq!(offsets(&of(&["hop", "lantern"]).unwrap(), haystack), [0, 11, 24]);
    assert_eq!(offsets(&of(&["25"]).unwrap(), haystack), [21]);
    // One word by its rarest byte, first, last or within; one of frequent bytes.
    let haystack = "Pale zest, HELP, zESTy lap; the rents p";
    for (word, expected) in [
        ("pale", vec![0]),
        ("help", vec![11]),
        ("ZEST", vec![5, 17]),
        ("p", vec![0, 14, 25, 38]),
        ("tents", vec![]),
        ("ents", vec![33]),
    ] {
        assert_eq!(offsets(&of(&[word]).unwrap(), haystack), expected, "{word}");
    }
    assert!(of(&["hop", "é"]).is_none() && of(&["hop", ""]).is_none() && of(&["x"; 9]).is_none());
}

#[test]
fn what_another_pattern_needs_would_be_found_out() {
    let outcome = proptest::test_runner::TestRunner::deterministic().run(
        &(piece(false), text()),
        |(pattern, text)| {
            let other = Pattern::new(&format!("(?:{pattern})b"), true).unwrap();
            let is_found = !unfiltered(&Pattern::new(&pattern, true).unwrap(), &text).is_empty();
            prop_assert!(!is_found || other.may_match(&text));
            Ok(())
        },
    );
    assert!(outcome.is_err());
}

fn meets(query: &TrigramQuery, trigrams: &std::collections::BTreeSet<Trigram>) -> bool {
    match query {
        TrigramQuery::Unrestricted => true,
        TrigramQuery::Trigram(trigram) => trigrams.contains(trigram),
        TrigramQuery::And(parts) => parts.iter().all(|part| meets(part, trigrams)),
        TrigramQuery::Or(parts) => parts.iter().any(|part| meets(part, trigrams)),
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
        ("(?<=Mr|Mrs) a", "Mr< a> Mrs< a> Ms a"),
        ("(?<=(?:x|yy)z)a", "xz<a> yyz<a> ya"),
        // These characters once marked look-arounds.
        (r"\x{10F000}(?=a)", "<\u{10f000}>a \u{10f000}b"),
        ("\u{10f001}|(?<=\u{10f000})a", "<\u{10f001}> \u{10f000}<a>"),
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

fn replaced(pattern: &Pattern, template: &str, text: &str) -> Vec<String> {
    let matches = found(pattern, false, text);
    let replacer = pattern.replacer(template).unwrap();
    replacer.replacements(text, &matches, &mut StepBudget::new(PLENTY)).unwrap()
}

#[test]
fn templates_name_groups() {
    let text = "Ada Lovelace, Alan Turing";
    for (pattern, template, expected) in [
        (r"(\w+) (\w+)", "$2 $1", &["Lovelace Ada", "Turing Alan"][..]),
        (r"(\w)\w* (?<last>\w+)", "${last}, $1.", &["Lovelace, A.", "Turing, A."]),
        (r"(\w+) (\w+)", "$$1 $ $x ${no-name} $&", &["$1 $ $x ${no-name} $&"; 2]),
        (r"Al(an)|Ad(a)", "<$1|$2>", &["<|a>", "<an|>"]),
        (r"(A)(d|l)", "$10$21$0", &["A0d1Ad", "A0l1Al"]),
        (r"(?<=(\w)) (?=(T))", "_$1$2", &["_"; 2][..1]),
        (r"(?:(a)|(b)|(d)|(l)){2}", "$1$2$3$4", &["ad", "al", "al"]),
        (r"(?i:(a)|(b)|(d)|(l)){2}", "$1$2$3$4", &["Ad", "al", "Al"]),
    ] {
        let pattern = Pattern::new(pattern, true).unwrap();
        assert_eq!(replaced(&pattern, template, text), expected, "{template}");
    }
    for (template, message) in [
        ("$2", "the pattern has no group 2"),
        ("${7}", "the pattern has no group 7"),
        ("${last}", "the pattern has no group last"),
    ] {
        let refused = Pattern::new("(a)", true).unwrap().replacer(template).unwrap_err();
        assert_eq!((refused.kind(), refused.message()), (ErrorKind::Validation, message));
    }
    let long = "a".repeat(10_000);
    let replacer = Pattern::new("(a*)*b?", true).unwrap().replacer("$1").unwrap();
    let whole = std::slice::from_ref(&(0..10_000));
    let within = replacer.replacements(&long, whole, &mut StepBudget::new(1_000));
    assert_eq!(within, Err(BudgetExhausted));
}

#[test]
fn what_is_no_pattern_is_refused_with_its_place() {
    for (pattern, message) in [
        (r"(a)\1", "back-references are not supported, at byte 3"),
        (r"(a)\81", "back-references are not supported, at byte 3"),
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
        (r"a\Kb", "match resets are not supported, at byte 1"),
        ("(?#x)a", "comments are not supported, at byte 0"),
        ("(?x)a b", "the flags are i, m, s and U, at byte 2"),
        ("a{1001}", "repeated more than 1000 times, at byte 1"),
        ("(a", "unclosed group, at byte 0"),
        ("a)", "unopened group, at byte 1"),
        ("é[a", "unclosed character class, at byte 2"),
        ("é[a[:ab:]]", "unknown name of a character class, at byte 4"),
        ("[z-a[]", "invalid character class range, the start must be <= the end, at byte 1"),
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
        // In RE2 classes do not nest and have no operators.
        ("^[a[b]]$", "[]", true),
        ("^[a[b]]$", "b", false),
        ("[[]", "[", true),
        (r"^[^[]+\]$", "ab]", true),
        ("^[a&&b]+$", "a&b", true),
        ("^[a~~b]+$", "a~b", true),
        ("^[+--]+$", "+,-", true),
        ("^[--/]+$", "-./", true),
        (r"^[\d-z]+$", "7-z", true),
        ("^[[:digit:]-z]+$", "7-z", true),
        ("^[a-]+$", "a-", true),
        (r"^[\x41-\x43\x{44}]+$", "ABCD", true),
        (r"^[\p{Greek}-]+$", "ω-", true),
        (r"^\p{^Greek}\P{^Greek}$", "aω", true),
        (r"^[\p{^Greek}]$", "ω", false),
        (r"^\101\0602\07$", "A02\u{7}", true),
        (r"^[\101-\103]+$", "ABC", true),
        (r"^\777\08$", "ǿ\08", true),
        (r"^[\pL-9]+$", "ω-9", true),
        (r"^[\<\]]+$", "<]", true),
        (r"^\<caption\>$", "<caption>", true),
        (r"^x\b{start}$", "x{start}", true),
        (r"\b{2}x\b", "x", true),
        ("[[:alpha:]*+]", "+", true),
        (r"\x{61}+?", "a", true),
        (r"\p{Greek}", "ω", true),
    ] {
        let pattern = Pattern::new(pattern, true).unwrap();
        assert_eq!(!found(&pattern, false, text).is_empty(), is_match, "{text}");
    }
}

#[test]
fn steps_are_lent_and_what_is_left_of_them_comes_back() {
    let mut budget = StepBudget::new(100);
    for (most, steps, is_done, left) in
        [(30, 10, true, 90), (30, 31, false, 60), (70, 60, true, 0), (1, 1, false, 0)]
    {
        let done = budget.lend(most, |budget| budget.consume(steps).is_ok());
        assert_eq!((done, budget.remaining()), (is_done, left));
    }
}

#[test]
fn trigram_queries_are_simplified() {
    let query =
        |pattern: &str| format!("{:?}", Pattern::new(pattern, false).unwrap().trigram_query());
    for (pattern, expected) in [
        ("Abc", "Trigram(['a', 'b', 'c'])"),
        ("ab", "Unrestricted"),
        (
            "colou?r",
            "Or([And([Trigram(['c', 'o', 'l']), Trigram(['l', 'o', 'r']), Trigram(['o', 'l', 'o'])]), And([Trigram(['c', 'o', 'l']), Trigram(['l', 'o', 'u']), Trigram(['o', 'l', 'o']), Trigram(['o', 'u', 'r'])])])",
        ),
        (".*abc.*def", "And([Trigram(['a', 'b', 'c']), Trigram(['d', 'e', 'f'])])"),
        (r"\d+", "Unrestricted"),
        ("abc|x", "Unrestricted"),
        ("(?=abc)d", "Unrestricted"),
        ("abc(?!d)", "Trigram(['a', 'b', 'c'])"),
        ("(?:abc)+", "Trigram(['a', 'b', 'c'])"),
    ] {
        assert_eq!(query(pattern), expected, "{pattern}");
    }
}

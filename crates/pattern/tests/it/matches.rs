//! What patterns match: each row is a pattern and a text, in which what is matched stands between
//! `<` and `>`. Plain patterns are held against the crate `regex`, too.

use std::ops::Range;

use leafbase_pattern::{Pattern, StepBudget};

type Row = (&'static str, &'static str);

fn marked(text: &str, ranges: &[Range<usize>]) -> String {
    let mut marked = text.to_owned();
    for range in ranges.iter().rev() {
        marked.insert(range.end, '>');
        marked.insert(range.start, '<');
    }
    marked
}

fn found(pattern: &str, text: &str) -> String {
    let read = Pattern::new(pattern, true).unwrap_or_else(|error| panic!("{pattern}: {error}"));
    let (mut matcher, mut budget) = (read.matcher(), StepBudget::new(1_000_000));
    let ranges = matcher.find_all(text, usize::MAX, &mut budget).unwrap();
    assert_eq!(matcher.is_match(text, &mut budget), Ok(!ranges.is_empty()), "{pattern}");
    marked(text, &ranges)
}

fn check(rows: &[Row]) {
    let found =
        |(pattern, expected): &Row| (*pattern, found(pattern, &expected.replace(['<', '>'], "")));
    let wrong = rows
        .iter()
        .filter(|row| found(row).1 != row.1)
        .map(|row| (found(row), row.1))
        .collect::<Vec<_>>();
    assert!(wrong.is_empty(), "found, expected: {wrong:#?}");
}

/// Plain patterns, as another crate matches them, too.
fn check_plain(rows: &[Row]) {
    check(rows);
    for (pattern, expected) in rows {
        let text = expected.replace(['<', '>'], "");
        let ranges: Vec<_> = regex::Regex::new(pattern)
            .unwrap()
            .find_iter(&text)
            .map(|found| found.range())
            .collect();
        assert_eq!(marked(&text, &ranges), *expected, "{pattern}, elsewhere");
    }
}

#[test]
fn literals() {
    check_plain(&[
        ("a", "<a>"),
        ("a", "b"),
        ("a", "xx<a>yy<a>"),
        ("abc", "xab<abc>y"),
        ("abc", "ab"),
        ("aa", "<aa>a"),
        ("aa", "<aa><aa>"),
        (r"\.", "a<.>b"),
        (r"\*\+\?", "<*+?>"),
        (r"a\\b", r"<a\b>"),
        (r"\t\n", "a<\t\n>b"),
        (r"\x61\x{62}", "<ab>"),
        (r"\u0061", "<a>"),
        (r"\x{1F389}", "<🎉>!"),
        ("☃", "a<☃>"),
        ("naïve", "a <naïve> one"),
        ("日本", "在<日本>语"),
        ("a b", "<a b>"),
    ]);
}

#[test]
fn classes() {
    check_plain(&[
        (".", "<a><☃>\n"),
        ("(?s).", "<a><\n>"),
        ("[abc]", "x<a>d<c>"),
        ("[a-c]+", "x<abc>d"),
        ("[^a-c]+", "<x>abc<de>"),
        ("[^a]", "<\n>a"),
        ("[]a]+", "<]a>b"),
        ("[^]a]+", "]a<b>"),
        ("[a-]+", "b<-a->"),
        (r"[\]\\]+", r"a<]\>"),
        ("[[:digit:]]+", "a<12>"),
        ("[[:^alpha:]]+", "a<1 2>b"),
        ("[[:alpha:][:digit:]]+", "<a1>-"),
        (r"\d+", "a<12>b<3>"),
        (r"\d+", "<٣٤>"),
        (r"\D+", "<a>1<b>"),
        (r"\w+", "<a_1> <é> <字>"),
        (r"\W+", "a< - >b"),
        (r"\s+", "a< \t\n\u{a0}>b"),
        (r"\S+", "<a> <b>"),
        (r"[\d\s]+", "a<1 2>b"),
        (r"[^\w\s]+", "a <!?> b"),
        (r"\p{Lu}+", "a<ÀB>c"),
        (r"\P{L}+", "a<1 >b"),
        (r"\pL+", "<aé>1"),
        (r"\p{Greek}+", "a<αβ>b"),
        (r"\p{Script=Han}+", "ひ<漢字>"),
        (r"[^\x00-\x7F]+", "a<é☃>b"),
    ]);
}

/// RE2 has no sets in classes, and no escapes of words but `\b` and `\B`. The crate `regex` does.
#[test]
fn brackets_and_operators_are_characters() {
    check(&[
        ("[&&&&]", "<&>"),
        ("[a-z&&[^aeiou]]", "a<b]><&]><[]>"),
        ("[a-z--]+", "<a-b>&"),
        ("[a-g~~b-h]+", "<a~h>i"),
        ("[[a]+", "b<[a[>]"),
        (r"[\p{Cyrillic}--]+", "<и-я>a"),
        (r"\b{start}a", "a"),
        (r"a\b{end}", "<a{end}> aa"),
    ]);
}

#[test]
fn repetitions() {
    check_plain(&[
        ("a*", "<aa>b<>"),
        ("a*", "<>"),
        ("a+", "b<aa>b<a>"),
        ("a?", "<a><a>b<>"),
        ("a*?", "<>a<>"),
        ("a+?", "<a><a>"),
        ("a??", "<>a<>"),
        ("ab*", "<abb><a>c"),
        ("a{2}", "<aa>a"),
        ("a{2,}", "a b<aaa>"),
        ("a{1,2}", "<aa><a>"),
        ("a{1,2}?", "<a><a><a>"),
        ("a{0}", "<>a<>"),
        ("a{0,0}b", "a<b>"),
        ("(?:ab){2}", "ab <abab>"),
        ("(?:ab)*", "<abab>c<>"),
        ("(?:a|b)+", "<abba>c"),
        ("(?:a*)*", "<aa>b<>"),
        ("(?:a*)+", "<aa>b<>"),
        ("(?:a|b)*?c", "<abc>"),
        (".*b", "<abab>a"),
        (".*?b", "<ab><ab>a"),
        ("(?U)a+", "<a><a>"),
        ("(?U)a+?", "<aa>"),
        ("x*y*z*", "<xz>a<y>"),
        ("(?:a{2,3}){2}", "<aaaaaa><aaaa>"),
        ("[ab]{3}", "<aba><bab>a"),
        ("a.{2}b", "<a☃☃b>"),
    ]);
}

/// As in RE2. The crate `regex` takes some of them for repetitions and refuses the rest.
#[test]
fn braces_that_repeat_nothing_are_letters() {
    check(&[
        ("a{2 }", "<a{2 }>aa"),
        ("a{ 2}", "<a{ 2}>aa"),
        ("a{1, 2}", "<a{1, 2}>aa"),
        ("a{2\u{c}}", "<a{2\u{c}}>aa"),
        ("a{,2}", "<a{,2}>aa"),
        ("a{}", "<a{}>aa"),
        ("a{b", "<a{b>aa"),
        ("{", "a<{>"),
    ]);
}

#[test]
fn choices_and_groups() {
    check_plain(&[
        ("a|b", "<a><b>c"),
        ("ab|a", "<ab><a>"),
        ("a|ab", "<a>b"),
        ("samwise|sam", "<samwise> <sam>"),
        ("sam|samwise", "<sam>wise"),
        ("(?:a|ab)(?:c|bcd)", "<abcd>"),
        ("(?:ab|a)(?:bcd|c)", "<abc>d"),
        ("|a", "<>a<>"),
        ("a|", "<a>b<>"),
        ("(?:a||b)c", "<ac><c><bc>"),
        ("a(?:b|c)d", "<abd><acd>ad"),
        ("(a)(b)", "<ab>"),
        ("(?P<x>a)(?<y>b)", "<ab>"),
        ("(a(b(c)))", "<abc>"),
        ("()", "<>a<>"),
        ("a()b", "<ab>"),
        ("(?:)+", "<>"),
        ("one|two|three", "<three><two>on<one>"),
        ("foo|bar|foobar", "<foo><bar>"),
        ("a[bc]|a[de]", "<ab><ae>af"),
        ("(?:(?:(?:a)))", "<a>"),
        ("(?:Sherlock|Street) ?Holmes?", "<Sherlock Holmes> <StreetHolme>"),
    ]);
}

#[test]
fn anchors() {
    check_plain(&[
        ("^a", "<a>a"),
        ("^a", "ba"),
        ("a$", "a<a>"),
        ("a$", "a\n"),
        ("^$", "<>"),
        ("^$", "\n"),
        ("^", "<>a\nb"),
        ("$", "a\nb<>"),
        ("(?m)^", "<>a\n<>b"),
        ("(?m)$", "a<>\nb<>"),
        ("(?m)^$", "a\n<>\nb"),
        ("(?m)^a$", "<a>\n<a>\nab"),
        ("(?m)^.*$", "<ab>\n<>\n<c>"),
        (r"(?m)\Aa", "<a>\na"),
        (r"(?m)a\z", "a\n<a>"),
        ("a^b", "ab"),
        ("a$b", "ab"),
        ("(?:^|,)a", "<a><,a>a"),
        ("a(?:,|$)", "<a,>a<a>"),
        ("^a|b$", "<a>a<b>"),
        ("(?:^a)+", "<a>a"),
        ("(?:a$)+", "a<a>"),
        ("^^a$$", "<a>"),
        ("(?m:^)a|^b", "<b>\n<a>\nb"),
    ]);
}

#[test]
fn words() {
    check_plain(&[
        (r"\ba", "<a>a <a>"),
        (r"a\b", "a<a> <a>"),
        (r"\bword\b", "<word> words <word>."),
        (r"\b", "<>ab<> <>c<>"),
        (r"\B", "a<>b <> c"),
        (r"\B", "<>"),
        (r"\b", ""),
        (r"\Ba\B", "b<a>b a"),
        (r"\bé\b", "<é> éa"),
        (r"\b字", "<字>字"),
        (r"x\b-\bx", "<x-x>x"),
        (r"\b_\w+", "<_a> a_b"),
        (r"\b1\b", "<1> <1>.<1> 11"),
        (r"^\b|\b$", "<>ab<>"),
        (r"(?:\ba|\bb)c", "<ac> <bc> abc"),
    ]);
}

#[test]
fn flags_and_case() {
    check_plain(&[
        ("(?i)abc", "<ABC><abC>"),
        ("a(?i)b", "<aB><ab>AB"),
        ("a(?i:b)c", "<aBc>aBC"),
        ("(?i)a(?-i)b", "<Ab>AB"),
        ("(?i)[a-c]+", "<aBC>d"),
        ("(?i)[^a]", "aA<b>"),
        ("(?i)é", "<É><é>e"),
        ("(?i)ß", "<ß><ẞ>ss"),
        ("(?i)σ", "<Σ><σ><ς>"),
        ("(?i)k", "<K><k><\u{212a}>"),
        ("(?i)\\u017F", "<s><S><ſ>"),
        ("(?i)жук", "<ЖУК>"),
        ("(?s)a.b", "<a\nb>"),
        ("(?s:a.b)a.b", "<a\nba-b>a\nb"),
        ("(?im)^A$", "<a>\n<A>"),
        ("(?i-s).a", "<bA>\na"),
    ]);
}

/// Empty matches stand between letters, and never right behind another match.
#[test]
fn empty_matches() {
    check_plain(&[
        ("", "<>a<>☃<>"),
        ("", "<>"),
        ("b*", "<>a<b>c<>"),
        ("b|", "<>a<b>c<>"),
        ("(?:)", "<>é<>"),
        (r"\d*|x", "<1>x<>"),
        (r"x|\d*", "<x><1>a<>"),
        ("a*?b*", "<>a<b>"),
        ("(?:a|b?)c?", "<ac><bc>d<>"),
    ]);
}

#[test]
fn looking_ahead() {
    check(&[
        ("a(?=b)", "<a>b ac a"),
        ("a(?!b)", "ab <a>c <a>"),
        ("(?=a)", "b<>a b"),
        ("(?!a)", "<>b<>"),
        ("(?=a)a", "<a>b"),
        ("(?=b)a", "ab"),
        ("(?!a)[a-c]", "a<b><c>"),
        ("foo(?=bar|baz)", "<foo>bar <foo>baz fooqux"),
        ("foo(?!bar)(?!baz)", "foobar foobaz <foo>qux"),
        ("(?=.*b).", "<a><c><b>a"),
        ("(?=(?:ab)+c)a", "<a>b<a>bc ab"),
        ("(?=a(?=b))a.", "ac <ab>"),
        ("(?=a(?!b))a.", "<ac> ab"),
        ("(?!(?!a))a", "<a>b"),
        ("(?i)A(?=B)", "<a>b <A>B"),
        ("(?m)a(?=$)", "<a>\nab <a>"),
        (r"\w+(?=\.)", "<one>. two <three>."),
        (r"(?=\d{3})\d+", "12 <1234>"),
        ("(?=[^x]*y)x?", "x<>a<>y"),
        ("(?:(?=ab)a|b)+", "<abb>a <ab>"),
        ("(?=é)..", "a<éb>"),
        (r"^(?=.*\d)(?=.*[a-z]).{4,}$", "<ab1c>"),
        (r"^(?=.*\d)(?=.*[a-z]).{4,}$", "abcd"),
        ("(?=)a", "<a>"),
        ("(?!)", "a"),
    ]);
}

#[test]
fn looking_behind() {
    check(&[
        ("(?<=b)a", "b<a> ca"),
        ("(?<!b)a", "ba c<a>"),
        ("(?<=a)", "a<>ba<>"),
        ("(?<=^)a", "<a>a"),
        ("(?<=€)\\d+", "€<12> 13"),
        ("(?<=foo)bar", "foo<bar> xbar"),
        ("(?<!foo)bar", "foobar x<bar>"),
        ("(?<=a|bc)d", "a<d> bc<d> cd"),
        ("(?<!a|bc)d", "ad bcd c<d>"),
        ("(?<=(?:ab|cd)e)f", "abe<f> cde<f> ef"),
        ("(?<=a{2})b", "aa<b> ab"),
        ("(?<=[^a]{2})b", "xy<b> ab"),
        (r"(?<=\bfoo)bar", "foo<bar> xfoobar"),
        ("(?<=é)a", "é<a>a"),
        ("(?<=字..)a", "字xy<a> xya"),
        ("(?<=(?<!a)b)c", "abc b<c>"),
        ("(?<=(?=ab)a)b", "a<b>"),
        ("(?<=a)b(?=c)", "a<b>c abd"),
        (r#"(?<=")[^"]+(?=")"#, r#""<one>""#),
        ("(?<=\\n)a", "a\n<a>"),
        ("(?<!.)a", "<a>a\n<a>"),
        ("(?s)(?<!.)a", "<a>a\na"),
        ("(?<=)a", "<a>"),
        ("(?<!)a", "a"),
    ]);
}

/// A row that is wrong is told.
#[test]
#[should_panic(expected = "<aa>")]
fn a_wrong_row_is_told() {
    check(&[("a+", "<a>a")]);
}

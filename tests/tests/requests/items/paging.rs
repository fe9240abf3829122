//! Items in parts: a cursor leads on while items come and go.

use leafbase::{GetItems, Limits};

use super::library::Library;

fn library() -> Library {
    let mut library = Library::new();
    let items =
        ('a'..='l').map(|title| format!(r#"{{"name":"{title}"}}"#)).collect::<Vec<_>>().join(",");
    library.run(&[("add books", &format!("[{items}]"), "a b c d e f g h i j k l")]);
    library
}

/// The titles of the next part, and the cursor behind it.
fn next(
    library: &Library,
    limit: usize,
    depth: Option<usize>,
    cursor: &mut Option<String>,
) -> String {
    let mut request = GetItems::of(library.id("books")).limit(limit);
    request.max_depth = depth;
    let request = match cursor.take() {
        Some(cursor) => request.after(cursor),
        None => request,
    };
    let page = library.notes.items(request).unwrap();
    cursor.clone_from(&page.next_cursor);
    page.items.iter().map(|item| item.title.as_str()).collect()
}

#[test]
fn parts_make_the_whole() {
    let library = library();
    for depth in [Some(0), Some(1), None] {
        for limit in 1..14 {
            let (mut cursor, mut parts) = (None, Vec::new());
            loop {
                parts.push(next(&library, limit, depth, &mut cursor));
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!(
                (parts.concat().as_str(), parts.len()),
                ("abcdefghijkl", 12_usize.div_ceil(limit))
            );
        }
    }
}

/// What is deleted after the first part of ten, what is added then, and the second part.
const MEANWHILE: &[(&str, &str, &str)] = &[
    ("", "", "kl"),
    ("j", "", "kl"),
    ("ij", "m", "klm"),
    ("abk", "mn", "lmn"),
    // Eight are remembered, and one of them is there.
    ("efghij", "", "kl"),
    // All of them are gone: it goes on with those that follow, of which as many are remembered.
    ("cdefghij", "", "kl"),
    ("cdefghij", "m", "klm"),
    ("cdefghijk", "", "l"),
    // These are gone, too: what is left is given from its beginning.
    ("cdefghijkl", "m", "abm"),
    ("abcdefghij", "m", "klm"),
    ("abcdefghijkl", "", ""),
];

#[test]
fn a_cursor_leads_on_while_items_come_and_go() {
    for (gone, come, expected) in MEANWHILE {
        let (mut library, mut cursor) = (library(), None);
        assert_eq!(next(&library, 10, Some(0), &mut cursor), "abcdefghij");
        let list = |titles: &str, form: fn(char) -> String| {
            format!("[{}]", titles.chars().map(form).collect::<Vec<_>>().join(","))
        };
        library.line("delete books", &list(gone, |title| format!("\"@{title}\"")));
        library.line("add books", &list(come, |title| format!(r#"{{"name":"{title}"}}"#)));
        assert_eq!(next(&library, 10, Some(0), &mut cursor), *expected, "{gone} {come}");
        assert_eq!(cursor, None);
    }
}

#[test]
fn what_is_no_part_is_refused() {
    let mut library = library();
    let (people, a): (leafbase::BlockId, leafbase::BlockId) =
        (library.id("people"), library.id("a"));
    let foreign = "VALIDATION cursor: the cursor is not of this listing";
    library.run(&[
        (
            "items books",
            r#""limit":0"#,
            "VALIDATION limit: expected a number of items, 1 or more, got 0",
        ),
        ("items books", r#""cursor":"x""#, foreign),
        ("items books", &format!(r#""cursor":"c{people}{a}""#), foreign),
        ("items home", "", "NOT_FOUND collectionId: no collection has this ID"),
        ("items a", "", "NOT_FOUND collectionId: no collection has this ID"),
    ]);
}

#[test]
fn a_reply_holds_no_more_than_the_limit() {
    let mut limits = Limits::default();
    limits.blocks_per_fetch = 4;
    let mut library = Library::with_limits(limits);
    library.line(
        "add books",
        r#"[{"name":"a","content":[{"type":"line","lineStyle":"extraLight"}]},{"name":"b"},{"name":"c"}]"#,
    );
    let refused = |found: usize| {
        format!(
            "LIMIT_EXCEEDED collectionId: items and blocks of their pages in one reply (a limit or a maxDepth asks for fewer): at most 4, got {found}"
        )
    };
    assert_eq!(library.line("items books", ""), "a[***] b[] c[]");
    library.line("add books", r#"[{"name":"d"}]"#);
    for (request, expected) in [
        ("", refused(5)),
        (r#""maxDepth":1"#, refused(5)),
        (r#""maxDepth":0"#, "a b c d".to_owned()),
        (r#""limit":3"#, "a[***] b[] c[]".to_owned()),
    ] {
        assert_eq!(library.line("items books", request), expected, "{request}");
    }
    library.line("add books", r#"[{"name":"e"},{"name":"f"}]"#);
    assert_eq!(library.line("items books", r#""maxDepth":0"#), refused(5));
    assert_eq!(library.line("items books", r#""maxDepth":0,"limit":4"#), "a b c d");
}

//! Deep JSON: what the page limit allows is read, anything deeper is refused before it can overflow
//! a stack.

use leafbase_model::{
    BlockData, BlockDraft, Error, ErrorKind, FolderDraft, InsertBlocks, ItemFilter, Limits,
    Operator, QueryItems, json,
};

fn nested_pages(levels: usize) -> String {
    let open = r#"{"type":"page","title":"p","content":["#;
    let blocks =
        open.repeat(levels) + r#"{"type":"text","markdown":"[{\"[{"}"# + &"]}".repeat(levels);
    format!(r#"{{"blocks":[{blocks}],"position":{{}}}}"#)
}

fn on_a_stack_of(bytes: usize, work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(bytes).spawn(work).unwrap().join().unwrap();
}

#[test]
fn as_many_pages_as_the_limit_allows_are_read() {
    on_a_stack_of(1 << 20, || {
        let request: InsertBlocks = json::from_str(&nested_pages(64), &Limits::default()).unwrap();
        let leafbase_model::InsertSource::Blocks(blocks) = request.source else { panic!() };
        assert_eq!(blocks[0].walk().map(|(depth, _)| depth).max(), Some(64));
    });
}

#[test]
fn a_deep_fault_has_its_whole_path() {
    let text = nested_pages(64).replace(r#""type":"text""#, r#""type":"text","color":2"#);
    let error = json::from_str::<InsertBlocks>(&text, &Limits::default()).unwrap_err();
    assert_eq!(error.path(), format!("blocks[0]{}.color", ".content[0]".repeat(64)));
    assert_eq!(error.message(), "expected a color #rrggbb, got 2");
}

#[test]
fn hostile_depth_is_refused_on_a_small_stack() {
    on_a_stack_of(256 << 10, || {
        for hostile in ["[", r#"{"content":["#, r#"{"a":"#, "[\"\\\"\",["] {
            let limits = Limits::default();
            let text = hostile.repeat(limits.json / hostile.len());
            let error = json::from_str::<BlockDraft>(&text, &limits).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{hostile}");
            assert!(error.message().starts_with("nesting of JSON: at most 144, got "), "{error}");
        }
    });
}

/// Built by hand, to any depth: copied, compared and dropped.
#[test]
fn a_million_levels_are_handled_on_a_small_stack() {
    fn handled<T: Clone + PartialEq>(bottom: impl Fn() -> T, around: impl Fn(T, usize) -> T) {
        let build = |levels: usize| (0..levels).fold(bottom(), &around);
        let tree = build(1_000_000);
        let copy = tree.clone();
        assert!(tree == copy);
        drop(tree);
        assert!(copy != build(999_999));
    }
    on_a_stack_of(256 << 10, || {
        let page = |text: &str| BlockDraft::new(BlockData::page(text));
        handled(|| page("x"), |inner, _| page("p").with_content(vec![inner]));
        handled(|| FolderDraft::new("x"), |inner, _| FolderDraft::new("f").with_folders([inner]));
        let condition = || ItemFilter::on("due", Operator::Before, "today");
        handled(condition, |inner, level| match level % 3 {
            0 => inner.negated(),
            1 => inner.and(condition()),
            _ => condition().or(inner),
        });
        let query = || QueryItems::of(leafbase_model::BlockId::NIL);
        handled(
            || query().filtered(condition()),
            |inner, _| query().filtered(inner.filter.unwrap().negated()),
        );
    });
}

#[test]
fn trees_are_equal_if_all_in_them_is() {
    let text = |text: &str| BlockDraft::new(BlockData::text(text));
    let page =
        |content: Vec<BlockDraft>| BlockDraft::new(BlockData::page("p")).with_content(content);
    let drafts = [
        page(vec![]),
        page(vec![text("a")]),
        page(vec![text("b")]),
        page(vec![text("a"), text("b")]),
        page(vec![page(vec![text("a")])]),
    ];
    let on = |name: &str| ItemFilter::on(name, Operator::IsEmpty, true);
    let filters = [
        on("a"),
        on("b"),
        on("a").negated(),
        on("a").negated().negated(),
        ItemFilter::And(vec![]),
        ItemFilter::Or(vec![]),
        on("a").and(on("b")),
        on("b").and(on("a")),
        on("a").or(on("b")),
    ];
    let folder = FolderDraft::new;
    let folders = [
        folder("a"),
        folder("b"),
        folder("a").with_folders([folder("b")]),
        folder("a").within(id(1)),
    ];
    assert_distinct(&drafts);
    assert_distinct(&filters);
    assert_distinct(&folders);
}

fn id(number: u128) -> leafbase_model::FolderId {
    leafbase_model::FolderId::from_bytes(number.to_be_bytes())
}

/// Each is equal to its copy, and to no other.
fn assert_distinct<T: Clone + PartialEq + std::fmt::Debug>(values: &[T]) {
    for (place, value) in values.iter().enumerate() {
        let copy = value.clone();
        assert_eq!(format!("{copy:?}"), format!("{value:?}"));
        assert_eq!(values.iter().position(|other| *other == copy), Some(place));
    }
}

#[test]
fn plain_serde_refuses_hostile_depth_too() {
    on_a_stack_of(1 << 20, || {
        for hostile in ["[", r#"{"content":["#] {
            assert!(serde_json::from_str::<BlockDraft>(&hostile.repeat(1_000_000)).is_err());
        }
    });
}

#[test]
fn brackets_in_strings_do_not_count() {
    let text = format!(r#"{{"type":"text","markdown":"\\\"{}\\"}}"#, "[{".repeat(1_000));
    let draft: BlockDraft = json::from_str(&text, &Limits::default()).unwrap();
    assert_eq!(draft.text.as_ref().unwrap().as_str().len(), 2_003);
}

#[test]
fn too_long_and_no_json() {
    let read =
        |text: &str, limits: &Limits| json::from_str::<BlockDraft>(text, limits).unwrap_err();
    let mut small = Limits::default();
    small.json = 20;
    assert_eq!(
        read(r#"{"type":"text","markdown":""}"#, &small),
        Error::limit("bytes of JSON in one request", 20, 29)
    );
    for broken in ["", "{", "{\"type\":\"text\"} x", "{\"type\":\"text\",}", "\"", "\u{0}", "NaN"] {
        let error = read(broken, &Limits::default());
        assert_eq!(error.kind(), ErrorKind::Validation, "{broken}");
        assert!(error.message().starts_with("the request is not JSON: "), "{error}");
    }
}

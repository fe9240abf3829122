//! Deep JSON: what the page limit allows is read, anything deeper is refused before it can overflow a stack.

use leafbase_model::{BlockDraft, Error, ErrorKind, InsertBlocks, Limits, json};

fn nested_pages(levels: usize) -> String {
    let open = r#"{"type":"page","title":"p","content":["#;
    let blocks = open.repeat(levels) + r#"{"type":"text","markdown":"[{\"[{"}"# + &"]}".repeat(levels);
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
    assert_eq!(error.message(), "expected a colour #rrggbb, got 2");
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
    assert_eq!(draft.data.markdown.len(), 2_003);
}

#[test]
fn too_long_and_no_json() {
    let read = |text: &str, limits: &Limits| json::from_str::<BlockDraft>(text, limits).unwrap_err();
    let mut small = Limits::default();
    small.json = 20;
    assert_eq!(read(r#"{"type":"text","markdown":""}"#, &small), Error::limit("bytes of JSON in one request", 20, 29));
    for broken in ["", "{", "{\"type\":\"text\"} x", "{\"type\":\"text\",}", "\"", "\u{0}", "NaN"] {
        let error = read(broken, &Limits::default());
        assert_eq!(error.kind(), ErrorKind::Validation, "{broken}");
        assert!(error.message().starts_with("not JSON: "), "{error}");
    }
}

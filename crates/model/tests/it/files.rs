//! Files: the request of an upload, its reply, and the URLs of files.

use leafbase_model::{AssetId, AssetUrl, DayRef, Position, UploadFile, UploadedFile};
use proptest::prelude::*;

use crate::support::id;
use crate::wire::{also_read, of, refused, with_ids, written};

#[test]
fn uploads() {
    written(&[
        (r#"{"position":"end","pageId":"ID1"}"#, UploadFile::new(Position::end_of(id(1)))),
        (
            r#"{"position":"before","siblingId":"ID1","contentType":"image/png","fileName":"map.png"}"#,
            UploadFile::new(Position::before(id(1))).of_type("image/png").named("map.png"),
        ),
        (
            r#"{"position":"start","date":"today"}"#,
            UploadFile::new(Position::start_of_day(DayRef::Today)),
        ),
    ]);
    also_read(&[(
        r#"{"pageId":"ID1","fileName":"../x"}"#,
        UploadFile::new(Position::end_of(id(1))).named("../x"),
    )]);
    refused::<UploadFile>(&[
        ("{}", "", "pageId, siblingId or date is required"),
        (r#"{"position":"end"}"#, "", "pageId, siblingId or date is required"),
        (r#"{"position":"start","pageId":null}"#, "", "pageId, siblingId or date is required"),
        (r#"{"position":{"pageId":"ID1"}}"#, "position", "expected a string, got an object"),
        (
            r#"{"position":"before","date":"today"}"#,
            "position",
            "with pageId or date the position is start or end",
        ),
        (
            r#"{"pageId":"ID1","siblingId":"ID2"}"#,
            "position",
            "name exactly one of pageId, siblingId and date",
        ),
        (
            r#"{"date":"someday"}"#,
            "date",
            r#"expected a day YYYY-MM-DD, got "someday" (or today, tomorrow, yesterday)"#,
        ),
        (r#"{"pageId":"ID1","fileName":7}"#, "fileName", "expected a string, got 7"),
        (r#"{"pageId":"ID1","contentType":1}"#, "contentType", "expected a string, got 1"),
        (r#"{"pageId":"ID1","data":"AAAA"}"#, "data", "unknown field `data`"),
    ]);
}

#[test]
fn the_reply_names_the_block_and_the_file() {
    let uploaded =
        UploadedFile { block_id: id(1), asset_url: AssetUrl::new(of(2), "Day plan.pdf") };
    let expected = r#"{"blockId":"ID1","assetUrl":"asset://ID2/Day%20plan.pdf"}"#;
    assert_eq!(serde_json::to_string(&uploaded).unwrap(), with_ids(expected));
}

#[test]
fn urls_of_files() {
    for (name, url) in [
        ("map.png", "asset://ID1/map.png"),
        ("Day plan (1).pdf", "asset://ID1/Day%20plan%20%281%29.pdf"),
        ("Grüße, 日本.txt", "asset://ID1/Grüße%2C%20日本.txt"),
        ("50% a/b?c#d", "asset://ID1/50%25%20a%2Fb%3Fc%23d"),
        ("🌊", "asset://ID1/%F0%9F%8C%8A"),
        ("a-b._~", "asset://ID1/a-b._~"),
        ("%20", "asset://ID1/%2520"),
        ("", "asset://ID1/"),
    ] {
        let made = AssetUrl::new(of(1), name);
        assert_eq!(made.to_string(), with_ids(url));
        assert_eq!(made.to_string().parse::<AssetUrl>().unwrap(), made);
    }
    for (url, name) in [
        ("ASSET://ID1/x", "x"),
        ("asset://ID1", ""),
        ("asset://ID1/a b", "a b"),
        ("asset://ID1/%e9", "\u{fffd}"),
        ("asset://ID1/%", "%"),
        ("asset://ID1/%4", "%4"),
        ("asset://ID1/%zz%41", "%zzA"),
        ("asset://ID1/a/b", "a/b"),
        ("asset://ID1?x", ""),
        ("asset://ID1#x", ""),
    ] {
        let read: AssetUrl = with_ids(url).parse().unwrap();
        assert_eq!((read.id(), read.file_name()), (of(1), name), "{url}");
        assert_eq!(AssetUrl::asset_of(&with_ids(url)), Some(of(1)));
    }
    let lower: AssetUrl = "asset://01kasz4zjg0000000000000001/x".parse().unwrap();
    assert_eq!(lower.to_string(), "asset://01KASZ4ZJG0000000000000001/x");
    let nil = format!("asset://{}/x", AssetId::NIL);
    for wrong in [
        "",
        "asset:",
        "asset://",
        "asset:///x",
        "asset://1/x",
        "https://a.example/ID1",
        " asset://ID1/x",
        "é",
        &nil,
    ] {
        let wrong = with_ids(wrong);
        let message = wrong.parse::<AssetUrl>().unwrap_err().message().to_owned();
        assert_eq!(
            (message.as_str(), AssetUrl::asset_of(&wrong)),
            ("expected a URL asset://<ID>/<file name>", None)
        );
    }
}

proptest! {
    #[test]
    fn any_name_is_read_back(name: String, bytes: [u8; 16]) {
        prop_assume!(bytes != [0; 16]);
        let url = AssetUrl::new(AssetId::from_bytes(bytes), name);
        let text = url.to_string();
        prop_assert_eq!(text.parse::<AssetUrl>().unwrap(), url);
        // It can stand in a link as it is.
        prop_assert!(!text.contains([' ', '(', ')', '<', '>', '\\', '"', '\n']), "{}", text);
    }

    #[test]
    fn any_url_is_read_or_refused(rest: String) {
        let url = format!("asset://{}{rest}", id(1));
        prop_assert_eq!(url.parse::<AssetUrl>().is_ok(), AssetUrl::asset_of(&url).is_some());
    }
}

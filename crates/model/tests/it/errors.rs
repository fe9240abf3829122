//! The error: its paths, its JSON, its codes.

use std::error::Error as _;

use leafbase_model::{Error, ErrorKind};

const KINDS: [ErrorKind; 20] = [
    ErrorKind::NotFound,
    ErrorKind::Validation,
    ErrorKind::InvalidPosition,
    ErrorKind::InvalidMarkdown,
    ErrorKind::InvalidPattern,
    ErrorKind::RuleViolation,
    ErrorKind::SchemaMismatch,
    ErrorKind::Conflict,
    ErrorKind::HistoryGone,
    ErrorKind::LimitExceeded,
    ErrorKind::ReadOnly,
    ErrorKind::Corrupted,
    ErrorKind::NotASpace,
    ErrorKind::AlreadyOpen,
    ErrorKind::NewerFormat,
    ErrorKind::NoSpace,
    ErrorKind::Closed,
    ErrorKind::Storage,
    ErrorKind::Canceled,
    ErrorKind::Internal,
];

#[test]
fn an_error_is_small_and_travels() {
    fn travels<T: Send + Sync + 'static>() {}
    travels::<Error>();
    assert_eq!(size_of::<Error>(), 8);
    assert_eq!(size_of::<leafbase_model::Result<()>>(), 8);
}

#[test]
fn as_json() {
    insta::assert_json_snapshot!([
        Error::no_block(),
        Error::validation("expected a day YYYY-MM-DD, got \"soon\"")
            .at("scheduleDate")
            .at("taskInfo")
            .at("blocks[3]"),
        Error::rule("a block of type line cannot have children"),
        Error::limit("characters of a title", 1_000, 1_001).at("markdown"),
        Error::corrupted("block 1")
            .with_source(std::io::Error::other("hidden from the other side")),
    ]);
}

#[test]
fn codes_are_stable() {
    let codes: Vec<_> = KINDS.iter().map(|kind| kind.code()).collect();
    insta::assert_json_snapshot!(codes);
    for kind in KINDS {
        let retryable =
            matches!(kind, ErrorKind::AlreadyOpen | ErrorKind::NoSpace | ErrorKind::Storage);
        assert_eq!(Error::new(kind, "x").is_retryable(), retryable, "{kind:?}");
    }
}

#[test]
fn every_kind_has_its_http_status() {
    let statuses = [
        404, 400, 400, 400, 400, 422, 422, 409, 410, 413, 403, 500, 500, 503, 500, 507, 503, 500,
        503, 500,
    ];
    for (kind, status) in KINDS.into_iter().zip(statuses) {
        assert_eq!(kind.http_status(), status, "{kind:?}");
        assert_eq!(Error::new(kind, "x").http_status(), status);
    }
}

#[test]
fn paths_are_put_together() {
    for (steps, path) in [
        (&[][..], ""),
        (&["color"], "color"),
        (&["color", "[3]", "blocks"], "blocks[3].color"),
        (&["color", "blocks[3]"], "blocks[3].color"),
        (&["[3]", "blocks"], "blocks[3]"),
        (&["", "color", "", "[0]"], "[0].color"),
        (&["[1]", "[0]"], "[0][1]"),
    ] {
        let error = steps.iter().fold(Error::validation("x"), Error::at);
        assert_eq!(error.path(), path);
        assert_eq!(error.details().len(), usize::from(!path.is_empty()));
    }
}

#[test]
fn the_source_is_kept_and_equality_is_what_a_caller_sees() {
    let plain = Error::new(ErrorKind::Storage, "no");
    let caused = Error::new(ErrorKind::Storage, "no").with_source(std::io::Error::other("cable"));
    assert_eq!(plain, caused);
    assert_ne!(plain, Error::new(ErrorKind::Storage, "no").at("blocks"));
    assert_eq!(caused.source().unwrap().to_string(), "cable");
    assert!(plain.source().is_none());
    assert_eq!(format!("{caused:?} {plain}"), "Error(STORAGE: no; cable) no");
}

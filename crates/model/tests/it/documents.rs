//! Documents: the requests that list, make, move, delete, restore and purge them.

use leafbase_model::{
    BlockData, BlockDraft, BuiltInLocation, CreateDocuments, CreateFromTemplate, DayRange, DayRef,
    DeleteDocuments, Destination, DocumentId, DocumentOrder, DocumentPatch, ErrorKind, FolderId,
    FolderRef, ListDocuments, Location, MoveDocuments, PurgeDocuments, RestoreDailyNotes,
    ScopedDocumentPatch, UpdateDocuments, UpdateScopedDocuments,
};

use crate::support::day;
use crate::wire::{also_read, of, read, refused, written};

#[test]
fn listings() {
    let all = ListDocuments::new;
    let folder: FolderId = of(1);
    let mut several = all();
    several.filter.folders = Some(vec![folder.into(), BuiltInLocation::Templates.into()]);
    written(&[
        ("{}", all()),
        (r#"{"location":"unsorted"}"#, all().at(BuiltInLocation::Unsorted)),
        (r#"{"location":"daily_notes"}"#, all().at(BuiltInLocation::DailyNotes)),
        (r#"{"location":"templates"}"#, all().at(BuiltInLocation::Templates)),
        (r#"{"location":"trash"}"#, all().at(BuiltInLocation::Trash)),
        (r#"{"folderId":"ID1"}"#, all().within(folder)),
        (r#"{"folderId":["ID1","templates"]}"#, several),
        (
            r#"{"createdDateGte":"2026-03-01","createdDateLte":"today"}"#,
            all().created(DayRange {
                from: Some(day("2026-03-01").into()),
                to: Some(DayRef::Today),
            }),
        ),
        (
            r#"{"lastModifiedDateGte":"yesterday"}"#,
            all().modified(DayRange::since(DayRef::Yesterday)),
        ),
        (
            r#"{"lastModifiedDateLte":"yesterday"}"#,
            all().modified(DayRange::until(DayRef::Yesterday)),
        ),
        (
            r#"{"dailyNoteDateGte":"tomorrow","dailyNoteDateLte":"tomorrow"}"#,
            all().daily_notes(DayRange::on(DayRef::Tomorrow)),
        ),
        (
            r#"{"fetchMetadata":true,"orderBy":"lastModifiedAt","descending":true,"limit":50,"cursor":"c"}"#,
            all()
                .with_metadata()
                .order_by(DocumentOrder::Modified)
                .descending()
                .limit(50)
                .after("c"),
        ),
        (r#"{"orderBy":"id"}"#, all().order_by(DocumentOrder::Id)),
        (r#"{"orderBy":"createdAt"}"#, all().order_by(DocumentOrder::Created)),
        (r#"{"orderBy":"dailyNoteDate"}"#, all().order_by(DocumentOrder::DailyNote)),
    ]);
    also_read(&[
        (r#"{"folderId":["ID1"],"fetchMetadata":false,"descending":false}"#, all().within(folder)),
        (r#"{"folderId":"no ID"}"#, all().within(FolderId::NIL)),
    ]);
    refused::<ListDocuments>(&[
        (
            r#"{"location":"unsorted","folderId":"ID1"}"#,
            "folderId",
            "folderId cannot be combined with location",
        ),
        (
            r#"{"location":"unsorted","folderId":[]}"#,
            "folderId",
            "folderId cannot be combined with location",
        ),
        (
            r#"{"location":"inbox"}"#,
            "location",
            r#"unknown built in location "inbox", expected one of unsorted, daily_notes, templates, trash"#,
        ),
        (r#"{"folderId":["ID1",2]}"#, "folderId[1]", "expected an ID, got 2"),
        (r#"{"folderIds":["ID1"]}"#, "folderIds", "unknown field `folderIds`"),
        (
            r#"{"createdDateGte":"2026-02-29"}"#,
            "createdDateGte",
            "the calendar has no day 2026-02-29 (or today, tomorrow, yesterday)",
        ),
        (r#"{"dailyNoteDateLte":5}"#, "dailyNoteDateLte", "expected a day, got 5"),
        (r#"{"modifiedDateGte":"today"}"#, "modifiedDateGte", "unknown field `modifiedDateGte`"),
        (
            r#"{"orderBy":"title"}"#,
            "orderBy",
            r#"unknown document order "title", expected one of id, createdAt, lastModifiedAt, dailyNoteDate"#,
        ),
        (r#"{"limit":0}"#, "limit", "expected a number of items, 1 or more, got 0"),
        (r#"{"limit":-1}"#, "limit", "expected a whole number, 0 or more, got -1"),
        (r#"{"limit":1.5}"#, "limit", "expected a whole number, 0 or more, got 1.5"),
        (r#"{"cursor":7}"#, "cursor", "expected a string, got 7"),
        ("[]", "", "expected an object, got an array"),
    ]);
}

#[test]
fn creation() {
    let trip = || BlockDraft::new(BlockData::page("Trip"));
    let with_socks = || trip().with_content(vec![BlockData::text("socks").into()]);
    written(&[
        (r#"{"documents":[]}"#, CreateDocuments::default()),
        (
            r#"{"documents":[{"type":"page","markdown":"Trip"}],"destination":{"destination":"templates"}}"#,
            CreateDocuments::titled(["Trip"]).at(Destination::Templates),
        ),
        (
            r#"{"documents":[{"type":"page","markdown":"Trip","content":[{"type":"text","inlineMarkdown":"socks"}]}],"destination":{"folderId":"ID3"}}"#,
            CreateDocuments::new([with_socks()], of::<FolderId>(3)),
        ),
    ]);
    also_read(&[
        (r#"{"documents":[{"title":"Trip"}]}"#, CreateDocuments::titled(["Trip"])),
        // As a reply has it.
        (
            r#"{"documents":[{"title":"Trip","isDeleted":false,"location":{"folderId":"ID3"},"destination":{"folderId":"ID3"},"dailyNoteDate":null,"createdAt":"2026-03-01T09:30:00.000Z","lastModifiedAt":"2026-03-01T09:30:00.000Z","clickableLink":"x","rev":3}],"destination":{"folderId":"ID3"}}"#,
            CreateDocuments::titled(["Trip"]).at(of::<FolderId>(3)),
        ),
        (
            r#"{"documents":[{"markdown":"Trip","content":[{"type":"text","inlineMarkdown":"socks"}]}]}"#,
            CreateDocuments::new([with_socks()], Destination::Unsorted),
        ),
        (
            r#"{"documents":[{"type":"text"}],"destination":{"destination":"unsorted"}}"#,
            CreateDocuments::new([BlockDraft::new(BlockData::text(""))], Destination::Unsorted),
        ),
    ]);
    refused::<CreateDocuments>(&[
        ("{}", "documents", "the field `documents` is missing"),
        (r#"{"documents":{"title":"Trip"}}"#, "documents", "expected an array, got an object"),
        (r#"{"documents":["Trip"]}"#, "documents[0]", r#"expected an object, got "Trip""#),
        (r#"{"documents":[{},{"ID":"ID1"}]}"#, "documents[1].ID", "unknown field `ID`"),
        (
            r#"{"documents":[{"location":{}}]}"#,
            "documents[0].location",
            "name exactly one of destination and folderId",
        ),
        (
            r#"{"documents":[{},{"location":{"folderId":"ID1"}}]}"#,
            "documents[1].location",
            "documents are created at the destination of the request, which is another",
        ),
        (
            r#"{"documents":[{"content":[{"type":"text"},{"type":"line","font":"serif"}]}]}"#,
            "documents[0].content[1].font",
            "a block of type line has no field font",
        ),
        (
            r#"{"documents":[{"content":[{"markdown":"x"}]}]}"#,
            "documents[0].content[0].type",
            "the field `type` is missing",
        ),
        (r#"{"documents":[],"folderId":"ID1"}"#, "folderId", "unknown field `folderId`"),
    ]);
}

#[test]
fn a_copy_of_a_template() {
    written(&[
        (r#"{"templateId":"ID1"}"#, CreateFromTemplate::new(of(1))),
        (
            r#"{"templateId":"ID1","title":"Trip","destination":{"folderId":"ID2"}}"#,
            CreateFromTemplate::new(of(1)).titled("Trip").at(of::<FolderId>(2)),
        ),
    ]);
    refused::<CreateFromTemplate>(&[
        ("{}", "templateId", "the field `templateId` is missing"),
        (r#"{"templateId":["ID1"]}"#, "templateId", "expected an ID, got an array"),
        (r#"{"templateId":"ID1","content":[]}"#, "content", "unknown field `content`"),
    ]);
}

#[test]
fn destinations() {
    written(&[
        (r#"{"destination":"unsorted"}"#, Destination::Unsorted),
        (r#"{"destination":"templates"}"#, Destination::Templates),
        (r#"{"folderId":"ID4"}"#, Destination::Folder(of(4))),
    ]);
    also_read(&[
        (r#"{"folderId":"unsorted"}"#, Destination::Unsorted),
        (r#"{"folderId":"?"}"#, Destination::Folder(FolderId::NIL)),
    ]);
    for destination in [Destination::Unsorted, Destination::Templates, Destination::Folder(of(4))] {
        assert_eq!(Destination::try_from(Location::from(destination)), Ok(destination));
    }
    for location in [Location::DailyNotes, Location::Trash, Location::Inbox] {
        let error = Destination::try_from(location).unwrap_err();
        assert_eq!(error.kind(), leafbase_model::ErrorKind::RuleViolation);
    }
    let neither = "name exactly one of destination and folderId";
    let (trash, day) = (
        "documents come into the trash by being deleted only",
        "daily notes are made by the first write to their day",
    );
    refused::<Destination>(&[
        ("{}", "", neither),
        (r#"{"destination":"unsorted","folderId":"ID1"}"#, "", neither),
        (r#"{"destination":"trash"}"#, "destination", trash),
        (r#"{"folderId":"trash"}"#, "folderId", trash),
        (r#"{"destination":"daily_notes"}"#, "destination", day),
        (
            r#"{"destination":"root"}"#,
            "destination",
            r#"unknown built in location "root", expected one of unsorted, daily_notes, templates, trash"#,
        ),
        (r#"{"folderId":null}"#, "", "name exactly one of destination and folderId"),
        (r#"{"parentFolderId":"ID1"}"#, "parentFolderId", "unknown field `parentFolderId`"),
        (r#""unsorted""#, "", r#"expected an object, got "unsorted""#),
    ]);
    let kind = |text| read::<Destination>(text).unwrap_err().kind();
    assert_eq!(kind(r#"{"destination":"trash"}"#), ErrorKind::RuleViolation);
    assert_eq!(kind(r#"{"destination":"daily_notes"}"#), ErrorKind::RuleViolation);
    for (destination, location) in [
        (Destination::Unsorted, Location::Unsorted),
        (Destination::Templates, Location::Templates),
        (Destination::Folder(of(1)), Location::Folder(of(1))),
    ] {
        assert_eq!(Location::from(destination), location);
        assert_eq!(
            serde_json::to_value(destination).unwrap(),
            serde_json::to_value(location).unwrap()
        );
    }
}

#[test]
fn deletion_moves_and_restoration() {
    let both = || [of::<DocumentId>(1), of(2)];
    written(&[(r#"{"documentIds":["ID1","ID2"]}"#, DeleteDocuments::new(both()))]);
    written(&[(r#"{"documentIds":["ID1","ID2"]}"#, RestoreDailyNotes::new(both()))]);
    written(&[(
        r#"{"documentIds":["ID1","ID2"],"destination":{"folderId":"ID3"}}"#,
        MoveDocuments::new(both(), of::<FolderId>(3)),
    )]);
    also_read(&[(r#"{"documentIds":"ID1"}"#, DeleteDocuments::from(of::<DocumentId>(1)))]);
    also_read(&[(r#"{"documentIds":"?"}"#, RestoreDailyNotes::new([DocumentId::NIL]))]);
    also_read(&[(
        r#"{"documentIds":"ID1","destination":{"destination":"unsorted"}}"#,
        MoveDocuments::new([of(1)], Destination::Unsorted),
    )]);
    let faults = [
        ("{}", "documentIds", "the field `documentIds` is missing"),
        (r#"{"documentIds":7}"#, "documentIds", "expected an ID, got 7"),
        (r#"{"documentIds":["ID1",{}]}"#, "documentIds[1]", "expected an ID, got an object"),
        (r#"{"ids":["ID1"]}"#, "documentIds", "the field `documentIds` is missing"),
    ];
    refused::<DeleteDocuments>(&faults);
    refused::<RestoreDailyNotes>(&faults);
    refused::<MoveDocuments>(&faults);
    refused::<DeleteDocuments>(&[(
        r#"{"documentIds":[],"destination":{}}"#,
        "destination",
        "unknown field `destination`",
    )]);
    refused::<RestoreDailyNotes>(&[(
        r#"{"documentIds":[],"date":"today"}"#,
        "date",
        "unknown field `date`",
    )]);
    refused::<MoveDocuments>(&[
        (r#"{"documentIds":[]}"#, "destination", "the field `destination` is missing"),
        (
            r#"{"documentIds":[],"destination":{"destination":"trash"}}"#,
            "destination.destination",
            "documents come into the trash by being deleted only",
        ),
    ]);
}

#[test]
fn purges() {
    written(&[
        (r#"{"documentIds":["ID1"]}"#, PurgeDocuments::new([of(1)])),
        (r#"{"olderThanDays":30}"#, PurgeDocuments::OlderThanDays(30)),
        (r#"{"olderThanDays":0}"#, PurgeDocuments::OlderThanDays(0)),
        (r#"{"olderThanDays":4294967295}"#, PurgeDocuments::OlderThanDays(u32::MAX)),
    ]);
    also_read(&[(r#"{"documentIds":"ID1"}"#, PurgeDocuments::new([of(1)]))]);
    let neither = "name exactly one of documentIds and olderThanDays";
    refused::<PurgeDocuments>(&[
        ("{}", "", neither),
        (r#"{"documentIds":[],"olderThanDays":1}"#, "", neither),
        (r#"{"olderThanDays":-1}"#, "olderThanDays", "expected a whole number, 0 or more, got -1"),
        (
            r#"{"olderThanDays":4294967296}"#,
            "olderThanDays",
            "expected a number of days below 2 to the power of 32, got 4294967296",
        ),
        (r#"{"olderThan":30}"#, "olderThan", "unknown field `olderThan`"),
    ]);
}

#[test]
fn what_stands_for_a_folder() {
    written(&[
        (r#""daily_notes""#, FolderRef::BuiltIn(BuiltInLocation::DailyNotes)),
        (r#""ID1""#, FolderRef::Folder(of(1))),
    ]);
    also_read(&[(r#""Trash""#, FolderRef::Folder(FolderId::NIL))]);
    refused::<FolderRef>(&[
        ("1", "", "expected an ID, got 1"),
        ("null", "", "expected an ID, got null"),
    ]);
    for location in BuiltInLocation::ALL {
        assert_eq!(serde_json::to_value(FolderRef::from(*location)).unwrap(), location.as_str());
        let kept = serde_json::to_value(Location::from(*location)).unwrap();
        assert_eq!(kept, serde_json::json!({"destination": location.as_str()}));
    }
}

#[test]
fn updates() {
    let patch = || DocumentPatch::of(of(1));
    let mut in_trash = patch();
    in_trash.location = Some(Location::Trash);
    written(&[
        (r#"{"documents":[]}"#, UpdateDocuments::default()),
        (r#"{"documents":[{"id":"ID1"}]}"#, UpdateDocuments::new([patch()])),
        (
            r#"{"documents":[{"id":"ID1","rev":3,"title":"Trip","location":{"folderId":"ID2"}}]}"#,
            UpdateDocuments::new([patch().if_rev(3).titled("Trip").moved_to(of::<FolderId>(2))]),
        ),
        (
            r#"{"documents":[{"id":"ID1","location":{"destination":"trash"}}]}"#,
            UpdateDocuments::new([in_trash.clone()]),
        ),
    ]);
    also_read(&[
        // As replies have it.
        (
            r#"{"documents":[{"id":"ID1","title":"Trip","isDeleted":true,"location":{"destination":"trash"},"destination":{"folderId":"trash"},"dailyNoteDate":"2026-03-01","createdAt":"2026-03-01T09:30:00.000Z","lastModifiedAt":"2026-03-01T09:30:00.000Z","clickableLink":"x","rev":2}]}"#,
            UpdateDocuments::new([in_trash.titled("Trip").if_rev(2)]),
        ),
        (
            r#"{"documents":[{"id":"ID1","destination":{"destination":"templates"},"location":null}]}"#,
            UpdateDocuments::new([patch().moved_to(Destination::Templates)]),
        ),
    ]);
    refused::<UpdateDocuments>(&[
        ("{}", "documents", "the field `documents` is missing"),
        (r#"{"documents":[{"title":"x"}]}"#, "documents[0].id", "the field `id` is missing"),
        (
            r#"{"documents":[{"id":"ID1","location":{"folderId":"ID2"},"destination":{"folderId":"ID3"}}]}"#,
            "documents[0].destination",
            "location and destination differ: give one of them",
        ),
        (
            r#"{"documents":[{"id":"ID1","location":{}}]}"#,
            "documents[0].location",
            "name exactly one of destination and folderId",
        ),
        (
            r#"{"documents":[{"id":"ID1","deleted":true}]}"#,
            "documents[0].deleted",
            "unknown field `deleted`",
        ),
    ]);
}

#[test]
fn updates_of_a_scope() {
    let patch = || ScopedDocumentPatch::of(of(1));
    written(&[
        (r#"{"documents":[{"id":"ID1"}]}"#, UpdateScopedDocuments::new([patch()])),
        (
            r#"{"documents":[{"id":"ID1","title":"Trip"}]}"#,
            UpdateScopedDocuments::new([patch().titled("Trip")]),
        ),
    ]);
    also_read(&[(
        r#"{"documents":[{"id":"ID1","title":"Trip","isDeleted":false,"dailyNoteDate":"2026-03-01","createdAt":"","lastModifiedAt":""}]}"#,
        UpdateScopedDocuments::new([patch().titled("Trip")]),
    )]);
    refused::<UpdateScopedDocuments>(&[(
        r#"{"documents":[{"id":"ID1","rev":1}]}"#,
        "documents[0].rev",
        "unknown field `rev`",
    )]);
}

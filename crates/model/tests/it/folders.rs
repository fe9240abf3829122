//! Folders: their requests, and the tree that a listing shows.

use leafbase_model::{
    BuiltInLocation, CreateFolders, DeleteFolders, Folder, FolderDestination, FolderDraft,
    FolderId, FolderPatch, Items, Limits, MoveFolders, UpdateFolders, json,
};

use crate::wire::{also_read, of, refused, with_ids, written};

#[test]
fn creation() {
    let travel = || FolderDraft::new("Travel");
    let mut in_trash = travel();
    in_trash.parent = Some(BuiltInLocation::Trash.into());
    written(&[
        (r#"{"folders":[]}"#, CreateFolders::default()),
        (r#"{"folders":[{"name":"Travel"}]}"#, CreateFolders::new([travel()])),
        (
            r#"{"folders":[{"name":"Travel","parentFolderId":"ID1","folders":[{"name":"Lisbon"},{"name":"Oslo"}]}]}"#,
            CreateFolders::new([travel()
                .within(of(1))
                .with_folders([FolderDraft::new("Lisbon"), FolderDraft::new("Oslo")])]),
        ),
        (
            r#"{"folders":[{"name":"Travel","parentFolderId":"trash"}]}"#,
            CreateFolders::new([in_trash]),
        ),
    ]);
    also_read(&[
        (
            r#"{"folders":[{"name":"Travel","parentFolderId":null,"folders":[]}]}"#,
            CreateFolders::new([travel()]),
        ),
        (
            r#"{"folders":[{"name":"Travel","parentFolderId":"?"}]}"#,
            CreateFolders::new([travel().within(FolderId::NIL)]),
        ),
        // As a reply has it.
        (
            r#"{"folders":[{"id":"ID2","name":"Travel","parentFolderId":"ID1","documentCount":7,"rev":3,"folders":[
                {"id":"ID3","name":"Lisbon","parentFolderId":"ID2","documentCount":0,"rev":1,"folders":[]}]}]}"#,
            CreateFolders::new([travel().within(of(1)).with_folders([FolderDraft::new("Lisbon")])]),
        ),
    ]);
    refused::<CreateFolders>(&[
        ("{}", "folders", "the field `folders` is missing"),
        (r#"{"folders":{"name":"Travel"}}"#, "folders", "expected an array, got an object"),
        (r#"{"folders":["Travel"]}"#, "folders[0]", r#"expected an object, got "Travel""#),
        (r#"{"folders":[{}]}"#, "folders[0].name", "the field `name` is missing"),
        (r#"{"folders":[{"name":7}]}"#, "folders[0].name", "expected a string, got 7"),
        (
            r#"{"folders":[{"name":"x","folders":[{"name":"y"},{}]}]}"#,
            "folders[0].folders[1].name",
            "the field `name` is missing",
        ),
        (
            r#"{"folders":[{"name":"x","parentFolderId":3}]}"#,
            "folders[0].parentFolderId",
            "expected an ID, got 3",
        ),
        (
            r#"{"folders":[{"name":"Trash","id":"trash"}]}"#,
            "folders[0].id",
            "trash is a built-in location, which cannot be created",
        ),
        (
            r#"{"folders":[{"name":"x","documents":[]}]}"#,
            "folders[0].documents",
            "unknown field `documents`",
        ),
        (r#"{"folders":[],"destination":"root"}"#, "destination", "unknown field `destination`"),
    ]);
}

fn nested(levels: usize) -> String {
    let open = r#"{"name":"f","folders":["#;
    format!(r#"{{"folders":[{}{}]}}"#, open.repeat(levels), "]}".repeat(levels))
}

#[test]
fn folders_nest_as_deep_as_the_limit_allows() {
    let limits = Limits::default();
    json::from_str::<CreateFolders>(&nested(limits.folder_nesting), &limits).unwrap();
    let error = json::from_str::<CreateFolders>(&nested(100_000), &limits).unwrap_err();
    assert_eq!(error.message(), "nesting of JSON: at most 144, got 200002");
    let mut flat_pages = Limits::default();
    flat_pages.page_nesting = 1;
    json::from_str::<CreateFolders>(&nested(limits.folder_nesting), &flat_pages).unwrap();
}

#[test]
fn destinations() {
    written(&[
        (r#"{"destination":"root"}"#, FolderDestination::Root),
        (r#"{"parentFolderId":"ID1"}"#, FolderDestination::from(of::<FolderId>(1))),
        (
            r#"{"parentFolderId":"templates"}"#,
            FolderDestination::Folder(BuiltInLocation::Templates.into()),
        ),
    ]);
    also_read(&[(r#""root""#, FolderDestination::Root)]);
    let neither = "name exactly one of destination and parentFolderId";
    refused::<FolderDestination>(&[
        ("{}", "", neither),
        (r#"{"destination":"root","parentFolderId":"ID1"}"#, "", neither),
        (
            r#""ID1""#,
            "",
            r#"unknown destination "00000000000000000000000001", expected root or a parentFolderId"#,
        ),
        (
            r#"{"destination":"unsorted"}"#,
            "destination",
            r#"unknown destination "unsorted", expected root or a parentFolderId"#,
        ),
        (r#"{"folderId":"ID1"}"#, "folderId", "unknown field `folderId`"),
        ("1", "", "expected an object, got 1"),
    ]);
}

#[test]
fn moves_and_deletion() {
    let both = || [of::<FolderId>(1), of(2)];
    written(&[
        (
            r#"{"folderIds":["ID1","ID2"],"destination":{"parentFolderId":"ID3"}}"#,
            MoveFolders::new(both(), of::<FolderId>(3)),
        ),
        (
            r#"{"folderIds":["ID1"],"destination":{"destination":"root"}}"#,
            MoveFolders::new([of(1)], FolderDestination::Root),
        ),
    ]);
    also_read(&[(
        r#"{"folderIds":"ID1","destination":"root"}"#,
        MoveFolders::new([of(1)], FolderDestination::Root),
    )]);
    written(&[
        (r#"{"folderIds":["ID1","ID2"]}"#, DeleteFolders::new(both())),
        (r#"{"folderIds":["ID1"],"mustBeEmpty":true}"#, DeleteFolders::new([of(1)]).if_empty()),
        (
            r#"{"folderIds":["trash"]}"#,
            DeleteFolders { folder_ids: vec![BuiltInLocation::Trash.into()], must_be_empty: false },
        ),
    ]);
    also_read(&[(r#"{"folderIds":"ID1","mustBeEmpty":false}"#, DeleteFolders::new([of(1)]))]);
    let faults = [
        ("{}", "folderIds", "the field `folderIds` is missing"),
        (r#"{"folderIds":["ID1",false]}"#, "folderIds[1]", "expected an ID, got false"),
    ];
    refused::<MoveFolders>(&faults);
    refused::<DeleteFolders>(&faults);
    refused::<MoveFolders>(&[
        (r#"{"folderIds":[]}"#, "destination", "the field `destination` is missing"),
        (
            r#"{"folderIds":[],"destination":"top"}"#,
            "destination",
            r#"unknown destination "top", expected root or a parentFolderId"#,
        ),
    ]);
    refused::<DeleteFolders>(&[
        (
            r#"{"folderIds":[],"mustBeEmpty":"yes"}"#,
            "mustBeEmpty",
            r#"expected true or false, got "yes""#,
        ),
        (r#"{"folderIds":[],"recursive":true}"#, "recursive", "unknown field `recursive`"),
    ]);
}

fn listed() -> Items<Folder> {
    let folder = |number: u8, name: &str, parent: Option<u8>, folders| Folder {
        id: of::<FolderId>(number).into(),
        name: name.into(),
        parent: parent.map(of),
        document_count: u64::from(number),
        rev: Some(u64::from(number)),
        folders,
    };
    let built_in = |location: BuiltInLocation| Folder {
        id: location.into(),
        name: location.name().into(),
        parent: None,
        document_count: 0,
        rev: None,
        folders: Vec::new(),
    };
    let mut listed: Vec<_> =
        BuiltInLocation::ALL.iter().map(|location| built_in(*location)).collect();
    let alfama = folder(3, "Alfama", Some(2), Vec::new());
    let within =
        vec![folder(2, "Lisbon", Some(1), vec![alfama]), folder(4, "Oslo", Some(1), Vec::new())];
    listed.push(folder(1, "Travel", None, within));
    Items(listed)
}

#[test]
fn the_listing() {
    insta::assert_json_snapshot!(listed());
}

#[test]
fn a_tree_of_folders_is_walked_from_its_top() {
    let listed = listed();
    let walked: Vec<_> =
        listed[4].walk().map(|(depth, folder)| (depth, folder.name.as_str())).collect();
    assert_eq!(walked, [(0, "Travel"), (1, "Lisbon"), (2, "Alfama"), (1, "Oslo")]);
    let ids: Vec<_> = listed.iter().map(Folder::folder_id).collect();
    assert_eq!(ids, [None, None, None, None, Some(of(1))]);
    assert_eq!(
        serde_json::to_value(&listed[4]).unwrap()["folders"][1]["parentFolderId"],
        with_ids("ID1")
    );
}

#[test]
fn updates() {
    let patch = || FolderPatch::of(of(1));
    written(&[
        (r#"{"folders":[]}"#, UpdateFolders::default()),
        (
            r#"{"folders":[{"id":"ID1","rev":2,"name":"Oslo","destination":{"parentFolderId":"ID2"}}]}"#,
            UpdateFolders::new([patch().if_rev(2).named("Oslo").moved_to(of::<FolderId>(2))]),
        ),
        (
            r#"{"folders":[{"id":"ID1","destination":{"destination":"root"}}]}"#,
            UpdateFolders::new([patch().moved_to(FolderDestination::Root)]),
        ),
    ]);
    also_read(&[
        // As replies have it.
        (
            r#"{"folders":[{"id":"ID1","name":"Oslo","parentFolderId":"ID2","documentCount":3,"rev":2,"folders":[{}]}]}"#,
            UpdateFolders::new([patch().if_rev(2).named("Oslo").moved_to(of::<FolderId>(2))]),
        ),
        (
            r#"{"folders":[{"id":"ID1","destination":"root","parentFolderId":null}]}"#,
            UpdateFolders::new([patch().moved_to(FolderDestination::Root)]),
        ),
    ]);
    refused::<UpdateFolders>(&[
        (r#"{"folders":[{"name":"x"}]}"#, "folders[0].id", "the field `id` is missing"),
        (
            r#"{"folders":[{"id":"ID1","parentFolderId":"ID2","destination":"root"}]}"#,
            "folders[0].destination",
            "parentFolderId and destination differ: give one of them",
        ),
        (r#"{"folders":[{"id":"ID1","title":"x"}]}"#, "folders[0].title", "unknown field `title`"),
    ]);
}

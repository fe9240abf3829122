//! Folders: a tree with the built-in locations first, made, moved and deleted.

use leafbase::{
    BuiltInLocation, CreateFolders, DeleteFolders, FolderDraft, FolderId, FolderRef, MoveFolders,
};
use leafbase_model::Limits;
use serde_json::json;

use crate::documents::Library;

#[test]
fn the_tree_has_the_built_in_locations_first_and_counts_documents() {
    let library = Library::new();
    let before =
        "Unsorted 1\nDaily notes 2\nTemplates 1\nTrash 3\nHome 1\n  Garden 1 in Home\nWork 1";
    assert_eq!(library.folders(), before);
    for (operation, body, expected) in [
        (
            "delete",
            r#"{"documentIds":["@bills","@today"]}"#,
            "Unsorted 1\nDaily notes 1\nTemplates 1\nTrash 5\nHome 0\n  Garden 1 in Home\nWork 1",
        ),
        (
            "move",
            r#"{"documentIds":["@bills","@rubbish","@template"],"destination":{"folderId":"@Garden"}}"#,
            "Unsorted 1\nDaily notes 1\nTemplates 0\nTrash 3\nHome 0\n  Garden 4 in Home\nWork 1",
        ),
        (
            "purge",
            r#"{"olderThanDays":0}"#,
            "Unsorted 1\nDaily notes 1\nTemplates 0\nTrash 0\nHome 0\n  Garden 4 in Home\nWork 1",
        ),
        (
            "deleteFolders",
            r#"{"folderIds":["@Garden","@Work"]}"#,
            "Unsorted 2\nDaily notes 1\nTemplates 0\nTrash 0\nHome 4",
        ),
    ] {
        library.done(operation, body);
        assert_eq!(library.folders(), expected, "{operation} {body}");
    }
    assert!(library.notes.space().check().unwrap().is_clean());
}

#[test]
fn the_tree_as_json() {
    let mut library = Library::empty("UTC", Limits::default());
    let built_in =
        |id: &str, name: &str| json!({"id": id, "name": name, "documentCount": 0, "folders": []});
    let mut expected = vec![
        built_in("unsorted", "Unsorted"),
        built_in("daily_notes", "Daily notes"),
        built_in("templates", "Templates"),
        built_in("trash", "Trash"),
    ];
    assert_eq!(
        serde_json::to_value(library.notes.folders().unwrap()).unwrap(),
        json!({"items": expected})
    );
    library.folder("a", None);
    library.folder("b", Some("a"));
    library.document("x", r#"{"folderId":"@b"}"#);
    let [a, b] = ["a", "b"].map(|name| library.id(name).to_string());
    let within = json!({"id": b, "name": "b", "parentFolderId": a, "documentCount": 1, "rev": 1, "folders": []});
    expected.push(json!({"id": a, "name": "a", "documentCount": 0, "rev": 1, "folders": [within]}));
    assert_eq!(
        serde_json::to_value(library.notes.folders().unwrap()).unwrap(),
        json!({"items": expected})
    );
}

#[test]
fn siblings_stand_by_name_and_then_by_id() {
    let library = Library::empty("UTC", Limits::default());
    let made: Vec<FolderId> = ["b", "A", "a", "Émil", "B", "a", "_"]
        .iter()
        .map(|name| library.notes.create_folder(name, None).unwrap().id)
        .collect();
    let tree = library.notes.folders().unwrap();
    let shown: Vec<FolderId> = tree.iter().filter_map(leafbase::Folder::folder_id).collect();
    assert_eq!(shown, [6, 1, 2, 5, 0, 4, 3].map(|at| made[at]));
}

#[test]
fn folders_are_made_with_folders_in_them() {
    let library = Library::new();
    for (body, expected) in [
        (r#"{"folders":[{"name":"a"}]}"#, "a"),
        (r#"{"folders":[{"name":"a","parentFolderId":null}]}"#, "a"),
        (
            r#"{"folders":[{"name":"a","parentFolderId":"@Garden"},{"name":"b","parentFolderId":"@Home"}]}"#,
            "a:Garden b:Home",
        ),
        (
            r#"{"folders":[{"name":"a","folders":[{"name":"b","folders":[{"name":"c"}]},{"name":"d"}]},{"name":"e"}]}"#,
            "a b:? c:? d:? e",
        ),
        // Names are no identity.
        (
            r#"{"folders":[{"name":"Home"},{"name":"Home"},{"name":"unsorted"}]}"#,
            "Home Home unsorted",
        ),
    ] {
        library.undone("createFolders", body, expected);
    }
    library.done(
        "createFolders",
        r#"{"folders":[{"name":"a","parentFolderId":"@Work","folders":[{"name":"c"},{"name":"b"}]}]}"#,
    );
    assert!(
        library.folders().ends_with("Work 1\n  a 0 in Work\n    b 0 in ?\n    c 0 in ?"),
        "{}",
        library.folders()
    );
}

#[test]
fn folders_that_are_not_made() {
    let mut limits = Limits::default();
    limits.blocks_per_request = 5;
    limits.folder_nesting = 2;
    let library = Library::with_limits(limits);
    let long = format!(r#"{{"folders":[{{"name":"{}"}}]}}"#, "é".repeat(1_001));
    library.table(&[
        ("createFolders", r#"{"folders":[{"name":"a"},{"name":""}]}"#, "VALIDATION folders[1].name"),
        ("createFolders", r#"{"folders":[{"name":" "}]}"#, "VALIDATION folders[0].name"),
        ("createFolders", r#"{"folders":[{}]}"#, "VALIDATION folders[0].name"),
        ("createFolders", "{}", "VALIDATION folders"),
        ("createFolders", r#"{"folders":[{"name":"a","title":"b"}]}"#, "VALIDATION folders[0].title"),
        ("createFolders", &long, "LIMIT_EXCEEDED folders[0].name"),
        (
            "createFolders",
            r#"{"folders":[{"name":"a","folders":[{"name":"b"},{"name":""}]}]}"#,
            "VALIDATION folders[0].folders[1].name",
        ),
        (
            "createFolders",
            r#"{"folders":[{"name":"a","folders":[{"name":"b","parentFolderId":"@Home"}]}]}"#,
            "VALIDATION folders[0].folders[0].parentFolderId",
        ),
        ("createFolders", r#"{"folders":[{"name":"a","parentFolderId":"?"}]}"#, "NOT_FOUND folders[0].parentFolderId"),
        ("createFolders", r#"{"folders":[{"name":"a","parentFolderId":"@loose"}]}"#, "NOT_FOUND folders[0].parentFolderId"),
        (
            "createFolders",
            r#"{"folders":[{"name":"a","folders":[{"name":"b","folders":[{"name":"c","folders":[{"name":"d"}]}]}]}]}"#,
            "LIMIT_EXCEEDED folders[0].folders[0].folders[0].folders[0]",
        ),
        (
            "createFolders",
            r#"{"folders":[{"name":"a","parentFolderId":"@Garden","folders":[{"name":"b"}]}]}"#,
            "LIMIT_EXCEEDED folders[0].folders[0]",
        ),
        (
            "createFolders",
            r#"{"folders":[{"name":"a","folders":[{"name":"b"},{"name":"c"}]},{"name":"d"},{"name":"e"},{"name":"f"}]}"#,
            "LIMIT_EXCEEDED folders",
        ),
    ]);
    for location in BuiltInLocation::ALL {
        let body = format!(
            r#"{{"folders":[{{"name":"a"}},{{"name":"b","parentFolderId":"{location}"}}]}}"#
        );
        library.table(&[("createFolders", &body, "RULE_VIOLATION folders[1].parentFolderId")]);
    }
}

#[test]
fn folders_are_moved() {
    let library = Library::new();
    for (body, expected) in [
        (r#"{"folderIds":"@Garden","destination":"root"}"#, "Garden"),
        (r#"{"folderIds":["@Garden"],"destination":{"destination":"root"}}"#, "Garden"),
        (r#"{"folderIds":["@Home"],"destination":{"parentFolderId":"@Work"}}"#, "Home:Work"),
        (
            r#"{"folderIds":["@Home","@Garden"],"destination":{"parentFolderId":"@Work"}}"#,
            "Home:Work Garden:Work",
        ),
        (
            r#"{"folderIds":["@Garden","@Work"],"destination":{"parentFolderId":"@Home"}}"#,
            "Garden:Home Work:Home",
        ),
    ] {
        library.undone("moveFolders", body, expected);
    }
    let before = library.notes.last_sequence().unwrap();
    library.table(&[
        (
            "moveFolders",
            r#"{"folderIds":["@Garden"],"destination":{"parentFolderId":"@Home"}}"#,
            "Garden:Home",
        ),
        ("moveFolders", r#"{"folderIds":[],"destination":"root"}"#, ""),
    ]);
    assert_eq!(
        library.notes.last_sequence().unwrap(),
        before,
        "what is there already is not written"
    );
}

#[test]
fn folders_that_are_not_moved() {
    let mut limits = Limits::default();
    limits.blocks_per_request = 3;
    limits.folder_nesting = 2;
    let mut library = Library::with_limits(limits);
    library.folder("Deep", Some("Garden"));
    library.table(&[
        (
            "moveFolders",
            r#"{"folderIds":["@Home"],"destination":{"parentFolderId":"@Home"}}"#,
            "RULE_VIOLATION folderIds[0]",
        ),
        (
            "moveFolders",
            r#"{"folderIds":["@Home"],"destination":{"parentFolderId":"@Garden"}}"#,
            "RULE_VIOLATION folderIds[0]",
        ),
        (
            "moveFolders",
            r#"{"folderIds":["@Work","@Home"],"destination":{"parentFolderId":"@Deep"}}"#,
            "RULE_VIOLATION folderIds[1]",
        ),
        (
            "moveFolders",
            r#"{"folderIds":["@Work","@Work"],"destination":"root"}"#,
            "VALIDATION folderIds[1]",
        ),
        (
            "moveFolders",
            r#"{"folderIds":["@Work","?"],"destination":"root"}"#,
            "NOT_FOUND folderIds[1]",
        ),
        (
            "moveFolders",
            r#"{"folderIds":["?","?"],"destination":"root"}"#,
            "NOT_FOUND folderIds[0]",
        ),
        (
            "moveFolders",
            r#"{"folderIds":["?"],"destination":{"parentFolderId":"?"}}"#,
            "NOT_FOUND destination.parentFolderId",
        ),
        (
            "moveFolders",
            r#"{"folderIds":["@Work"],"destination":{"parentFolderId":"@loose"}}"#,
            "NOT_FOUND destination.parentFolderId",
        ),
        (
            "moveFolders",
            r#"{"folderIds":["@Home"],"destination":{"parentFolderId":"@Work"}}"#,
            "LIMIT_EXCEEDED folderIds[0]",
        ),
        (
            "moveFolders",
            r#"{"folderIds":["1","2","3","4"],"destination":"root"}"#,
            "LIMIT_EXCEEDED folderIds",
        ),
        ("moveFolders", r#"{"folderIds":["@Work"],"destination":"top"}"#, "VALIDATION destination"),
        ("moveFolders", r#"{"folderIds":["@Work"]}"#, "VALIDATION destination"),
        ("moveFolders", r#"{"destination":"root"}"#, "VALIDATION folderIds"),
    ]);
    for location in BuiltInLocation::ALL {
        let from = format!(r#"{{"folderIds":["@Work","{location}"],"destination":"root"}}"#);
        let to =
            format!(r#"{{"folderIds":["@Work"],"destination":{{"parentFolderId":"{location}"}}}}"#);
        library.table(&[
            ("moveFolders", &from, "RULE_VIOLATION folderIds[1]"),
            ("moveFolders", &to, "RULE_VIOLATION destination.parentFolderId"),
        ]);
    }
}

#[test]
fn what_is_in_a_deleted_folder_goes_up() {
    let mut library = Library::new();
    library.folder("Beds", Some("Garden"));
    library.document("peas", r#"{"folderId":"@Beds"}"#);
    let built_in =
        |unsorted: u8| format!("Unsorted {unsorted}\nDaily notes 2\nTemplates 1\nTrash 3\n");
    for (folders, unsorted, expected) in [
        ("Garden", 1, "Home 2\n  Beds 1 in Home\nWork 1"),
        ("Home", 2, "Garden 1\n  Beds 1 in Garden\nWork 1"),
        ("Beds Work", 2, "Home 1\n  Garden 2 in Home"),
        ("Home Garden", 3, "Beds 1\nWork 1"),
        ("Garden Home", 3, "Beds 1\nWork 1"),
        ("Beds Home", 2, "Garden 2\nWork 1"),
        ("Garden Beds", 1, "Home 3\nWork 1"),
        ("Beds Garden Work Home", 5, ""),
    ] {
        let ids: Vec<_> = folders.split(' ').map(|name| format!("\"@{name}\"")).collect();
        let body = format!(r#"{{"folderIds":[{}]}}"#, ids.join(","));
        library.undone("deleteFolders", &body, folders);
        let sequence = library.notes.last_sequence().unwrap();
        library.done("deleteFolders", &body);
        assert_eq!(
            library.folders(),
            format!("{}{expected}", built_in(unsorted)).trim_end(),
            "{folders}"
        );
        let change = library.notes.changes_since(sequence).next().unwrap().unwrap();
        library.notes.space().apply(library.notes.author(), &change.inverse().unwrap()).unwrap();
    }
    assert!(library.notes.space().check().unwrap().is_clean());
}

#[test]
fn folders_that_are_not_deleted() {
    let mut limits = Limits::default();
    limits.blocks_per_request = 3;
    let mut library = Library::with_limits(limits);
    library.folder("Empty", Some("Work"));
    library.folder("Bare", None);
    library.table(&[
        ("deleteFolders", r#"{"folderIds":["@Home","?"]}"#, "NOT_FOUND folderIds[1]"),
        ("deleteFolders", r#"{"folderIds":["@Home","@Home"]}"#, "VALIDATION folderIds[1]"),
        ("deleteFolders", r#"{"folderIds":["1","2","3","4"]}"#, "LIMIT_EXCEEDED folderIds"),
        (
            "deleteFolders",
            r#"{"folderIds":["@Bare","@Home"],"mustBeEmpty":true}"#,
            "RULE_VIOLATION folderIds[1]",
        ),
        (
            "deleteFolders",
            r#"{"folderIds":["@Empty","@Work"],"mustBeEmpty":true}"#,
            "RULE_VIOLATION folderIds[1]",
        ),
        (
            "deleteFolders",
            r#"{"folderIds":["@Home"],"mustBeEmpty":"yes"}"#,
            "VALIDATION mustBeEmpty",
        ),
    ]);
    for location in BuiltInLocation::ALL {
        for empty in [false, true] {
            let body = format!(r#"{{"folderIds":["@Bare","{location}"],"mustBeEmpty":{empty}}}"#);
            library.table(&[("deleteFolders", &body, "RULE_VIOLATION folderIds[1]")]);
        }
    }
    let error =
        library.ask("deleteFolders", r#"{"folderIds":"@Work","mustBeEmpty":true}"#).unwrap_err();
    assert!(error.message().ends_with("documents in it 1, folders in it 1"), "{error}");
}

#[test]
fn empty_folders_are_deleted_if_only_those_may_be() {
    let mut library = Library::new();
    library.folder("Outer", None);
    library.folder("Inner", Some("Outer"));
    library.table(&[(
        "deleteFolders",
        r#"{"folderIds":["@Outer"],"mustBeEmpty":true}"#,
        "RULE_VIOLATION folderIds[0]",
    )]);
    // What goes by the same request does not count, whichever is named first.
    for names in ["Outer Inner", "Inner Outer", "Inner"] {
        let ids: Vec<_> = names.split(' ').map(|name| format!("\"@{name}\"")).collect();
        let body = format!(r#"{{"folderIds":[{}],"mustBeEmpty":true}}"#, ids.join(","));
        library.undone("deleteFolders", &body, names);
    }
    // What is in the trash is in no folder any more.
    library.table(&[
        ("delete", r#"{"documentIds":["@plan"]}"#, "plan"),
        ("deleteFolders", r#"{"folderIds":["@Work"],"mustBeEmpty":true}"#, "Work"),
        (
            "move",
            r#"{"documentIds":["@plan"],"destination":{"folderId":"@Work"}}"#,
            "NOT_FOUND destination.folderId",
        ),
        (
            "move",
            r#"{"documentIds":["@plan"],"destination":{"destination":"unsorted"}}"#,
            "plan:unsorted",
        ),
    ]);
}

#[test]
fn folders_nest_as_deep_as_the_limit_says() {
    let library = Library::empty("UTC", Limits::default());
    let chain = |levels: usize| {
        (1..levels)
            .fold(FolderDraft::new("f"), |inner, _| FolderDraft::new("f").with_folders([inner]))
    };
    let made = library.notes.create_folders(CreateFolders::new([chain(65)])).unwrap();
    let error = library.notes.create_folders(CreateFolders::new([chain(66)])).unwrap_err();
    assert_eq!((error.code(), error.path().matches("folders[0]").count()), ("LIMIT_EXCEEDED", 66));
    let (top, deepest) = (made[0].id, made[64].id);
    let error = library.notes.create_folder("x", Some(deepest)).unwrap_err();
    assert_eq!((error.code(), error.path()), ("LIMIT_EXCEEDED", ""));
    library.notes.create_folder("x", Some(made[63].id)).unwrap();
    let other = library.notes.create_folder("other", None).unwrap().id;
    let go = |folder: FolderId| library.notes.move_folders(MoveFolders::new([folder], other));
    assert_eq!(go(top).unwrap_err().code(), "LIMIT_EXCEEDED");
    go(made[1].id).unwrap();
    assert_eq!(
        library.notes.folders().unwrap().iter().flat_map(leafbase::Folder::walk).count(),
        4 + 65 + 2
    );
    let all = made.iter().map(|folder| folder.id);
    assert_eq!(library.notes.delete_folders(DeleteFolders::new(all)).unwrap().len(), 65);
}

#[test]
fn json_of_any_depth_is_refused() {
    let library = Library::empty("UTC", Limits::default());
    let body = |levels: usize| {
        let folder = r#"{"name":"f","folders":["#.repeat(levels) + &"]}".repeat(levels);
        format!(r#"{{"folders":[{folder}]}}"#)
    };
    assert_eq!(library.line("createFolders", &body(100_000)), "LIMIT_EXCEEDED");
    assert_eq!(library.line("createFolders", &body(66)).split('.').count(), 66);
    assert_eq!(library.line("createFolders", &body(65)).split(' ').count(), 65);
}

#[test]
fn a_request_built_in_rust_does_the_same() {
    let library = Library::new();
    let made = library.notes.create_folders(CreateFolders::new([FolderDraft::new("a")])).unwrap();
    let mut request = DeleteFolders::new([made[0].id]).if_empty();
    assert_eq!(library.notes.delete_folders(request.clone()).unwrap().0, [made[0].id]);
    request.folder_ids = vec![FolderRef::from(BuiltInLocation::Trash)];
    assert_eq!(library.notes.delete_folders(request).unwrap_err().code(), "RULE_VIOLATION");
}

#[test]
fn updates() {
    let mut limits = Limits::default();
    (limits.folder_nesting, limits.title, limits.blocks_per_request) = (2, 29, 4);
    let library = Library::with_limits(limits);
    let many = json!({"folders": vec![json!({"id": "?"}); 5]}).to_string();
    let long = json!({"folders": [{"id": "@Work", "name": "x".repeat(30)}]}).to_string();
    library.table(&[
        ("updateFolders", r#"{"folders":[]}"#, ""),
        ("updateFolders", r#"{"folders":[{"id":"@Garden"}]}"#, "Garden:Home"),
        (
            "updateFolders",
            r#"{"folders":[{"id":"@Work","name":"x"},{"id":"?"}]}"#,
            "NOT_FOUND folders[1].id",
        ),
        (
            "updateFolders",
            r#"{"folders":[{"id":"@Work","name":"x"},{"id":"@Work"}]}"#,
            "VALIDATION folders[1].id",
        ),
        (
            "updateFolders",
            r#"{"folders":[{"id":"unsorted","name":"Unsorted"}]}"#,
            "",
        ),
        (
            "updateFolders",
            r#"{"folders":[{"id":"unsorted","name":"Others"}]}"#,
            "RULE_VIOLATION folders[0].id",
        ),
        (
            "updateFolders",
            r#"{"folders":[{"id":"@Work","rev":2,"name":"x"}]}"#,
            "CONFLICT folders[0].rev",
        ),
        (
            "updateFolders",
            r#"{"folders":[{"id":"@Work","name":" "}]}"#,
            "VALIDATION folders[0].name",
        ),
        ("updateFolders", &long, "LIMIT_EXCEEDED folders[0].name"),
        ("updateFolders", &many, "LIMIT_EXCEEDED folders"),
        (
            "updateFolders",
            r#"{"folders":[{"id":"@Work","parentFolderId":"?"}]}"#,
            "NOT_FOUND folders[0].parentFolderId",
        ),
        (
            "updateFolders",
            r#"{"folders":[{"id":"@Work","parentFolderId":"templates"}]}"#,
            "RULE_VIOLATION folders[0].parentFolderId",
        ),
        (
            "updateFolders",
            r#"{"folders":[{"id":"@Home","parentFolderId":"@Home"}]}"#,
            "RULE_VIOLATION folders[0].parentFolderId",
        ),
        // Each alone would be allowed.
        (
            "updateFolders",
            r#"{"folders":[{"id":"@Work","parentFolderId":"@Home"},{"id":"@Home","parentFolderId":"@Work"}]}"#,
            "RULE_VIOLATION folders[1].parentFolderId",
        ),
        (
            "updateFolders",
            r#"{"folders":[{"id":"@Work","destination":{"parentFolderId":"@Home"},"parentFolderId":"@Garden"}]}"#,
            "VALIDATION folders[0].destination",
        ),
    ]);
    for (body, expected) in [
        (r#"{"folders":[{"id":"@Garden","name":"Orchard"}]}"#, "Garden:Home"),
        (r#"{"folders":[{"id":"@Garden","destination":"root"}]}"#, "Garden"),
        (
            r#"{"folders":[{"id":"@Garden","destination":"root"},{"id":"@Home","rev":1,"name":"x","parentFolderId":"@Garden"},{"id":"@Work","destination":{"parentFolderId":"@Home"}}]}"#,
            "Garden Home:Garden Work:Home",
        ),
    ] {
        library.undone("updateFolders", body, expected);
    }
    let mut flat = Limits::default();
    flat.folder_nesting = 1;
    let library = Library::with_limits(flat);
    library.table(&[(
        "updateFolders",
        r#"{"folders":[{"id":"@Home","parentFolderId":"@Work"}]}"#,
        "LIMIT_EXCEEDED folders[0].parentFolderId",
    )]);
}

#[test]
fn a_folder_of_a_reply_sent_back_changes_nothing() {
    let library = Library::new();
    let notes = &library.notes;
    let tree = notes.folders().unwrap();
    let folders: Vec<_> = tree
        .iter()
        .flat_map(leafbase::Folder::walk)
        .filter(|(_, folder)| folder.folder_id().is_some())
        .map(|(_, folder)| serde_json::to_value(folder).unwrap())
        .collect();
    assert_eq!(folders.len(), 3);
    let (before, last) = (library.state(), notes.last_sequence().unwrap());
    let request = serde_json::from_value(json!({"folders": folders})).unwrap();
    let updated = notes.update_folders(request).unwrap();
    assert!(updated.iter().all(|folder| folder.rev == 1));
    let records = serde_json::to_value(&updated).unwrap();
    let request = serde_json::from_value(json!({"folders": records["items"]})).unwrap();
    assert_eq!(notes.update_folders(request).unwrap(), updated);
    assert_eq!((library.state(), notes.last_sequence().unwrap()), (before, last));
}

//! What a scoped connection cannot do it does not have: the operations of a full one do not exist
//! on its type.

use std::fs;
use std::path::{Path, PathBuf};

use leafbase::{Connection, Scoped, Space};

/// Implements methods of these names for scoped connections: a method of the type itself would be
/// taken first, and would not compile without arguments, or give something else.
macro_rules! lacking {
    ($($name:ident)*) => {
        trait Lacking {
            $(fn $name(&self) -> &'static str {
                stringify!($name)
            })*
        }

        impl Lacking for Connection<Scoped> {}

        fn lacked(notes: &Connection<Scoped>) -> Vec<&'static str> {
            vec![$(notes.$name()),*]
        }
    };
}

lacking! {
    space
    create_document create_document_of create_documents create_from_template
    delete_documents move_documents purge_documents restore_daily_notes
    put_embeddings embeddings missing_embeddings remove_embeddings embedding_models
    folders create_folder create_folders move_folders update_folders delete_folders
    tasks add_tasks update_tasks delete_tasks
    change_rows follow store_file promote demote is_follower copy_into copy_into_with
    find_ids document_links last_position log_begins_at history block_history document_at diff_document restore
    check check_with compact compact_with stats flush_search rebuild_search backup_to backup_with rename set_zone apply close flush meta
    scope scoped folder_scope page_scope keep_scope kept_scope kept_scopes delete_kept_scope connect
}

/// Operations that both have: the scoped ones are others, and reply with less.
const OTHERS: [&str; 10] = [
    "documents",
    "list_documents",
    "document",
    "update_documents",
    "find_documents",
    "run_batch",
    "changes_since",
    "last_sequence",
    "wait_for",
    "undo",
];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    files.into_iter().chain(folders.iter().flat_map(|folder| sources(folder))).collect()
}

/// The public methods of each block that begins so.
fn methods_of(block: &str) -> Vec<String> {
    let engine = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/engine/src");
    let mut found = Vec::new();
    for path in sources(&engine) {
        let text = fs::read_to_string(path).unwrap();
        for part in text.split(&format!("\n{block} {{")).skip(1) {
            let body = part.split("\n}").next().unwrap();
            let names = body.lines().filter_map(|line| line.strip_prefix("    pub fn "));
            found.extend(names.map(|name| name.split(['(', '<']).next().unwrap().to_owned()));
        }
    }
    found
}

#[test]
fn operations_of_the_full_space_do_not_exist() {
    let lacked = lacked(&Space::in_memory().unwrap().scoped([]));
    let own = methods_of("impl Connection<Full>");
    let full = [own, methods_of("impl<A: FullAccess> Connection<A>")].concat();
    assert!(full.len() >= 24, "{full:?}");
    for name in &full {
        assert_ne!(lacked.contains(&name.as_str()), OTHERS.contains(&name.as_str()), "{name}");
    }
    let space = methods_of("impl Space");
    assert!(
        space.contains(&"compact".to_owned()) && space.contains(&"rebuild_search".to_owned()),
        "{space:?}"
    );
    // What opens a space is not an operation on one; what tells of its limits and links is on both.
    let open = [
        "builder",
        "create",
        "open",
        "is_at",
        "salvage",
        "salvage_with",
        "in_memory",
        "read_json",
        "read_json_with",
        "read_query",
        "read_query_with",
        "limits",
        "block_url",
        "rebuild_search_with",
    ];
    for name in space.iter().filter(|name| !open.contains(&name.as_str())) {
        assert!(lacked.contains(&name.as_str()), "{name}");
    }
}

/// The control: the names that both have are found on the scoped connection.
#[test]
fn operations_of_a_scope_are_found() {
    let scoped = methods_of("impl Connection<Scoped>");
    assert_eq!(scoped.len(), OTHERS.len(), "{scoped:?}");
    for name in &scoped {
        assert!(OTHERS.contains(&name.as_str()), "{name}");
    }
    assert!(methods_of("impl<A: AccessScope> Connection<A>").contains(&"fetch".to_owned()));
}

//! All that a space has, record by record.

use std::io::Read;
use std::ops::ControlFlow;

use leafbase::{BlockKind, CommentSource, Connection, Edit, ListComments, bulk};

/// Settings, folders, documents with their blocks and comments, schemas, files with their bytes,
/// and the change log, as text. Two spaces with equal dumps are equal.
pub(crate) fn dump(notes: &Connection) -> Vec<String> {
    let meta = notes.space().meta().unwrap();
    let mut found = vec![format!("{meta:?} at {:?}", notes.last_position().unwrap())];
    let (folders, documents) = bulk::read(notes, |view| {
        let mut documents = Vec::new();
        view.documents(&mut |document| {
            documents.push(document);
            ControlFlow::Continue(())
        })?;
        let with_blocks = documents.into_iter().map(|document| {
            let subtree = view.subtree(document.record.id.root())?;
            Ok((document, subtree))
        });
        Ok((view.folders()?, with_blocks.collect::<leafbase::Result<Vec<_>>>()?))
    })
    .unwrap();
    found.extend(folders.iter().map(|folder| format!("{folder:?}")));
    for (document, subtree) in &documents {
        found.push(format!("{document:?}"));
        found.extend(subtree.0.iter().map(|node| format!("{node:?}")));
        for node in &subtree.0 {
            if matches!(node.block.data.kind, BlockKind::Collection) {
                found.push(format!("{:?}", notes.schema(node.block.id)));
            }
        }
        let comments = ListComments::of(CommentSource::Document(document.record.id));
        found.push(format!("{:?}", notes.list_comments(comments)));
    }
    found.push(format!("{:?}", notes.tasks(leafbase::TaskScope::Inbox).map(|tasks| tasks.items)));
    for change in notes.changes_since(notes.log_begins_at().unwrap()) {
        let change = change.unwrap();
        for edit in &change.edits {
            if let Edit::CreateAsset(record) = edit {
                let bytes = notes.open_file(record.id).map(|mut file| {
                    let mut bytes = Vec::new();
                    file.read_to_end(&mut bytes).unwrap();
                    (file.record().clone(), bytes)
                });
                found.push(format!("{bytes:?}"));
            }
        }
        found.push(format!("{change:?}"));
    }
    found
}

/// Fails with the first line in which the dumps differ.
pub(crate) fn assert_same(found: &[String], expected: &[String], what: &str) {
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found, expected, "{what}");
    }
    assert_eq!(found.len(), expected.len(), "{what}");
}

//! Embeddings: vectors, and the requests that store, list and remove them.

use leafbase_model::json::FromJson;
use leafbase_model::{
    BuiltInLocation, DocumentId, Embedding, EmbeddingDraft, EmbeddingModel, EmbeddingVector,
    EmbeddingsReply, GetEmbeddings, Limits, MissingEmbedding, MissingEmbeddings, NearestBlock,
    PutEmbeddings, QueryEmbedding, RemoveEmbeddings, SearchDocuments,
};
use serde_json::json;

use crate::support::id;
use crate::wire::{read, refused};

#[test]
fn vectors_have_a_direction() {
    let check = |components: &[f32]| {
        EmbeddingVector::from(components)
            .check()
            .map_err(|error| format!("{} {}", error.code(), error.path()).trim_end().to_owned())
    };
    assert_eq!(check(&[0.0, -1.0]), Ok(()));
    for (components, expected) in [
        (&[][..], "VALIDATION"),
        (&[0.0, -0.0], "VALIDATION"),
        (&[1.0, f32::NAN], "VALIDATION [1]"),
        (&[f32::INFINITY], "VALIDATION [0]"),
        (&vec![1.0; Limits::EMBEDDING_DIMENSIONS + 1], "LIMIT_EXCEEDED"),
    ] {
        assert_eq!(check(components), Err(expected.to_owned()));
    }
    let [zero, minus] = [[0.0], [-0.0]].map(EmbeddingVector::from);
    assert!(zero != minus && zero == zero.clone(), "bits are compared");
}

#[test]
fn requests_read_back() {
    let text = json!({
        "model": "m",
        "embeddings": [{"id": id(1), "rev": 3, "vector": [0.5, -1.0]}, {"id": id(2), "vector": [1.0]}]
    });
    let drafts =
        [EmbeddingDraft::new(id(1), [0.5, -1.0]).of_rev(3), EmbeddingDraft::new(id(2), [1.0])];
    let request = PutEmbeddings::new("m", drafts);
    assert_eq!(PutEmbeddings::from_json(text.clone()).unwrap(), request);
    assert_eq!(serde_json::to_value(&request).unwrap(), text);
    let get = GetEmbeddings::new("m", [id(1)]);
    assert_eq!(
        read::<GetEmbeddings>(&format!(r#"{{"model":"m","ids":"{}"}}"#, id(1))).unwrap(),
        get
    );
    let some = RemoveEmbeddings::new("m", [id(1)]);
    let text = serde_json::to_string(&some).unwrap();
    assert_eq!(read::<RemoveEmbeddings>(&text).unwrap(), some);
    assert_eq!(serde_json::to_string(&RemoveEmbeddings::all("m")).unwrap(), r#"{"model":"m"}"#);
    let document = DocumentId::of_root(id(1));
    for request in [
        MissingEmbeddings::of_blocks("m"),
        MissingEmbeddings::of_documents("m").within_documents([document]).limit(3).after("x"),
        MissingEmbeddings::of_blocks("m").at(BuiltInLocation::Trash).tagged("a"),
    ] {
        let text = serde_json::to_string(&request).unwrap();
        assert_eq!(read::<MissingEmbeddings>(&text).unwrap(), request, "{text}");
    }
    let near = SearchDocuments::default().near(QueryEmbedding::new("m", [1.0]));
    let text = serde_json::to_string(&near).unwrap();
    assert_eq!(text, r#"{"embedding":{"model":"m","vector":[1.0]}}"#);
    assert_eq!(read::<SearchDocuments>(&text).unwrap(), near);
}

#[test]
fn requests_are_refused_at_their_paths() {
    refused::<MissingEmbeddings>(&[
        ("{}", "model", "the field `model` is missing"),
        (r#"{"model":""}"#, "model", "expected the name of a model, without a NUL"),
    ]);
    for (request, path) in [
        (json!({"model": "m", "limit": 1_001}), "limit"),
        (json!({"model": "m".repeat(65)}), "model"),
        (json!({"model": "m", "targets": "pages"}), "targets"),
        (json!({"model": "m", "documentIds": id(1), "location": "trash"}), "documentIds"),
    ] {
        assert_eq!(MissingEmbeddings::from_json(request).unwrap_err().path(), path);
    }
    for (request, path) in [
        (json!({"embedding": {"model": "m", "vector": []}}), "embedding.vector"),
        (json!({"embedding": {"model": "m", "vector": [0]}}), "embedding.vector"),
        (json!({"embedding": {"model": "", "vector": [1]}}), "embedding.model"),
        (json!({"embedding": {"model": "m", "vector": [1, "a"]}}), "embedding.vector[1]"),
        (json!({"embedding": {"model": "m", "vector": [1, 1e300]}}), "embedding.vector[1]"),
    ] {
        let refused = SearchDocuments::from_json(request.clone());
        assert_eq!(refused.unwrap_err().path(), path, "{request}");
    }
}

#[test]
fn replies() {
    let document = DocumentId::of_root(id(1));
    let stored = Embedding::new(id(2), document, 4, [0.5]).stale(true);
    let expected = json!({
        "id": id(2), "documentId": document, "rev": 4, "isStale": true, "vector": [0.5]
    });
    assert_eq!(serde_json::to_value(stored).unwrap(), expected);
    let missing = MissingEmbedding::new(id(2), document, 4);
    let expected = json!({"id": id(2), "documentId": document, "rev": 4, "isStale": false});
    assert_eq!(serde_json::to_value(missing).unwrap(), expected);
    let reply = EmbeddingsReply::new(EmbeddingModel::new("m", 1, 2), vec![id(3)]);
    let expected = json!({"model": "m", "dimensions": 1, "embeddings": 2, "missingIds": [id(3)]});
    assert_eq!(serde_json::to_value(reply).unwrap(), expected);
    let nearest = serde_json::to_value(NearestBlock::new(id(2), 0.5)).unwrap();
    assert_eq!(nearest, json!({"blockId": id(2), "similarity": 0.5}));
}

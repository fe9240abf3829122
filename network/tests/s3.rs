//! Replicas in a bucket of S3, which a server on loopback keeps in a directory.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, mpsc};

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use leafbase_replica::{ObjectStoreAdapter, ReplicaStore};
use object_store::aws::{AmazonS3, AmazonS3Builder, S3ConditionalPut};
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use s3s_fs::FileSystem;
use tokio::net::TcpListener;
use tokio::runtime::Builder;

#[path = "../../crates/replica/tests/it/dump.rs"]
mod dump;
#[path = "../../crates/replica/tests/it/programs.rs"]
#[allow(dead_code, reason = "the tests of the crate use more of it")]
mod programs;
#[path = "../../crates/replica/tests/it/store_laws.rs"]
mod store_laws;

const BUCKET: &str = "spaces";
const KEY: &str = "key";
const SECRET: &str = "secret";

/// Serves the directories in `root` as buckets, until this program ends.
fn serve(root: &Path) -> SocketAddr {
    std::fs::create_dir(root.join(BUCKET)).unwrap();
    let mut service = S3ServiceBuilder::new(FileSystem::new(root).unwrap());
    service.set_auth(SimpleAuth::from_single(KEY, SECRET));
    let service = service.build();
    let (sender, address) = mpsc::channel();
    std::thread::spawn(move || {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            sender.send(listener.local_addr().unwrap()).unwrap();
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                let service = service.clone();
                tokio::spawn(async move {
                    let server = auto::Builder::new(TokioExecutor::new());
                    // A client that hangs up is not a failure.
                    drop(server.serve_connection(TokioIo::new(socket), service).await);
                });
            }
        });
    });
    address.recv().unwrap()
}

fn bucket(address: SocketAddr, secret: &str) -> AmazonS3 {
    // The client asks for one, although it does not encrypt here; another test may have been first.
    drop(rustls::crypto::ring::default_provider().install_default());
    AmazonS3Builder::new()
        .with_endpoint(format!("http://{address}"))
        .with_allow_http(true)
        .with_region("us-east-1")
        .with_bucket_name(BUCKET)
        .with_access_key_id(KEY)
        .with_secret_access_key(secret)
        .with_conditional_put(S3ConditionalPut::ETagMatch)
        .build()
        .unwrap()
}

#[test]
fn a_bucket_does_what_the_trait_says() {
    let root = tempfile::tempdir().unwrap();
    let bucket = Arc::new(bucket(serve(root.path()), SECRET));
    store_laws::conforms(&ObjectStoreAdapter::new(bucket, "a/prefix").unwrap());
}

#[test]
fn a_space_is_shipped_through_a_bucket() {
    let root = tempfile::tempdir().unwrap();
    let bucket = Arc::new(bucket(serve(root.path()), SECRET));
    let store: Arc<dyn ReplicaStore> =
        Arc::new(ObjectStoreAdapter::new(bucket, "a/prefix").unwrap());
    store_laws::ships(&store);
}

#[test]
fn a_wrong_key_is_refused_by_name() {
    let root = tempfile::tempdir().unwrap();
    let bucket = Arc::new(bucket(serve(root.path()), "another"));
    let store = ObjectStoreAdapter::new(bucket, "a/prefix").unwrap();
    let error = store.put("manifest", b"one").unwrap_err();
    assert_eq!(error.kind(), leafbase::ErrorKind::ReadOnly, "{error:?}");
    assert!(error.to_string().contains("manifest"), "{error}");
}

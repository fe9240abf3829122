//! Any row is read as what its keyspace holds, or called damaged or newer; nothing panics.
#![no_main]

use leafbase_model::ErrorKind;
use leafbase_store::rows;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|row: (Vec<u8>, &[u8])| {
    let (key, body) = row;
    check(&key, body);
    // Behind a checksum that holds, what reads the body is reached.
    check(&key, &rows::seal(&key, body));
});

fn check(key: &[u8], value: &[u8]) {
    if let Err(error) = rows::read(key, value) {
        assert!(matches!(error.kind(), ErrorKind::Corrupted | ErrorKind::NewerFormat), "{error:?}");
    }
}

//! Uploaded files.

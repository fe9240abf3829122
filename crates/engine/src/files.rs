//! Uploaded files: in from any reader, out as one.

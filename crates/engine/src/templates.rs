//! Documents made as copies of templates.

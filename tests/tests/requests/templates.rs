//! Documents made from templates.

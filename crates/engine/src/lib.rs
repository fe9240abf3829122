//! An embedded library for spaces of block documents.

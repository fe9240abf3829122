//! What a connection says of its space.

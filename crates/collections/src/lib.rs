//! What a Leafbase collection allows: property keys and values.

//! Items as replies show them: values by the schema, related items by their titles.

//! Daily notes: made by the first write to their day.

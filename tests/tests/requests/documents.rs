//! Documents: every row of the table of locations, filters, order, paging.

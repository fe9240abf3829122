//! That no limit is without a test of it: a new one in the file of limits is noticed here.

use std::fs;
use std::path::Path;

/// Every limit, and the tests that send what is below, at and above it: the file below the
/// workspace, and the function.
const TESTS: [(&str, &[(&str, &str)]); 45] = [
    (
        "page_nesting",
        &[
            ("requests/deep.rs", "inserted_blocks"),
            ("requests/deep.rs", "documents"),
            ("requests/deep.rs", "markdown"),
            ("requests/deep/moves.rs", "chains_below_chains"),
            ("requests/items/pages.rs", "pages_nest_as_deep_as_anywhere"),
            ("requests/collections/rules.rs", "collections_nest_as_deep_as_pages_may"),
        ],
    ),
    ("TAG_BYTES", &[("tags.rs", "tags_and_filters_of_tags_are_bounded")]),
    ("FILTER_TAGS", &[("tags.rs", "tags_and_filters_of_tags_are_bounded")]),
    ("FRONT_MATTER_BYTES", &[("tags.rs", "front_matter_beyond_its_bounds_says_nothing")]),
    ("FRONT_MATTER_DEPTH", &[("tags.rs", "front_matter_beyond_its_bounds_says_nothing")]),
    ("HOST_RECORD_BYTES", &[("mirror/rows.rs", "records_of_a_host_are_bounded")]),
    ("HOST_RECORD_NAME_BYTES", &[("mirror/rows.rs", "records_of_a_host_are_bounded")]),
    ("REQUEST_KEY_BYTES", &[("batch.rs", "a_batch_with_a_key_is_done_once")]),
    ("REQUEST_KEY_HOURS", &[("batch.rs", "a_batch_with_a_key_is_done_once")]),
    (
        "folder_nesting",
        &[
            ("requests/folders.rs", "folders_nest_as_deep_as_the_limit_says"),
            ("requests/deep/moves.rs", "folders_below_folders"),
        ],
    ),
    ("LEVELS", &[("requests/deep/reading.rs", "no_limit_lets_more_than_500_levels_in")]),
    (
        "block_text",
        &[
            ("requests/bounds.rs", "bytes_of_a_text"),
            ("requests/bounds/texts.rs", "the_lengths_as_they_come"),
            ("requests/bounds/collections.rs", "lengths_of_values"),
        ],
    ),
    (
        "block_raw",
        &[
            ("requests/bounds.rs", "bytes_of_code"),
            ("requests/bounds/texts.rs", "the_lengths_as_they_come"),
        ],
    ),
    ("comment", &[("requests/bounds/texts.rs", "bytes_of_a_comment")]),
    (
        "upload",
        &[
            ("requests/bounds/texts.rs", "bytes_of_a_file"),
            ("requests/files.rs", "a_file_may_be_as_long_as_the_limit"),
        ],
    ),
    (
        "blocks_per_request",
        &[
            ("requests/bounds.rs", "blocks_in_one_request"),
            ("requests/bounds/lists.rs", "comments_and_tasks"),
            ("requests/bounds/lists.rs", "items"),
            ("requests/bounds/lists.rs", "documents"),
            ("requests/bounds/lists.rs", "folders"),
            ("requests/bounds/lists.rs", "documents_that_a_question_names"),
            ("requests/bounds/lists.rs", "twenty_thousand_ids"),
            ("requests/deep/wide.rs", "siblings_by_the_thousand"),
        ],
    ),
    ("batch", &[("batch.rs", "a_batch_is_bounded_by_what_it_writes_and_replies")]),
    (
        "markdown",
        &[
            ("requests/bounds/texts.rs", "bytes_of_json_and_of_markdown"),
            ("requests/bounds/texts.rs", "the_lengths_as_they_come"),
        ],
    ),
    (
        "json",
        &[
            ("requests/bounds/texts.rs", "bytes_of_json_and_of_markdown"),
            ("requests/bounds/texts.rs", "the_lengths_as_they_come"),
        ],
    ),
    (
        "blocks_per_fetch",
        &[
            ("requests/bounds.rs", "blocks_in_one_fetch"),
            ("requests/items/paging.rs", "a_reply_holds_no_more_than_the_limit"),
            (
                "requests/collections/tables.rs",
                "tables_have_as_many_rows_as_a_fetch_may_have_blocks",
            ),
        ],
    ),
    (
        "title",
        &[
            ("requests/bounds.rs", "characters_of_a_title"),
            ("requests/bounds/texts.rs", "the_lengths_as_they_come"),
            ("requests/bounds/collections.rs", "characters_of_names_and_keys"),
        ],
    ),
    (
        "attribute",
        &[
            ("requests/bounds.rs", "bytes_of_an_author"),
            ("requests/bounds/texts.rs", "bytes_of_an_attribute"),
        ],
    ),
    ("schema_properties", &[("requests/bounds/collections.rs", "properties_and_options")]),
    (
        "select_options",
        &[
            ("requests/bounds/collections.rs", "properties_and_options"),
            ("requests/bounds/collections.rs", "options_that_items_bring"),
        ],
    ),
    ("INDENTATION", &[("requests/bounds.rs", "levels_of_indentation")]),
    ("FILTER_DEPTH", &[("requests/deep/reading.rs", "filters_nest_sixteen_levels")]),
    ("QUERY_CONDITIONS", &[("requests/bounds/collections.rs", "conditions_and_orders_of_a_query")]),
    ("QUERY_GROUPS", &[("requests/bounds/collections.rs", "values_that_items_are_counted_by")]),
    ("TERMS", &[("requests/bounds/search.rs", "patterns_and_terms")]),
    ("TERM_BYTES", &[("requests/bounds/search.rs", "patterns_and_terms")]),
    ("SEARCH_RESULTS", &[("search/words.rs", "twenty_are_found_at_most_and_equal_ones_by_id")]),
    ("SEARCH_PAGE", &[("search/pages.rs", "pages_have_a_thousand_documents_at_most")]),
    ("SEARCH_TOTAL", &[("search/pages.rs", "totals_count_ten_thousand_documents")]),
    ("SEARCH_WEIGHT", &[("search/weights.rs", "weights_are_validated_and_belong_to_a_cursor")]),
    ("HALF_LIFE_DAYS", &[("search/weights.rs", "weights_are_validated_and_belong_to_a_cursor")]),
    ("EDITED_MARKDOWN_BYTES", &[("apply.rs", "edits_of_a_page_are_bounded_together")]),
    ("EMBEDDING_DIMENSIONS", &[("search/embeddings.rs", "vectors_names_and_lists_are_bounded")]),
    ("EMBEDDING_MODEL_BYTES", &[("search/embeddings.rs", "vectors_names_and_lists_are_bounded")]),
    ("MISSING_EMBEDDINGS", &[("search/embeddings.rs", "vectors_names_and_lists_are_bounded")]),
    ("PATTERNS", &[("requests/bounds/search.rs", "patterns_and_terms")]),
    ("PATTERN_BYTES", &[("requests/bounds/search.rs", "patterns_and_terms")]),
    ("CONTEXT_BLOCKS", &[("requests/bounds/search.rs", "patterns_and_terms")]),
    (
        "BLOCK_MATCHES",
        &[("requests/block_search/parts.rs", "a_reply_has_at_most_a_thousand_matches")],
    ),
    ("CYCLE_ROOTS", &[("embeds.rs", "long_chains_are_resolved_without_recursion")]),
    ("RANGES", &[("requests/block_search/found.rs", "ranges_of_one_block_are_bounded")]),
];

/// The names in a file of limits: fields of the struct, and constants.
fn names(text: &str) -> Vec<&str> {
    let public = text.lines().filter_map(|line| line.trim().strip_prefix("pub "));
    let name = |line| {
        str::strip_prefix(line, "const ").unwrap_or(line).split_once(':').map(|(name, _)| name)
    };
    public
        .filter(|line| !line.starts_with("fn ") && !line.starts_with("struct "))
        .filter_map(name)
        .collect()
}

/// Each limit of the file has a row, and each row its tests.
fn check(limits: &str, rows: &[(&str, &[(&str, &str)])]) {
    let (mut known, mut listed) =
        (names(limits), rows.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    known.sort_unstable();
    listed.sort_unstable();
    assert_eq!(known, listed);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    for (limit, tests) in rows {
        assert!(!tests.is_empty(), "{limit} has no test");
        for (file, test) in *tests {
            let text = fs::read_to_string(folder.join(file)).unwrap();
            assert!(
                text.contains(&format!("#[test]\nfn {test}() {{")),
                "{limit}: {file} has no {test}"
            );
        }
    }
}

const LIMITS: &str = include_str!("../../../../crates/model/src/limits.rs");

#[test]
fn every_limit_has_tests() {
    check(LIMITS, &TESTS);
}

/// The control.
#[test]
#[should_panic(expected = "new_one")]
fn a_limit_without_a_row_is_noticed() {
    check(&LIMITS.replacen("pub title:", "pub new_one: usize,\n    pub title:", 1), &TESTS);
}

/// The control.
#[test]
#[should_panic(expected = "title has no test")]
fn a_limit_without_tests_is_noticed() {
    let rows = TESTS.map(|(name, tests)| (name, if name == "title" { &[][..] } else { tests }));
    check(LIMITS, &rows);
}

/// The control.
#[test]
#[should_panic(expected = "requests/deep.rs has no gone")]
fn a_test_that_is_gone_is_noticed() {
    check("pub title: usize,", &[("title", &[("requests/deep.rs", "gone")])]);
}

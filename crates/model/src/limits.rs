//! Every limit, with what it protects. Passing one is
//! [`ErrorKind::LimitExceeded`](crate::ErrorKind::LimitExceeded), before any write.

/// The most that one request, block or space may hold. `Limits::default()` gives the documented
/// values.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Pages within pages: bounds every walk up the tree and every recursive reply type. At most
    /// [`Self::LEVELS`] count.
    pub page_nesting: usize,
    /// Folders within folders. At most [`Self::LEVELS`] count.
    pub folder_nesting: usize,
    /// Bytes of one block's inline markdown: bounds the work of one match or one parse.
    pub block_text: usize,
    /// Bytes of one block's raw code, or of one table.
    pub block_raw: usize,
    /// Bytes of one comment.
    pub comment: usize,
    /// Bytes of one uploaded file.
    pub upload: u64,
    /// Blocks, or IDs, in one request: bounds one transaction.
    pub blocks_per_request: usize,
    /// Bytes of markdown in one request.
    pub markdown: usize,
    /// Bytes of JSON in one request.
    pub json: usize,
    /// Blocks in the reply to one fetch; of a larger tree, a fetch with a maximal depth gives a
    /// part.
    pub blocks_per_fetch: usize,
    /// Characters of a title, a folder name or a property key.
    pub title: usize,
    /// Bytes of a URL, a file name, a description or an author's name.
    pub attribute: usize,
    /// Properties in a schema: bounds the work of checking one item.
    pub schema_properties: usize,
    /// Options in a select.
    pub select_options: usize,
}

impl Limits {
    /// How deep pages, and folders, nest however high a host sets their limits: replies are trees
    /// that are written and dropped by recursion.
    pub const LEVELS: usize = 500;
    /// The deepest indentation a block may have; the first level is 0.
    pub const INDENTATION: u8 = 5;
    /// How deep the filter of a query nests: bounds every walk over it.
    pub const FILTER_DEPTH: usize = 16;
    /// Conditions in the filter of a query, and the properties that it sorts by: bounds the work
    /// for one item.
    pub const QUERY_CONDITIONS: usize = 200;
    /// Values that items are counted by: bounds the reply.
    pub const QUERY_GROUPS: usize = 10_000;
    /// Texts that one search asks for.
    pub const TERMS: usize = 32;
    /// Bytes of one of them.
    pub const TERM_BYTES: usize = 256;
    /// Documents that one search finds: the best.
    pub const SEARCH_RESULTS: usize = 20;
    /// Patterns in one search.
    pub const PATTERNS: usize = 8;
    /// Bytes of one pattern.
    pub const PATTERN_BYTES: usize = 1_000;
    /// Blocks before, and after, a match that are shown with it.
    pub const CONTEXT_BLOCKS: usize = 100;
    /// Blocks that one reply to a search in a document gives; a cursor leads to more.
    pub const BLOCK_MATCHES: usize = 1_000;
    /// Places in one block that a search tells of.
    pub const RANGES: usize = 100;

    /// How many pages a block may be in: [`Self::page_nesting`] as far as it counts.
    pub fn deepest_page(&self) -> usize {
        self.page_nesting.min(Self::LEVELS)
    }

    /// How many folders a folder may be in: [`Self::folder_nesting`] as far as it counts.
    pub fn deepest_folder(&self) -> usize {
        self.folder_nesting.min(Self::LEVELS)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            page_nesting: 64,
            folder_nesting: 64,
            block_text: 256 << 10,
            block_raw: 1 << 20,
            comment: 64 << 10,
            upload: 256 << 20,
            blocks_per_request: 20_000,
            markdown: 16 << 20,
            json: 16 << 20,
            blocks_per_fetch: 200_000,
            title: 1_000,
            attribute: 8 << 10,
            schema_properties: 200,
            select_options: 1_000,
        }
    }
}

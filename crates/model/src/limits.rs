//! The limits of requests and contents, and what each protects. Exceeding one is
//! [`ErrorKind::LimitExceeded`](crate::ErrorKind::LimitExceeded), before any write.

/// Upper bounds for requests, blocks and spaces. `Limits::default()` returns the documented values.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum nesting of pages; bounds walks up the tree and recursive replies. Capped at
    /// [`Self::LEVELS`].
    pub page_nesting: usize,
    /// Maximum nesting of folders. Capped at [`Self::LEVELS`].
    pub folder_nesting: usize,
    /// Maximum inline markdown of a block in bytes; bounds the work of one match or one parse.
    pub block_text: usize,
    /// Maximum raw code of a block, or GFM of a table, in bytes.
    pub block_raw: usize,
    /// Maximum length of a comment in bytes.
    pub comment: usize,
    /// Maximum size of an uploaded file in bytes.
    pub upload: u64,
    /// Maximum number of blocks or IDs in a request; bounds a transaction.
    pub blocks_per_request: usize,
    /// Maximum bytes that the operations of a batch together write to the change log and reply;
    /// bounds the memory of a batch, whose operations are small next to what they change.
    pub batch: usize,
    /// Maximum markdown of a request in bytes.
    pub markdown: usize,
    /// Maximum JSON of a request in bytes.
    pub json: usize,
    /// Maximum number of blocks in the reply to a fetch; a larger tree needs a fetch with a maximum
    /// depth.
    pub blocks_per_fetch: usize,
    /// Maximum length of a title, a folder name or a property key in characters.
    pub title: usize,
    /// Maximum length of a URL, a file name, a description or an author name in bytes.
    pub attribute: usize,
    /// Maximum number of properties in a schema; bounds the work of checking an item.
    pub schema_properties: usize,
    /// Maximum number of options in a select.
    pub select_options: usize,
}

impl Limits {
    /// Hard cap on the nesting of pages and folders, whatever the configured limits: replies are
    /// trees that are serialized and dropped recursively.
    pub const LEVELS: usize = 500;
    /// Maximum indentation level; the first level is 0.
    pub const INDENTATION: u8 = 5;
    /// Maximum nesting of an item filter; bounds walks over it.
    pub const FILTER_DEPTH: usize = 16;
    /// Maximum number of conditions in an item filter, and of sort properties; bounds the work per
    /// item.
    pub const QUERY_CONDITIONS: usize = 200;
    /// Maximum number of groups in a count of items; bounds the reply.
    pub const QUERY_GROUPS: usize = 10_000;
    /// Maximum number of search texts.
    pub const TERMS: usize = 32;
    /// Maximum length of a search text in bytes.
    pub const TERM_BYTES: usize = 256;
    /// Maximum number of documents in one reply to a search without a limit.
    pub const SEARCH_RESULTS: usize = 20;
    /// Maximum limit of a search: documents in one reply, each with its snippet.
    pub const SEARCH_PAGE: usize = 1_000;
    /// Documents that the total of a search counts; bounds the work of counting.
    pub const SEARCH_TOTAL: usize = 10_000;
    /// Maximum weight of a part of a document, of recency or of links in a search; keeps scores
    /// finite.
    pub const SEARCH_WEIGHT: u32 = 100;
    /// Maximum half-life of recency in a search, in days.
    pub const HALF_LIFE_DAYS: u32 = 36_500;
    /// Maximum number of patterns in a search.
    pub const PATTERNS: usize = 8;
    /// Maximum length of a pattern in bytes.
    pub const PATTERN_BYTES: usize = 1_000;
    /// Maximum number of context blocks before and after a match.
    pub const CONTEXT_BLOCKS: usize = 100;
    /// Maximum number of blocks in one reply to a search within a document; a cursor continues.
    pub const BLOCK_MATCHES: usize = 1_000;
    /// Maximum length of the key of a batch in bytes.
    pub const REQUEST_KEY_BYTES: usize = 256;
    /// Hours for which the reply to a batch with a key is kept.
    pub const REQUEST_KEY_HOURS: i64 = 24;
    /// Maximum length of the name of a host record in bytes; it is a part of a key.
    pub const HOST_RECORD_NAME_BYTES: usize = 64;
    /// Maximum size of a host record in bytes: it is read and written as a whole.
    pub const HOST_RECORD_BYTES: usize = 1 << 20;
    /// Maximum number of components of a vector; bounds the size of a row.
    pub const EMBEDDING_DIMENSIONS: usize = 4_096;
    /// Maximum length of the name of a model in bytes; it is a part of a key.
    pub const EMBEDDING_MODEL_BYTES: usize = 64;
    /// Maximum number of entries in one reply that lists missing embeddings; a cursor continues.
    pub const MISSING_EMBEDDINGS: usize = 1_000;
    /// Maximum number of roots that an embed names of a cycle; bounds the reply, since many embeds
    /// may close long cycles.
    pub const CYCLE_ROOTS: usize = 16;
    /// Maximum length of a tag in bytes; bounds the keys of its index.
    pub const TAG_BYTES: usize = 255;
    /// Maximum number of tags in a filter.
    pub const FILTER_TAGS: usize = 32;
    /// Maximum front matter that is read as properties, in bytes; bounds what each write of it
    /// costs.
    pub const FRONT_MATTER_BYTES: usize = 64 << 10;
    /// Maximum nesting of front matter that is read as properties.
    pub const FRONT_MATTER_DEPTH: usize = 32;
    /// Maximum bytes that several edits of a page's markdown read together, each of them the page;
    /// bounds their work.
    pub const EDITED_MARKDOWN_BYTES: usize = 64 << 20;
    /// Maximum number of highlighted ranges in one block.
    pub const RANGES: usize = 100;

    /// The effective maximum nesting of pages: [`Self::page_nesting`] capped at [`Self::LEVELS`].
    pub fn deepest_page(&self) -> usize {
        // A host may set any limit; the cap keeps recursive replies within the stack.
        self.page_nesting.min(Self::LEVELS)
    }

    /// The effective maximum nesting of folders: [`Self::folder_nesting`] capped at
    /// [`Self::LEVELS`].
    pub fn deepest_folder(&self) -> usize {
        self.folder_nesting.min(Self::LEVELS)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // Documented defaults: a change is visible to users and goes into the guide.
            page_nesting: 64,
            folder_nesting: 64,
            block_text: 256 << 10,
            block_raw: 1 << 20,
            comment: 64 << 10,
            upload: 256 << 20,
            blocks_per_request: 20_000,
            batch: 64 << 20,
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

//! Cursors of searches: a fingerprint of the request, the last document or block of the page, and
//! the statistics and the time that ranked it.

use leafbase_model::{
    BlockId, ChangePosition, DocumentId, Error, Limits, Result, SearchDocuments, Timestamp,
};
use leafbase_search::{DocumentRank, RankPosition, RankingStatistics};

use crate::operations::cursor_text::{fingerprint_of, read_cursor, write_cursor};

/// The number of results on all pages of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SearchTotal {
    pub(super) results: usize,
    pub(super) is_lower_bound: bool,
}

impl SearchTotal {
    /// A lower bound unless all results were counted.
    pub(super) fn new(counted: usize, is_complete: bool) -> Self {
        Self {
            results: counted.min(Limits::SEARCH_TOTAL),
            is_lower_bound: !is_complete || counted > Limits::SEARCH_TOTAL,
        }
    }
}

/// A block at which a page ended, if further blocks of its document follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BlockPosition {
    /// The rank of its document. Others that now rank before it were written since.
    pub(super) rank: DocumentRank,
    pub(super) block: BlockId,
}

/// The position after a page of a search.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SearchCursor {
    /// Where the log of the space ended; `None` on a scoped connection, whose client must not learn
    /// of other writes.
    pub(super) log_end: Option<ChangePosition>,
    /// That of the first page.
    pub(super) total: SearchTotal,
    /// After the last document of which all results were returned.
    pub(super) position: RankPosition,
    /// The last block of the page, if further blocks of its document follow.
    pub(super) block: Option<BlockPosition>,
    /// The time of the first page, if ages count.
    pub(super) now: Option<Timestamp>,
}

/// The fingerprint of a request without its page.
pub(super) fn fingerprint(request: &SearchDocuments, is_scoped: bool) -> Result<u64> {
    let mut request = request.clone();
    (request.paging, request.metadata) = Default::default();
    let request = serde_json::to_vec(&(request, is_scoped)).map_err(|error| {
        Error::validation("cannot be written as JSON").with_source(error).at("include")
    })?;
    Ok(fingerprint_of(&request))
}

const IS_LOWER_BOUND: u8 = 1;
const LACKS_TERMS: u8 = 2;
const HAS_BLOCK: u8 = 4;
const HAS_TIME: u8 = 8;
const BLOCK_LACKS_TERMS: u8 = 16;

impl SearchCursor {
    pub(super) fn write(&self, fingerprint: u64) -> String {
        let Self { log_end, total, position, block, now } = self;
        let RankPosition { last, statistics } = position;
        let flag = |bit, is_set| if is_set { bit } else { 0 };
        let mut bytes = fingerprint.to_be_bytes().to_vec();
        bytes.push(
            flag(IS_LOWER_BOUND, total.is_lower_bound)
                | flag(LACKS_TERMS, last.lacks_terms)
                | flag(HAS_BLOCK, block.is_some())
                | flag(BLOCK_LACKS_TERMS, block.is_some_and(|block| block.rank.lacks_terms))
                | flag(HAS_TIME, now.is_some()),
        );
        bytes.extend(u32::try_from(total.results).unwrap_or(u32::MAX).to_be_bytes());
        write_rank(&mut bytes, last);
        if let Some(BlockPosition { rank, block }) = block {
            write_rank(&mut bytes, rank);
            bytes.extend(block.as_bytes());
        }
        bytes.extend(now.iter().flat_map(|now| now.as_millis().to_be_bytes()));
        // A text without a NUL.
        bytes.extend(log_end.iter().flat_map(|end| end.to_string().into_bytes()));
        bytes.push(0);
        statistics.encode(&mut bytes);
        write_cursor(&bytes)
    }

    /// Reads a cursor of the request with this fingerprint.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::Validation`] at `cursor` for another one.
    pub(super) fn read(fingerprint: u64, text: &str) -> Result<Self> {
        let decoded = read_cursor(text).and_then(|bytes| Self::decode(fingerprint, &bytes));
        decoded.ok_or_else(|| Error::validation("the cursor is not of this search").at("cursor"))
    }

    fn decode(fingerprint: u64, bytes: &[u8]) -> Option<Self> {
        let (of_request, bytes) = bytes.split_first_chunk()?;
        let (flags, bytes) = bytes.split_first()?;
        let (results, mut bytes) = bytes.split_first_chunk()?;
        let last = read_rank(&mut bytes, flags & LACKS_TERMS != 0)?;
        let (mut block, mut now) = (None, None);
        if flags & HAS_BLOCK != 0 {
            let rank = read_rank(&mut bytes, flags & BLOCK_LACKS_TERMS != 0)?;
            let (id, rest) = bytes.split_first_chunk()?;
            block = Some(BlockPosition { rank, block: BlockId::from_bytes(*id) });
            bytes = rest;
        }
        if flags & HAS_TIME != 0 {
            let (millis, rest) = bytes.split_first_chunk()?;
            now = Some(Timestamp::from_millis(i64::from_be_bytes(*millis)));
            bytes = rest;
        }
        let end = bytes.iter().position(|byte| *byte == 0)?;
        let (log_end, statistics) = bytes.split_at_checked(end)?;
        let log_end = std::str::from_utf8(log_end).ok()?;
        let log_end = (!log_end.is_empty()).then(|| log_end.parse().ok());
        let (_, statistics) = statistics.split_first()?;
        let total = SearchTotal {
            results: usize::try_from(u32::from_be_bytes(*results)).ok()?,
            is_lower_bound: flags & IS_LOWER_BOUND != 0,
        };
        let statistics = RankingStatistics::decode(statistics)?;
        let cursor = Self {
            log_end: log_end.map_or(Some(None), |end| end.map(Some))?,
            total,
            position: RankPosition { last, statistics },
            block,
            now,
        };
        (u64::from_be_bytes(*of_request) == fingerprint).then_some(cursor)
    }
}

/// Appends a rank; whether it lacks terms is a flag of the cursor.
fn write_rank(bytes: &mut Vec<u8>, rank: &DocumentRank) {
    bytes.extend(rank.score.to_bits().to_be_bytes());
    bytes.extend(rank.document.as_bytes());
}

/// Reads a rank from the front of `bytes`.
fn read_rank(bytes: &mut &[u8], lacks_terms: bool) -> Option<DocumentRank> {
    let (score, rest) = bytes.split_first_chunk()?;
    let (document, rest) = rest.split_first_chunk()?;
    *bytes = rest;
    let score = f64::from_bits(u64::from_be_bytes(*score));
    Some(DocumentRank { lacks_terms, score, document: DocumentId::from_bytes(*document) })
}

#[cfg(test)]
mod tests {
    use leafbase_model::SearchWeights;

    use super::*;

    #[test]
    fn cursors_read_back() {
        let last = DocumentRank {
            lacks_terms: true,
            score: 0.1,
            document: DocumentId::from_bytes([7; 16]),
        };
        let position = RankPosition { last, statistics: RankingStatistics::default() };
        let total = SearchTotal::new(Limits::SEARCH_TOTAL + 1, true);
        assert!(total.is_lower_bound);
        let log_end = Some("42:9f86d081884c7d65".parse().unwrap());
        let rank = DocumentRank { score: 0.05, document: DocumentId::from_bytes([6; 16]), ..last };
        let block = BlockPosition { rank, block: BlockId::from_bytes([8; 16]) };
        let (block, now) = (Some(block), Some(Timestamp::from_millis(-1)));
        for (log_end, block, now) in
            [(None, None, None), (log_end, None, now), (log_end, block, None), (None, block, now)]
        {
            let cursor = SearchCursor { log_end, total, position: position.clone(), block, now };
            let text = cursor.write(9);
            assert_eq!(SearchCursor::read(9, &text).unwrap(), cursor);
            assert_eq!(SearchCursor::read(8, &text).unwrap_err().path(), "cursor");
            for end in 0..text.len() {
                assert!(SearchCursor::read(9, text.get(..end).unwrap()).is_err());
            }
        }
    }

    #[test]
    fn a_page_of_the_same_request_has_its_fingerprint() {
        let request = SearchDocuments::words("train");
        let of = |request: &SearchDocuments| fingerprint(request, false).unwrap();
        assert_eq!(of(&request), of(&request.clone().limit(3).after("x").with_metadata()));
        assert_ne!(of(&request), of(&request.clone().all_words()));
        assert_ne!(of(&request), of(&request.clone().by_block()));
        let weighted = |weights| of(&request.clone().weighted(weights));
        let recent = SearchWeights::default().recency(1.0, 7.0);
        assert_eq!(of(&request), weighted(SearchWeights::default()));
        assert_ne!(weighted(recent), weighted(recent.recency(1.0, 8.0)));
        assert_ne!(weighted(recent), of(&request));
        assert_ne!(of(&request), fingerprint(&request, true).unwrap());
    }
}

//! Keys of edges.

use leafbase_model::BlockId;

use super::{EDGES, day_bytes};
use crate::edges::{EdgeEnd, EdgeKind};

const KINDS: [(EdgeKind, u8); 4] =
    [(EdgeKind::Link, 0), (EdgeKind::Relation, 1), (EdgeKind::Embed, 2), (EdgeKind::Alias, 3)];

const fn kind_code(kind: EdgeKind) -> u8 {
    match kind {
        EdgeKind::Link => 0,
        EdgeKind::Relation => 1,
        EdgeKind::Embed => 2,
        EdgeKind::Alias => 3,
    }
}

/// All edges to `target`.
pub(crate) fn edges_to(target: EdgeEnd) -> Vec<u8> {
    let mut key = vec![EDGES.tag];
    match target {
        EdgeEnd::Block(block) => {
            key.push(0);
            key.extend_from_slice(block.as_bytes());
        }
        EdgeEnd::Day(day) => {
            key.push(1);
            key.extend_from_slice(&day_bytes(day));
        }
        EdgeEnd::Asset(asset) => {
            key.push(2);
            key.extend_from_slice(asset.as_bytes());
        }
        EdgeEnd::Name(hash) => {
            key.push(3);
            key.extend_from_slice(&hash);
        }
    }
    key
}

pub(crate) fn edge(target: EdgeEnd, kind: EdgeKind, source: BlockId) -> Vec<u8> {
    let mut key = edges_to(target);
    key.push(kind_code(kind));
    key.extend_from_slice(source.as_bytes());
    key
}

/// All edges to blocks.
pub(crate) const fn edges_to_blocks() -> [u8; 2] {
    [EDGES.tag, 0]
}

/// The target of an edge to a block.
pub(crate) fn parse_edge_to_block(key: &[u8]) -> Option<BlockId> {
    key.strip_prefix(&edges_to_blocks())?.first_chunk::<16>().copied().map(BlockId::from_bytes)
}

/// Kind and source, which end the key of an edge.
pub(crate) fn parse_edge(key: &[u8]) -> Option<(EdgeKind, BlockId)> {
    let (head, source) = key.split_last_chunk::<16>()?;
    let length = if head.get(1) == Some(&1) { 7 } else { 19 };
    let code = head.last().filter(|_| head.len() == length)?;
    let (kind, _) = KINDS.into_iter().find(|(_, known)| known == code)?;
    Some((kind, BlockId::from_bytes(*source)))
}

//! Vectors of blocks and documents, as they are stored: one byte for a component.

use leafbase_model::{BlockId, DocumentId};

/// A vector whose components are multiples of one scale. Each component of the original is off by
/// at most half the scale.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuantizedVector {
    /// What the components are multiples of.
    pub scale: f32,
    /// From -127 to 127, which the largest is.
    pub components: Vec<i8>,
}

impl QuantizedVector {
    /// The nearest vector to `components`, which are finite and not all zero.
    pub fn nearest_to(components: &[f32]) -> Self {
        let largest = components.iter().fold(0.0_f32, |most, component| most.max(component.abs()));
        debug_assert!(
            largest > 0.0 && largest.is_finite(),
            "a vector has a direction, not {largest}"
        );

        // By the largest first: a quotient that is at most 1 neither overflows nor vanishes.
        #[expect(clippy::cast_possible_truncation, reason = "from -127 to 127")]
        let quantize = |component: &f32| (component / largest * 127.0).round() as i8;
        Self { scale: largest / 127.0, components: components.iter().map(quantize).collect() }
    }

    /// Its components.
    pub fn to_f32(&self) -> Vec<f32> {
        self.components.iter().map(|component| f32::from(*component) * self.scale).collect()
    }
}

/// The vector of a block or, under its root, of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredEmbedding {
    /// The document.
    pub document: DocumentId,
    /// The block; the root stands for the document.
    pub block: BlockId,
    /// The revision that the vector was computed from.
    pub rev: u64,
    /// The vector.
    pub vector: QuantizedVector,
}

impl StoredEmbedding {
    pub(crate) const fn target(&self) -> (DocumentId, BlockId) {
        (self.document, self.block)
    }
}

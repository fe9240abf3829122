//! Random programs: sequences of requests on a space, those of the model tests.

use leafbase::{Connection, Space};
use leafbase_test_outline::{DocumentRequest, Numbers, Request};
use tests::model::pair::Pair;

/// Numbers from a seed (splitmix64).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(bound).unwrap()).unwrap()
    }
}

/// A space in memory, and the requests that are made on it.
pub(crate) struct Program {
    pair: Pair,
    random: Random,
    with_purges: bool,
}

impl Program {
    pub(crate) fn new(seed: u64, with_purges: bool) -> Self {
        let mut pair = Pair::new(None);
        pair.with_collections = seed % 2 == 1;
        Self { pair, random: Random::new(seed), with_purges }
    }

    pub(crate) fn space(&self) -> &Space {
        self.pair.space()
    }

    pub(crate) fn notes(&self) -> Connection {
        self.pair.notes()
    }

    pub(crate) fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    /// Makes requests until one is done.
    pub(crate) fn step(&mut self) {
        loop {
            let numbers: Vec<u32> =
                (0..60).map(|_| u32::try_from(self.random.next() >> 32).unwrap()).collect();
            let request = self.pair.next(&mut Numbers::new(&numbers));
            let purges = matches!(request, Request::Documents(DocumentRequest::Purge(_)));
            if purges && !self.with_purges {
                continue;
            }
            let before = self.notes().last_sequence().unwrap();
            if self.pair.step(request) && self.notes().last_sequence().unwrap() > before {
                return;
            }
        }
    }
}

//! The fingerprint of the analysis: an index is rebuilt if the libraries that made its terms give
//! others now.
//!
//! A later stemmer, or a later version of Unicode, gives other terms for the same text, and then
//! queries miss documents that were indexed before. The stemmer does not expose its version, so its
//! stems of sample words stand for it.

use std::sync::LazyLock;

use frostem::{Algorithm, Stemmer};
use xxhash_rust::xxh3::xxh3_64;

use crate::languages::Languages;
use crate::word_forms::WordForms;

/// Words whose stems take every step of the stemmer: plurals, participles, derivational suffixes of
/// each list, final `e` and double letters, `y`, exceptions.
const SAMPLE_WORDS: &str = "caresses ponies ties cries gas kiwis this dies agreed feed proceed \
    plastered bled motoring sing conflated troubled sized hopping tanned falling hissing fizzed \
    failing filing luxuriating happy sky cry by say enjoyed relational conditional rational \
    valenci hesitanci digitizer conformabli radicalli differentli vileli analogousli \
    vietnamization predication operator feudalism decisiveness hopefulness callousness \
    formaliti sensitiviti sensibiliti geologist apologies quickly triplicate formative formalize \
    electriciti electrical hopeful goodness revival allowance inference airliner gyroscopic \
    adjustable defensible irritant replacement adjustment dependent adoption homologou communism \
    activate angulariti homologous effective bowdlerize probate rate cease controll roll knack \
    generate generously communication arsenal arsenic commune skis skies dying lying tying idly \
    gently ugly early only singly news howe atlas cosmos bias andes inning outing canning herring \
    earring exceed succeed national nationally organizations consistency consolingly knightly \
    owed evening past paste pasting universities universal internally emergency interests \
    youngest yes youth boy boyish betray flying played using used user users";

/// The fingerprint of this build.
pub(crate) fn analysis_fingerprint() -> u64 {
    static FINGERPRINT: LazyLock<u64> = LazyLock::new(|| {
        let stemmer = Stemmer::new(Algorithm::English);
        fingerprint(|word| stemmer.stem(word).into_owned())
    });
    *FINGERPRINT
}

fn fingerprint(stem: impl Fn(&str) -> String) -> u64 {
    let stems: Vec<String> = SAMPLE_WORDS.split_whitespace().map(stem).collect();
    let others = Languages::samples().flat_map(|(language, words)| {
        words.split_whitespace().filter_map(move |word| WordForms::stem(word, language))
    });
    let others: Vec<_> = others.collect();
    debug_assert!(stems.len() > 100, "the sample has words for each step of the stemmer");
    // Letters are folded by the standard library, and tokens cut by the two others.
    let folding = (char::UNICODE_VERSION, unicode_normalization::UNICODE_VERSION);
    let segmentation = unicode_segmentation::UNICODE_VERSION;
    xxh3_64(
        format!("{folding:?} {segmentation:?} {} {}", stems.join(" "), others.join(" ")).as_bytes(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_stem_of_any_sample_word_is_another_fingerprint() {
        let stemmer = Stemmer::new(Algorithm::English);
        for changed in SAMPLE_WORDS.split_whitespace() {
            let other = fingerprint(|word| {
                let stem = stemmer.stem(word).into_owned();
                if word == changed { format!("{stem}s") } else { stem }
            });
            assert_ne!(other, analysis_fingerprint(), "{changed}");
        }
    }
}

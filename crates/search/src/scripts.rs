//! Scripts that are written without spaces between words, or attach particles to them.

/// Whether text in this letter's script is tokenized into pairs of characters: Chinese, Japanese,
/// Korean, Thai, Lao, Khmer, Burmese. Excludes punctuation and digits of these scripts.
pub(crate) fn is_unspaced(letter: char) -> bool {
    matches!(u32::from(letter),
        // Thai
        0x0E01..=0x0E3A | 0x0E40..=0x0E4E
        // Lao
        | 0x0E81..=0x0EBD | 0x0EC0..=0x0ECE | 0x0EDC..=0x0EDF
        // Burmese
        | 0x1000..=0x103F | 0x1050..=0x108F | 0x109A..=0x109F
        | 0xA9E0..=0xA9EF | 0xA9FA..=0xA9FE | 0xAA60..=0xAA7F
        // Khmer
        | 0x1780..=0x17D3 | 0x17D7 | 0x17DC..=0x17DD
        // Hangul
        | 0x1100..=0x11FF | 0x3131..=0x318E | 0xA960..=0xA97C | 0xAC00..=0xD7FB | 0xFFA0..=0xFFDC
        // Kana
        | 0x3041..=0x3096 | 0x3099..=0x309A | 0x309D..=0x309F | 0x30A1..=0x30FA | 0x30FC..=0x30FF
        | 0x31F0..=0x31FF | 0xFF66..=0xFF9F | 0x1AFF0..=0x1B16F
        // Bopomofo
        | 0x3105..=0x312F | 0x31A0..=0x31BF
        // Han
        | 0x2E80..=0x2FD5 | 0x3005..=0x3007 | 0x3021..=0x3029 | 0x3031..=0x3035 | 0x3038..=0x303C
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

#[cfg(test)]
mod tests {
    use super::is_unspaced;

    #[test]
    fn letters_of_each_script() {
        for letter in "東々ひカｶㄅ한ㄱสกເກကក㐀𠮷".chars() {
            assert!(is_unspaced(letter), "{letter}");
        }
        for letter in "aéяאب9１๑क。、・「฿①".chars() {
            assert!(!is_unspaced(letter), "{letter}");
        }
    }
}

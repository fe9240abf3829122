//! Colors: stored as given, shown in a variant with readable contrast.
//!
//! The variants keep the hue and adjust the lightness in OKLCH (Ottosson 2020, "A perceptual color
//! space for image processing") until they meet the contrast ratio of WCAG 2.2 (1.4.3: 4.5 to 1).

use std::fmt;
use std::str::FromStr;

use serde::ser::{Serialize, Serializer};

use crate::json::from_text;
use crate::{Error, Result};

/// The background of the light variant.
const LIGHT_BACKGROUND: Color = Color([0xff, 0xff, 0xff]);
/// The background of the dark variant.
const DARK_BACKGROUND: Color = Color([0x1e, 0x1e, 0x1e]);
/// The minimum contrast ratio of WCAG 2.2, success criterion 1.4.3, level AA.
const MIN_CONTRAST: f64 = 4.5;

/// An sRGB color, written `#rrggbb`.
///
/// ```
/// use leafbase_model::Color;
/// let yellow: Color = "#FFEE00".parse()?;
/// assert_eq!(yellow.to_string(), "#ffee00");
/// assert!(yellow.light().contrast("#ffffff".parse()?) >= 4.5, "darkened to be read on white");
/// assert_eq!(yellow.dark(), yellow, "bright enough on dark background");
/// # Ok::<(), leafbase_model::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Color([u8; 3]);

impl Color {
    /// The color with these red, green and blue components.
    pub const fn from_rgb(rgb: [u8; 3]) -> Self {
        Self(rgb)
    }

    /// The red, green and blue components.
    pub const fn to_rgb(self) -> [u8; 3] {
        self.0
    }

    /// The nearest lightness of the same hue with a contrast of at least 4.5 on white.
    pub fn light(self) -> Self {
        self.readable_on(LIGHT_BACKGROUND)
    }

    /// The nearest lightness of the same hue with a contrast of at least 4.5 on `#1e1e1e`.
    pub fn dark(self) -> Self {
        self.readable_on(DARK_BACKGROUND)
    }

    /// The contrast ratio of WCAG 2.2, from 1 to 21.
    pub fn contrast(self, other: Self) -> f64 {
        let (a, b) = (self.luminance(), other.luminance());
        debug_assert!((0.0..=1.000_1).contains(&a) && (0.0..=1.000_1).contains(&b), "luminance");
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    fn luminance(self) -> f64 {
        let [r, g, b] = self.0.map(linear);
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }

    fn readable_on(self, background: Self) -> Self {
        if self.contrast(background) >= MIN_CONTRAST {
            return self;
        }
        let [lightness, a, b] = self.oklab();
        // Search away from the background: towards black on white, towards white on dark. The
        // contrast grows monotonically with the distance and reaches 21 or 16 at the end, so
        // bisection always finds a solution.
        // Bisection between the given lightness, which is too close, and the end of the scale.
        let far = if background.luminance() > 0.5 { 0.0 } else { 1.0 };
        let (mut near, mut reached) = (lightness, far);
        // 24 halvings: far below the step of a component, 1/255.
        for _ in 0..24 {
            let middle = f64::midpoint(near, reached);
            if Self::from_oklab([middle, a, b]).contrast(background) >= MIN_CONTRAST {
                reached = middle;
            } else {
                near = middle;
            }
        }
        let readable = Self::from_oklab([reached, a, b]);
        debug_assert!(
            readable.contrast(background) >= MIN_CONTRAST,
            "{self} becomes readable on {background}"
        );
        readable
    }

    #[expect(clippy::many_single_char_names, reason = "the names of the formula")]
    fn oklab(self) -> [f64; 3] {
        let [r, g, b] = self.0.map(linear);
        let l = (0.412_221_470_8 * r + 0.536_332_536_3 * g + 0.051_445_992_9 * b).cbrt();
        let m = (0.211_903_498_2 * r + 0.680_699_545_1 * g + 0.107_396_956_6 * b).cbrt();
        let s = (0.088_302_461_9 * r + 0.281_718_837_6 * g + 0.629_978_700_5 * b).cbrt();
        [
            0.210_454_255_3 * l + 0.793_617_785 * m - 0.004_072_046_8 * s,
            1.977_998_495_1 * l - 2.428_592_205 * m + 0.450_593_709_9 * s,
            0.025_904_037_1 * l + 0.782_771_766_2 * m - 0.808_675_766 * s,
        ]
    }

    /// The color of this lightness and hue, with the chroma reduced to the sRGB gamut.
    fn from_oklab([lightness, a, b]: [f64; 3]) -> Self {
        let (mut shown, mut beyond) = (0.0, 1.0);
        if let Some(color) = Self::in_gamut(lightness, a, b) {
            return color;
        }
        for _ in 0..24 {
            // Only the chroma shrinks: hue and lightness are those of the request.
            let share = f64::midpoint(shown, beyond);
            if Self::in_gamut(lightness, a * share, b * share).is_some() {
                shown = share;
            } else {
                beyond = share;
            }
        }
        // Without chroma a color is a shade of gray, unless the lightness is out of range.
        Self::in_gamut(lightness, a * shown, b * shown).unwrap_or(if lightness > 0.5 {
            Self([255; 3])
        } else {
            Self([0; 3])
        })
    }

    #[expect(clippy::many_single_char_names, reason = "the names of the formula")]
    fn in_gamut(lightness: f64, a: f64, b: f64) -> Option<Self> {
        let l = (lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
        let m = (lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
        let s = (lightness - 0.089_484_177_5 * a - 1.291_485_548 * b).powi(3);
        let rgb = [
            4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s,
            -1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s,
            -0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701 * s,
        ];
        // Tolerance: slightly out of gamut still rounds to a component in range.
        rgb.iter().all(|part| (-0.000_5..=1.000_5).contains(part)).then(|| Self(rgb.map(gamma)))
    }
}

fn linear(part: u8) -> f64 {
    let value = f64::from(part) / 255.0;
    if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to 0..=255 before"
)]
fn gamma(part: f64) -> u8 {
    debug_assert!(!part.is_nan(), "components are finite");
    let part = part.clamp(0.0, 1.0);
    let value =
        if part <= 0.003_130_8 { part * 12.92 } else { 1.055 * part.powf(1.0 / 2.4) - 0.055 };
    (value * 255.0).round().clamp(0.0, 255.0) as u8
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [r, g, b] = self.0;
        write!(f, "#{r:02x}{g:02x}{b:02x}")
    }
}

impl fmt::Debug for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Color {
    /// Serializes the color as given, `#rrggbb`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl FromStr for Color {
    type Err = Error;

    /// Parses `#rrggbb`, case-insensitively.
    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            Error::validation(format!(
                "expected a color #rrggbb, got {}",
                crate::json::quoted(text)
            ))
        };
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6).ok_or_else(wrong)?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        // The digits were checked: `from_str_radix` alone would accept a sign.
        let number = u32::from_str_radix(digits, 16).map_err(|_| wrong())?;
        let [_, r, g, b] = number.to_be_bytes();
        Ok(Self([r, g, b]))
    }
}

from_text!(Color: "a color #rrggbb");

#[cfg(test)]
mod tests {
    use palette::{IntoColor, Oklab, Srgb};

    use super::Color;

    #[test]
    fn the_numbers_agree_with_another_implementation() {
        for number in (0..1 << 24).step_by(4_099) {
            let [_, r, g, b] = u32::to_be_bytes(number);
            let color = Color([r, g, b]);
            let expected: Oklab<f64> =
                Srgb::new(r, g, b).into_format::<f64>().into_linear().into_color();
            let [lightness, a, b] = color.oklab();
            for (ours, theirs) in [(lightness, expected.l), (a, expected.a), (b, expected.b)] {
                assert!((ours - theirs).abs() < 1e-4, "{color}: {ours}, {theirs}");
            }
            assert_eq!(Color::from_oklab(color.oklab()), color);
        }
    }

    #[test]
    fn a_color_beyond_the_screen_is_shown_with_less_chroma() {
        for (lab, shown) in
            [([1.0, 0.4, 0.4], [255; 3]), ([0.0, 0.4, 0.4], [0; 3]), ([2.0, 0.0, 0.0], [255; 3])]
        {
            assert_eq!(Color::from_oklab(lab), Color(shown));
        }
    }
}

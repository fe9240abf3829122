//! Colours: readable on both papers, of the same hue.

use leafbase_model::Color;
use palette::{IntoColor, Oklch, Srgb};
use proptest::prelude::*;

const WHITE: Color = Color::from_rgb([0xff; 3]);
const DARK: Color = Color::from_rgb([0x1e; 3]);

fn oklch(color: Color) -> Oklch<f64> {
    let [r, g, b] = color.to_rgb();
    Srgb::new(r, g, b).into_format::<f64>().into_linear().into_color()
}

/// Degrees between the hues of two colours.
fn turned(a: Oklch<f64>, b: Oklch<f64>) -> f64 {
    (a.hue - b.hue).into_degrees().abs()
}

fn sampled_cube() -> impl Iterator<Item = Color> {
    let parts = || (0..=255_u8).step_by(15);
    parts().flat_map(move |r| parts().flat_map(move |g| parts().map(move |b| Color::from_rgb([r, g, b]))))
}

#[test]
fn both_variants_can_be_read_and_keep_the_hue() {
    for color in sampled_cube() {
        for (shown, paper) in [(color.light(), WHITE), (color.dark(), DARK)] {
            assert!(shown.contrast(paper) >= 4.5, "{color} as {shown}: {}", shown.contrast(paper));
            let (from, to) = (oklch(color), oklch(shown));
            // Eight bits for each part: near grey a step of one of them turns the hue a lot.
            if from.chroma > 0.02 && to.chroma > 0.02 {
                assert!(turned(from, to) < 6.0, "{color} as {shown}: turned by {}", turned(from, to));
            }
            if from.chroma > 0.1 && to.chroma > 0.1 {
                assert!(turned(from, to) < 2.0, "{color} as {shown}: turned by {}", turned(from, to));
            }
        }
    }
}

#[test]
fn a_colour_that_can_be_read_stays_and_others_move_no_further_than_needed() {
    for color in sampled_cube() {
        for (shown, paper) in [(color.light(), WHITE), (color.dark(), DARK)] {
            if color.contrast(paper) >= 4.5 {
                assert_eq!(shown, color);
            } else {
                assert!(shown.contrast(paper) < 4.8, "{color} as {shown}: {}", shown.contrast(paper));
            }
        }
        assert_eq!((color.light().light(), color.dark().dark()), (color.light(), color.dark()));
    }
}

#[test]
fn known_contrasts() {
    for (a, b, ratio) in [("#000000", "#ffffff", 21.0), ("#777777", "#ffffff", 4.478), ("#ff0000", "#ffffff", 3.998)] {
        let (a, b): (Color, Color) = (a.parse().unwrap(), b.parse().unwrap());
        assert!((a.contrast(b) - ratio).abs() < 0.001, "{a} on {b}: {}", a.contrast(b));
        assert!((b.contrast(a) - ratio).abs() < 0.001);
    }
}

#[test]
fn only_seven_characters_are_a_colour() {
    for wrong in
        ["", "#", "#fff", "ffffff", "#GGG", "#gggggg", "#ffffff0", "#+fffff", " #ffffff", "#ffffff ", "#ﬀffff", "red"]
    {
        let message = wrong.parse::<Color>().unwrap_err().message().to_owned();
        assert_eq!(message, format!("expected a colour #rrggbb, got {wrong:?}"));
    }
}

proptest! {
    #[test]
    fn text_round_trip(rgb: [u8; 3], upper: bool) {
        let color = Color::from_rgb(rgb);
        let text = if upper { color.to_string().to_uppercase() } else { color.to_string() };
        prop_assert_eq!(text.parse::<Color>().unwrap(), color);
    }
}

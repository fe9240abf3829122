//! Positions in the change log and tokens: text, JSON, and what is refused.

use leafbase_model::{ChangePosition, ChangeToken, IdSource, Timestamp};
use proptest::prelude::*;

proptest! {
    #[test]
    fn positions_round_trip(sequence: u64, token: Option<u64>) {
        let position = token.map_or_else(
            || ChangePosition::from(sequence),
            |token| ChangePosition::new(sequence, ChangeToken::from_u64(token)),
        );
        let text = position.to_string();
        prop_assert_eq!(text.parse::<ChangePosition>().unwrap(), position);
        let json = serde_json::to_value(position).unwrap();
        prop_assert_eq!(json.as_str().unwrap(), text);
        prop_assert_eq!(serde_json::from_value::<ChangePosition>(json).unwrap(), position);
    }

    #[test]
    fn no_text_panics(text in ".{0,30}") {
        let _ = text.parse::<ChangePosition>();
        let _ = text.parse::<ChangeToken>();
    }
}

#[test]
fn known_texts() {
    let token = ChangeToken::from_u64(0x1f);
    assert_eq!(token.to_string(), "000000000000001f");
    assert_eq!(ChangePosition::new(42, token).to_string(), "42:000000000000001f");
    assert_eq!(ChangePosition::BEGINNING, "0".parse().unwrap());
    assert_eq!(ChangePosition::from(7).token(), None);
}

#[test]
fn malformed_texts_are_refused() {
    for wrong in [
        "",
        ":",
        "+1",
        "-1",
        " 1",
        "1:",
        "1:1f",
        "1:000000000000001F",
        "1:+00000000000001f",
        "1:000000000000001f0",
        ":000000000000001f",
        "18446744073709551616",
    ] {
        assert!(wrong.parse::<ChangePosition>().is_err(), "{wrong}");
    }
}

#[test]
fn the_default_token_is_made_of_both_halves_of_an_id() {
    struct One([u8; 16]);
    impl IdSource for One {
        fn new_id(&self, _: Timestamp) -> [u8; 16] {
            self.0
        }
    }
    let token = |id| One(id).new_token(Timestamp::default()).to_u64();
    for byte in 0..16 {
        let mut id = [0; 16];
        id[byte] = 1;
        assert_ne!(token(id), token([0; 16]), "byte {byte}");
    }
}

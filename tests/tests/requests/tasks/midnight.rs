//! Today is the day of the space's zone, and passes at its midnight.

use super::desk::Desk;

/// A zone, the last millisecond of one of its days, that day, and the one after it.
const MIDNIGHTS: &[(&str, &str, &str, &str)] = &[
    ("UTC", "2026-03-01T23:59:59.999Z", "2026-03-01", "2026-03-02"),
    ("Asia/Tokyo", "2026-03-01T14:59:59.999Z", "2026-03-01", "2026-03-02"),
    ("Asia/Kolkata", "2026-03-01T18:29:59.999Z", "2026-03-01", "2026-03-02"),
    ("America/New_York", "2026-03-02T04:59:59.999Z", "2026-03-01", "2026-03-02"),
    ("Pacific/Kiritimati", "2026-03-01T09:59:59.999Z", "2026-03-01", "2026-03-02"),
    ("Pacific/Pago_Pago", "2026-03-02T10:59:59.999Z", "2026-03-01", "2026-03-02"),
    // The day that clocks go forward in Lisbon has 23 hours, the year ends, and Samoa left a day
    // out.
    ("Europe/Lisbon", "2026-03-29T22:59:59.999Z", "2026-03-29", "2026-03-30"),
    ("Europe/Berlin", "2026-12-31T22:59:59.999Z", "2026-12-31", "2027-01-01"),
    ("Pacific/Apia", "2011-12-30T09:59:59.999Z", "2011-12-29", "2011-12-31"),
];

#[test]
fn scopes_change_at_midnight() {
    for (zone, last, today, next) in MIDNIGHTS {
        let mut desk = Desk::built(last, |builder| builder.zone(*zone));
        for (name, day) in [("a", *today), ("b", *next), ("c", "today"), ("d", "tomorrow")] {
            let task = format!(r#"{{"markdown":"{name}","taskInfo":{{"scheduleDate":"{day}"}}}}"#);
            desk.ask("add", &format!(r#"{{"tasks":[{task}]}}"#)).unwrap();
        }
        let (active, upcoming) = (r#"{"scope":"active"}"#, r#"{"scope":"upcoming"}"#);
        assert_eq!(
            (desk.line("list", active), desk.line("list", upcoming)),
            ("a c".into(), "b d".into()),
            "{zone}"
        );
        desk.clock.advance(1);
        assert_eq!(
            (desk.line("list", active), desk.line("list", upcoming)),
            ("a c b d".into(), String::new()),
            "{zone}"
        );
    }
}

#[test]
fn a_task_of_today_goes_to_the_note_of_the_day_that_it_is_then() {
    for (zone, last, today, next) in MIDNIGHTS {
        let mut desk = Desk::built(last, |builder| builder.zone(*zone));
        let add = |name: &str| {
            format!(r#"{{"tasks":[{{"markdown":"{name}","location":{{"type":"dailyNote"}}}}]}}"#)
        };
        let before = format!("a@{today}");
        desk.run(&[("add", &add("a"), &before)]);
        desk.clock.advance(1);
        let after = format!("b@{next}");
        desk.run(&[("add", &add("b"), &after)]);
    }
}

#[test]
fn a_listing_goes_on_over_midnight() {
    // What is of the new day has come to the active ones meanwhile, and is upcoming no more.
    for (scope, first, rest) in [("active", "a ..", "b c d"), ("upcoming", "c ..", "e")] {
        for (zone, last, today, next) in MIDNIGHTS {
            let mut desk = Desk::built(last, |builder| builder.zone(*zone));
            for (name, day) in
                [("a", *today), ("b", *today), ("c", *next), ("d", *next), ("e", "2030-01-01")]
            {
                let task =
                    format!(r#"{{"markdown":"{name}","taskInfo":{{"deadlineDate":"{day}"}}}}"#);
                desk.ask("add", &format!(r#"{{"tasks":[{task}]}}"#)).unwrap();
            }
            assert_eq!(
                desk.line("page", &format!(r#"{{"scope":"{scope}","limit":1}}"#)),
                first,
                "{zone}"
            );
            desk.clock.advance(1);
            let found = desk.line("page", &format!(r#"{{"scope":"{scope}","cursor":"@next"}}"#));
            assert_eq!(found, rest, "{zone} {scope}");
        }
    }
}

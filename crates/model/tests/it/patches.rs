//! Changes to blocks: what is given changes, the rest stays.

use leafbase_model::{
    BlockData, BlockKind, BlockPatch, BlockType, DayRef, Error, ErrorKind, Limits, ListStyle,
    Result, TaskInfo, TaskState, json,
};

use crate::support::{day, full, id, instant};

fn read(fields: &str) -> Result<BlockPatch> {
    json::from_str(&format!(r#"{{"id":"{}"{fields}}}"#, id(1)), &Limits::default())
}

fn apply(fields: &str, data: &BlockData) -> Result<BlockData> {
    let mut changed = data.clone();
    read(fields).unwrap().fields.apply(&mut changed).map(|()| changed)
}

#[test]
fn an_id_alone_changes_nothing() {
    let patch = read("").unwrap();
    assert!(patch.fields.is_empty() && patch.rev.is_none());
    for block_type in BlockType::ALL {
        assert_eq!(apply("", &full(*block_type)).unwrap(), full(*block_type));
    }
    assert_eq!(BlockPatch::new(id(1), patch.fields).if_rev(3).rev, Some(3));
    assert_eq!(
        read(r#","rev":3,"markdown":"x""#).unwrap(),
        BlockPatch::markdown(id(1), "x").if_rev(3)
    );
}

/// Every field, the types that have it, and a value for it.
const FIELDS: [(&str, &str, &[BlockType]); 18] = {
    use BlockType::{Code, Drawing, File, Image, Line, Page, RichUrl, Text, Video, Whiteboard};
    [
        ("textStyle", r#""h1""#, &[Text, Page]),
        ("textAlignment", r#""right""#, &[Text, Page]),
        ("font", r#""mono""#, &[Text, Page]),
        ("cardLayout", r#""regular""#, &[Text, Page]),
        ("title", r#""Other""#, &[Page, BlockType::CollectionItem, RichUrl]),
        ("url", r#""https://example.com""#, &[Image, Video, File, Drawing, Whiteboard, RichUrl]),
        ("altText", r#""Sea""#, &[Image, Video]),
        ("size", r#""fit""#, &[Image, Video]),
        ("width", r#""auto""#, &[Image, Video]),
        ("fileName", r#""b.txt""#, &[File]),
        ("blockLayout", r#""small""#, &[File]),
        ("rawCode", r#""1""#, &[Code]),
        ("language", r#""go""#, &[Code]),
        ("languageTag", r#""rs""#, &[Code]),
        ("description", r#""D""#, &[RichUrl]),
        ("layout", r#""card""#, &[RichUrl]),
        ("lineStyle", r#""strong""#, &[Line]),
        ("markdown", r#""New""#, BlockType::ALL),
    ]
};

#[test]
fn each_type_has_its_fields_and_refuses_the_others() {
    for (name, value, types) in FIELDS {
        for block_type in BlockType::ALL {
            let before = full(*block_type);
            let result = apply(&format!(r#","{name}":{value}"#), &before);
            if types.contains(block_type) {
                assert_ne!(result.unwrap(), before, "{name} of {block_type}");
            } else {
                let error = result.unwrap_err();
                assert_eq!((error.kind(), error.path()), (ErrorKind::Validation, name));
                assert_eq!(
                    error.message(),
                    format!("a block of type {block_type} has no field {name}")
                );
            }
        }
    }
}

#[test]
fn common_fields_fit_every_type() {
    for block_type in BlockType::ALL {
        let fields = r#","indentationLevel":0,"listStyle":"none","color":null,"decorations":[]"#;
        let plain = apply(fields, &full(*block_type)).unwrap();
        let expected = BlockData {
            kind: full(*block_type).kind,
            inline: full(*block_type).inline,
            ..BlockData::text("")
        };
        assert_eq!(plain, expected);
        let back = r##","indentationLevel":2,"listStyle":"task","color":"#FFEE00","decorations":["quote","callout"],"taskInfo":
            {"state":"done","scheduleDate":"2026-03-01","deadlineDate":"2026-03-02","completedAt":"2026-03-01T09:30:00Z"}"##;
        assert_eq!(apply(back, &plain).unwrap(), full(*block_type));
    }
}

#[test]
fn a_task_begins_open_and_ends_with_its_list_style() {
    let text = BlockData::text("milk");
    let task = apply(r#","listStyle":"task""#, &text).unwrap();
    assert_eq!(task.task, Some(TaskInfo::of_state(TaskState::Todo)));
    assert_eq!(apply(r#","listStyle":"bullet""#, &task).unwrap().task, None);
    assert_eq!(
        apply(r#","listStyle":"task""#, &full(BlockType::Text)).unwrap(),
        full(BlockType::Text)
    );
    for fields in [r#","taskInfo":{"state":"done"}"#, r#","listStyle":"toggle","taskInfo":{}"#] {
        let error = apply(fields, &text).unwrap_err();
        assert_eq!(
            error.to_string(),
            "taskInfo: taskInfo is only for blocks whose listStyle is task"
        );
        assert_eq!(error.kind(), ErrorKind::Validation);
    }
}

#[test]
fn what_task_info_does_not_give_stays() {
    let before = full(BlockType::Text);
    let task = |fields: &str| {
        apply(&format!(r#","taskInfo":{fields}"#), &before).map(|data| data.task.unwrap())
    };
    let old = before.task.unwrap();
    assert_eq!(task("{}").unwrap(), old);
    assert_eq!(task(r#"{"state":"todo"}"#).unwrap(), TaskInfo { state: TaskState::Todo, ..old });
    assert_eq!(task(r#"{"scheduleDate":null}"#).unwrap(), TaskInfo { schedule_date: None, ..old });
    let deadline_date = Some(day("2027-01-01"));
    assert_eq!(
        task(r#"{"deadlineDate":"2027-01-01"}"#).unwrap(),
        TaskInfo { deadline_date, ..old }
    );
    let (completed_at, canceled_at) = (None, Some(instant("2026-01-01T00:00:00Z")));
    let fields =
        r#"{"state":"canceled","completedAt":null,"canceledAt":"2026-01-01T00:00:00.000Z"}"#;
    assert_eq!(
        task(fields).unwrap(),
        TaskInfo { state: TaskState::Canceled, completed_at, canceled_at, ..old }
    );
    // As in a reply that is sent back, reopened.
    let fields = r#"{"state":"todo","completedAt":"2026-03-01T09:30:00.000Z"}"#;
    assert_eq!(
        task(fields).unwrap(),
        TaskInfo { state: TaskState::Todo, completed_at: None, ..old }
    );
    for (fields, message) in [
        (
            r#"{"completedAt":null}"#,
            "taskInfo.completedAt: the state of the task has completedAt: it cannot be cleared",
        ),
        (
            r#"{"canceledAt":"2026-01-01T00:00:00.000Z"}"#,
            "taskInfo.canceledAt: the state of the task has no canceledAt",
        ),
        (
            r#"{"state":"todo","completedAt":"2026-01-01T00:00:00.000Z"}"#,
            "taskInfo.completedAt: the state of the task has no completedAt",
        ),
    ] {
        assert_eq!(task(fields).unwrap_err().to_string(), message);
    }
}

#[test]
fn relative_days_of_a_task_are_resolved_before_they_are_applied() {
    let fields = r#","taskInfo":{"scheduleDate":"tomorrow","deadlineDate":"2026-12-24"}"#;
    let error = apply(fields, &full(BlockType::Text)).unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"taskInfo.scheduleDate: expected a day YYYY-MM-DD, got "tomorrow""#
    );
    let mut patch = read(fields).unwrap();
    patch
        .resolve_days(|day_ref| match day_ref {
            DayRef::Date(day) => Ok(day),
            DayRef::Tomorrow => Ok(day("2026-11-22")),
            _ => Err(Error::validation("unasked")),
        })
        .unwrap();
    let mut data = full(BlockType::Text);
    patch.fields.apply(&mut data).unwrap();
    let task = data.task.unwrap();
    assert_eq!(
        (task.schedule_date, task.deadline_date),
        (Some(day("2026-11-22")), Some(day("2026-12-24")))
    );
    let error =
        read(fields).unwrap().resolve_days(|_| Err(Error::validation("no clock"))).unwrap_err();
    assert_eq!(error.to_string(), "taskInfo.scheduleDate: no clock");
}

#[test]
fn stamps_follow_the_state() {
    let (now, then) = (instant("2026-05-01T00:00:00Z"), instant("2026-04-01T00:00:00Z"));
    let stamped = |state, completed_at, canceled_at| {
        let task = TaskInfo { completed_at, canceled_at, ..TaskInfo::of_state(state) }.stamped(now);
        (task.completed_at, task.canceled_at)
    };
    assert_eq!(stamped(TaskState::Todo, Some(then), Some(then)), (None, None));
    assert_eq!(stamped(TaskState::Done, None, Some(then)), (Some(now), None));
    assert_eq!(stamped(TaskState::Done, Some(then), None), (Some(then), None));
    assert_eq!(stamped(TaskState::Canceled, Some(then), None), (None, Some(now)));
}

#[test]
fn a_language_clears_the_former_tag() {
    let tag = |fields: &str| match apply(fields, &full(BlockType::Code)).map(|data| data.kind) {
        Ok(BlockKind::Code { language, language_tag, .. }) => {
            Ok((language.to_string(), language_tag))
        }
        Ok(_) => panic!("code is code"),
        Err(error) => Err(error.to_string()),
    };
    for (fields, language, expected) in [
        (r#","rawCode":"x""#, "rust", "rust,ignore"),
        (r#","language":"go""#, "go", ""),
        (r#","language":"rust""#, "rust", ""),
        (r#","language":"go","languageTag":"golang""#, "go", "golang"),
        (r#","languageTag":"rs""#, "rust", "rs"),
        (r#","languageTag":"""#, "rust", ""),
    ] {
        assert_eq!(tag(fields).unwrap(), (language.to_owned(), expected.to_owned()), "{fields}");
    }
    let message =
        r#"languageTag: "js" means language javascript, but the block's language is rust"#;
    assert_eq!(tag(r#","languageTag":"js""#).unwrap_err(), message);
}

#[test]
fn a_type_changes_between_text_and_page_and_within_media() {
    use BlockType::{File, Image, Page, Text, Video};
    for from in BlockType::ALL {
        for to in BlockType::ALL {
            let group = |group: &[BlockType]| group.contains(from) && group.contains(to);
            let result = apply(&format!(r#","type":"{to}""#), &full(*from));
            if from == to || group(&[Text, Page]) || group(&[Image, Video, File]) {
                let changed = result.unwrap();
                assert_eq!(changed.block_type(), *to);
                let common = BlockData { kind: changed.kind.clone(), ..full(*from) };
                assert_eq!(changed, common, "the common fields of {from} stay as {to}");
            } else {
                let error = result.unwrap_err();
                assert_eq!((error.kind(), error.path()), (ErrorKind::RuleViolation, "type"));
                assert_eq!(
                    error.message(),
                    format!("a block of type {from} cannot become one of type {to}")
                );
            }
        }
    }
    let page = apply(r#","type":"page","title":"Trip""#, &full(Text)).unwrap();
    assert_eq!((page.text_format(), page.inline.as_str()), (full(Text).text_format(), "Trip"));
    let file = apply(r#","type":"file","fileName":"boat.png""#, &full(Image)).unwrap();
    let BlockKind::File { url, file_name, .. } = file.kind else { panic!() };
    assert_eq!((url.as_str(), file_name.as_str()), ("asset://1/a b.png", "boat.png"));
    assert_eq!(full(Text).list_style, ListStyle::Task);
}

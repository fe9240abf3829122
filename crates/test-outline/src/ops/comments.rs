//! Comment requests.

use leafbase_model::{
    AddComments, BlockId, CommentDraft, CommentId, CommentPatch, CommentSource, DeleteComments,
    ListComments, UpdateComments,
};

use super::{Setting, block, blocks, document, few};
use crate::Numbers;

/// A request of a comment operation.
#[derive(Clone, Debug, PartialEq)]
pub enum CommentRequest {
    /// `add_comments`.
    Add(AddComments),
    /// `list_comments`.
    List(ListComments),
    /// `update_comments`.
    Update(UpdateComments),
    /// `delete_comments`.
    Delete(DeleteComments),
}

impl CommentRequest {
    /// The request of these numbers.
    pub fn new(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> Self {
        match numbers.below(8) {
            _ if setting.space.comments.is_empty() => Self::Add(additions(numbers, setting)),
            0..=2 => Self::Add(additions(numbers, setting)),
            3 => Self::List(list(numbers, setting)),
            4..=6 => Self::Update(UpdateComments::new(few(numbers, 3, |numbers| {
                patch(numbers, setting)
            }))),
            _ => Self::Delete(DeleteComments::new(few(numbers, 2, |numbers| {
                comment(numbers, setting)
            }))),
        }
    }
}

fn additions(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> AddComments {
    let count = 1 + numbers.below(3);
    let draft = |_| {
        let content = content(numbers, setting);
        CommentDraft::new(block(numbers, setting, |_| true), content)
    };
    AddComments::new((0..count).map(draft))
}

fn content(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> String {
    if numbers.once_in(12) {
        blocks::text(numbers, setting)
    } else {
        "a".repeat(1 + numbers.below(4))
    }
}

fn list(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> ListComments {
    let source = if numbers.below(2) == 0 {
        CommentSource::Document(document(numbers, setting, |_| true))
    } else {
        let commented: Vec<BlockId> =
            setting.space.comments.iter().map(|(block, _)| *block).collect();
        CommentSource::Blocks(few(numbers, 3, |numbers| {
            block(numbers, setting, |found| commented.contains(&found.record.id))
        }))
    };
    let all = ListComments::of(source);
    match numbers.below(3) {
        0 => all,
        1 => all.open(),
        _ => all.resolved(),
    }
}

fn patch(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> CommentPatch {
    let id = comment(numbers, setting);
    let mut patch = CommentPatch::of(id);
    if numbers.below(2) == 0 {
        patch = patch.with_content(content(numbers, setting));
    }
    if numbers.below(2) == 0 {
        patch = patch.with_resolved(numbers.below(3) > 0);
    }
    patch
}

/// A comment of the space; sometimes one that does not exist.
fn comment(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> CommentId {
    let ids: Vec<_> = setting.space.comments.iter().map(|(_, comment)| comment.id).collect();
    if ids.is_empty() || numbers.once_in(24) {
        CommentId::from_bytes([0xAB; 16])
    } else {
        numbers.pick(&ids)
    }
}

//! Rules broken on purpose: whoever compares with the naive space must find out.

/// A rule that the naive space does not keep: a control, for what is compared with it must be told from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// A deleted folder takes its folders with it.
    FoldersGoWithTheirParent,
    /// Folders are moved into others however deep that is.
    FoldersGoDeep,
    /// Documents in the trash count where they were.
    TrashIsCounted,
    /// Daily notes are moved like other documents.
    DailyNotesMove,
    /// A note is made though there is one of its day.
    TwoNotesOfADay,
    /// A change is no change of the document.
    ChangesAreNotDated,
    /// Links in a copy lead to the template.
    CopiesLinkToTheTemplate,
    /// Tasks of documents in the trash are listed.
    TrashedTasksAreListed,
    /// Today is the day in UTC.
    TodayIsThatOfUtc,
    /// Tasks are added at the end.
    TasksGoToTheEnd,
    /// Closed tasks of the inbox stand where they stood, or where open ones would.
    ClosedTasksStay,
    /// Comments stay when their block goes.
    CommentsStay,
    /// Files stay when the last block that shows them goes.
    FilesStay,
    /// Deleted blocks stay.
    BlocksStay,
    /// Folders that must be empty need not be.
    FullFoldersGo,
    /// Daily notes are restored to days that have another.
    DaysAreTakenTwice,
    /// The deadline of a task counts before the day that it is planned for.
    DeadlinesComeFirst,
    /// Tasks of templates are listed.
    TemplatesAreListed,
    /// What is no task goes into the inbox.
    TheInboxTakesAll,
    /// Tasks of the inbox cease to be tasks and stay there.
    TasksOfTheInboxEnd,
    /// The root of the inbox is changed.
    TheInboxIsChanged,
}

impl Broken {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::FoldersGoWithTheirParent,
        Self::FoldersGoDeep,
        Self::TrashIsCounted,
        Self::DailyNotesMove,
        Self::TwoNotesOfADay,
        Self::ChangesAreNotDated,
        Self::CopiesLinkToTheTemplate,
        Self::TrashedTasksAreListed,
        Self::TodayIsThatOfUtc,
        Self::TasksGoToTheEnd,
        Self::ClosedTasksStay,
        Self::CommentsStay,
        Self::FilesStay,
        Self::BlocksStay,
        Self::FullFoldersGo,
        Self::DaysAreTakenTwice,
        Self::DeadlinesComeFirst,
        Self::TemplatesAreListed,
        Self::TheInboxTakesAll,
        Self::TasksOfTheInboxEnd,
        Self::TheInboxIsChanged,
    ];
}

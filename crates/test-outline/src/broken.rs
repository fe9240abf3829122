//! Rules disabled on purpose: a comparison with the naive space must detect each.

/// A rule that the naive space violates, as a control of the comparison.
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
    /// A change is not a change of the document.
    ChangesAreNotDated,
    /// Links in a copy lead to the template.
    CopiesLinkToTheTemplate,
    /// Tasks of documents in the trash are listed.
    TrashedTasksAreListed,
    /// Today is the day in UTC.
    TodayIsThatOfUtc,
    /// Tasks are added at the end.
    TasksGoToTheEnd,
    /// Closed tasks of the inbox keep their position, or move to that of open ones.
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
    /// Blocks other than tasks are inserted into the inbox.
    TheInboxTakesAll,
    /// Tasks of the inbox cease to be tasks and stay there.
    TasksOfTheInboxEnd,
    /// The root of the inbox is changed.
    TheInboxIsChanged,
    /// A deleted item stays in its relations.
    PairsStay,
    /// Items and documents at the other end of a relation that changes are changed.
    OtherEndsAreChanged,
    /// Pairs stay when their relation is dropped.
    PairsOutliveTheirColumn,
    /// Related items stay when others are set.
    RelatedOnesStay,
    /// An end that takes one item takes more.
    SingleEndsTakeMore,
    /// Items in the trash are newly related to.
    TrashedItemsAreRelated,
    /// Values stay when their column goes.
    ValuesOutliveTheirColumn,
    /// Values that cannot be converted are dropped without permission.
    ValuesAreLost,
    /// A schema that leaves one end out of a relation of a collection with itself is refused.
    HalvesAreRefused,
    /// Options that are new are not added to the schema.
    OptionsAreForgotten,
    /// A collection that gets another name keeps the former one in its schema.
    NamesStay,
    /// Items are added at the start.
    ItemsComeFirst,
    /// Items without a value are sorted before the others.
    EmptyComesFirst,
    /// Items of a copy are related to those of the template.
    CopiesRelateToTheTemplate,
}

impl Broken {
    /// Those that concern collections.
    pub const OF_COLLECTIONS: &[Self] = &[
        Self::PairsStay,
        Self::OtherEndsAreChanged,
        Self::PairsOutliveTheirColumn,
        Self::RelatedOnesStay,
        Self::SingleEndsTakeMore,
        Self::TrashedItemsAreRelated,
        Self::ValuesOutliveTheirColumn,
        Self::ValuesAreLost,
        Self::HalvesAreRefused,
        Self::OptionsAreForgotten,
        Self::NamesStay,
        Self::ItemsComeFirst,
        Self::EmptyComesFirst,
        Self::CopiesRelateToTheTemplate,
    ];

    /// All others.
    pub const OF_DOCUMENTS: &[Self] = &[
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

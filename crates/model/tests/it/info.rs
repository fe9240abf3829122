//! What a connection says of its space.

use leafbase_model::{ConnectionInfo, SpaceInfo, UrlTemplates, UtcInfo};

use crate::support::instant;
use crate::wire::of;

#[test]
fn connection_info() {
    insta::assert_json_snapshot!(ConnectionInfo {
        space: SpaceInfo {
            id: of(1),
            name: "Notes".into(),
            zone: "Europe/Lisbon".into(),
            time: "2026-07-01T00:30:00.250+01:00".into(),
            friendly_date: "Wednesday, 1 July 2026".into(),
        },
        utc: UtcInfo { time: instant("2026-06-30T23:30:00.250Z") },
        url_templates: UrlTemplates { app: "leafbase://open?spaceId=1&blockId={blockId}".into() },
    });
}

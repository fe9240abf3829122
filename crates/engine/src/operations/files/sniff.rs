//! What the first bytes of a file say of its type: as much as they are certain of, and no more.

/// What the first bytes say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sniffed {
    /// It is of this type.
    Certain(&'static str),
    /// It is of a family of formats that begin alike, by what is seen of this type.
    OneOf(Family, &'static str),
    /// It is text, and looks like this type.
    Text(&'static str),
    /// So few bytes look like this type that it may be chance.
    Hint(&'static str),
    /// Nothing.
    Unknown,
}

/// Formats that share a container, of which only the inside tells which one it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// Documents and archives in ZIP.
    Zip,
    /// Documents of older office programs.
    Ole,
    /// Sound or moving pictures in the ISO base format: MP4 and its kin.
    IsoMedia,
    /// Pictures in the ISO base format: HEIC, AVIF.
    IsoPicture,
    /// Sound or moving pictures in Matroska.
    Matroska,
    /// Sound or moving pictures in Ogg.
    Ogg,
    /// Sound or moving pictures in ASF.
    Asf,
}

impl Family {
    /// Whether `media_type` is of it.
    pub(super) fn has(self, media_type: &str) -> bool {
        let begins =
            |prefixes: &[&str]| prefixes.iter().any(|prefix| media_type.starts_with(prefix));
        match self {
            Self::Zip => {
                begins(&["application/vnd."])
                    || media_type.ends_with("+zip")
                    || matches!(media_type, "application/zip" | "application/java-archive")
            }
            Self::Ole => {
                begins(&["application/vnd.", "application/x-ms"])
                    || matches!(media_type, "application/msword" | "application/x-ole-storage")
            }
            Self::IsoMedia => matches!(
                media_type,
                "video/mp4"
                    | "video/quicktime"
                    | "video/x-m4v"
                    | "video/3gpp"
                    | "video/3gpp2"
                    | "audio/mp4"
                    | "audio/x-m4a"
                    | "audio/3gpp"
                    | "audio/3gpp2"
                    | "application/mp4"
            ),
            Self::IsoPicture => begins(&["image/heic", "image/heif", "image/avif"]),
            Self::Matroska => {
                matches!(
                    media_type.split_once('/'),
                    Some(("video" | "audio", "webm" | "matroska" | "x-matroska"))
                )
            }
            Self::Ogg => matches!(
                media_type,
                "audio/ogg"
                    | "audio/opus"
                    | "audio/vorbis"
                    | "audio/speex"
                    | "audio/flac"
                    | "video/ogg"
                    | "application/ogg"
            ),
            Self::Asf => {
                matches!(
                    media_type,
                    "video/x-ms-asf"
                        | "video/x-ms-wmv"
                        | "audio/x-ms-wma"
                        | "application/vnd.ms-asf"
                )
            }
        }
    }
}

/// What `head`, the first bytes of a file, says; `is_whole` if it is all of them.
pub(super) fn sniff(head: &[u8], is_whole: bool) -> Sniffed {
    if head.is_empty() {
        return Sniffed::Unknown;
    }
    // Texts that begin with "BM", "GIF" or "SQLi" are no pictures and no databases.
    text(head, is_whole).map_or_else(|| sniff_bytes(head), sniff_text)
}

/// The text that `head` is, if it is one: UTF-8 without other control characters than those that
/// texts have.
fn text(head: &[u8], is_whole: bool) -> Option<&str> {
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        // The last character goes on beyond what was looked at.
        Err(error) if error.error_len().is_none() && !is_whole => {
            std::str::from_utf8(head.get(..error.valid_up_to())?).ok()?
        }
        Err(_) => return None,
    };
    let of_text = |letter: char| {
        !letter.is_ascii_control() || matches!(letter, '\t' | '\n' | '\r' | '\u{c}' | '\u{1b}')
    };
    text.chars().all(of_text).then_some(text.strip_prefix('\u{feff}').unwrap_or(text))
}

fn sniff_text(text: &str) -> Sniffed {
    let begins = |start: &str| text.starts_with(start);
    let trimmed = text.trim_start();
    if is_svg(trimmed) {
        Sniffed::Certain("image/svg+xml")
    } else if begins("%PDF-") {
        Sniffed::Certain("application/pdf")
    } else if begins("%!PS") {
        Sniffed::Certain("application/postscript")
    } else if begins("{\\rtf") {
        Sniffed::Certain("application/rtf")
    } else if opens(trimmed, "<!doctype html") || opens(trimmed, "<html") {
        Sniffed::Text("text/html")
    } else if opens(trimmed, "<?xml") {
        Sniffed::Text("application/xml")
    } else {
        Sniffed::Text("text/plain")
    }
}

/// Whether `text` begins with `tag`, in either case, and the name ends there.
fn opens(text: &str, tag: &str) -> bool {
    let Some((start, rest)) = text.split_at_checked(tag.len()) else { return false };
    start.eq_ignore_ascii_case(tag)
        && rest.starts_with(|letter: char| letter.is_whitespace() || "/>".contains(letter))
}

/// Whether the first element is `svg`, with a prefix or without, after what may stand before: the
/// declaration, comments, instructions and a document type.
fn is_svg(text: &str) -> bool {
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let after = if let Some(comment) = rest.strip_prefix("<!--") {
            comment.split_once("-->")
        } else if let Some(instruction) = rest.strip_prefix("<?") {
            instruction.split_once("?>")
        } else if opens(rest, "<!doctype") {
            after_doctype(rest)
        } else {
            let name = rest
                .strip_prefix('<')
                .and_then(|tag| tag.split([' ', '\t', '\r', '\n', '/', '>']).next());
            let local = name.map(|name| name.split_once(':').map_or(name, |(_, local)| local));
            return local == Some("svg") && rest.len() > name.map_or(0, str::len) + 1;
        };
        match after {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
}

/// Past a document type, whose own declarations may stand in brackets.
fn after_doctype(text: &str) -> Option<(&str, &str)> {
    match text.find(['[', '>']).and_then(|at| text.split_at_checked(at)) {
        Some((_, inner)) if inner.starts_with('[') => {
            let (_, after) = inner.split_once(']')?;
            after.split_once('>')
        }
        _ => text.split_once('>'),
    }
}

const TRANSPORT_PACKET: usize = 188;

fn sniff_bytes(head: &[u8]) -> Sniffed {
    let at =
        |place: usize, bytes: &[u8]| head.get(place..).is_some_and(|rest| rest.starts_with(bytes));
    // Those that are known by bytes further on: whatever stands before is the name of a file, or
    // free.
    if infer::archive::is_tar(head) {
        Sniffed::Certain("application/x-tar")
    } else if infer::archive::is_dcm(head) {
        Sniffed::Certain("application/dicom")
    } else if infer::book::is_mobi(head) {
        Sniffed::Certain("application/x-mobipocket-ebook")
    } else if at(4, b"ftyp") {
        sniff_iso(head)
    } else if at(0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") {
        Sniffed::OneOf(Family::Ole, "application/x-ole-storage")
    } else if at(0, b"\x1a\x45\xdf\xa3") {
        let web = infer::video::is_webm(head);
        Sniffed::OneOf(Family::Matroska, if web { "video/webm" } else { "video/x-matroska" })
    } else if at(0, b"OggS") {
        Sniffed::OneOf(Family::Ogg, if at(28, b"\x80theora") { "video/ogg" } else { "audio/ogg" })
    } else if (0..3).all(|packet| at(packet * TRANSPORT_PACKET, b"G")) {
        Sniffed::Certain("video/mp2t")
    } else {
        infer::get(head).map_or(Sniffed::Unknown, |found| weighed(&found, head))
    }
}

/// By the brand, which stands behind `ftyp`.
fn sniff_iso(head: &[u8]) -> Sniffed {
    if infer::image::is_avif(head) {
        return Sniffed::OneOf(Family::IsoPicture, "image/avif");
    }
    let by_brand = match head.get(8..12).unwrap_or_default() {
        [b'h', b'e', b'i' | b'v', _] | b"mif1" | b"msf1" => {
            return Sniffed::OneOf(Family::IsoPicture, "image/heif");
        }
        b"crx " => return Sniffed::Certain("image/x-canon-cr3"),
        b"qt  " => "video/quicktime",
        b"M4A " | b"M4B " | b"M4P " | b"F4A " | b"F4B " => "audio/mp4",
        [b'M', b'4', b'V', _] => "video/x-m4v",
        [b'3', b'g', b'2', _] => "video/3gpp2",
        [b'3', b'g', ..] => "video/3gpp",
        _ if infer::video::is_mp4(head) => "video/mp4",
        _ => "application/mp4",
    };
    Sniffed::OneOf(Family::IsoMedia, by_brand)
}

/// How far a signature can be trusted, many of which are two bytes long. Names are those that are
/// registered by now.
fn weighed(found: &infer::Type, head: &[u8]) -> Sniffed {
    let at =
        |place: usize, bytes: &[u8]| head.get(place..).is_some_and(|rest| rest.starts_with(bytes));
    let sure = |is_sure: bool, name: &'static str| {
        if is_sure { Sniffed::Certain(name) } else { Sniffed::Unknown }
    };
    match found.mime_type() {
        // Text, and so looked at before; certificates and objects are known by two bytes.
        "text/html"
        | "text/xml"
        | "text/x-shellscript"
        | "application/x-x509-ca-cert"
        | "application/octet-stream" => Sniffed::Unknown,
        "application/x-executable" if found.extension() != "elf" => Sniffed::Unknown,
        "application/x-llvm" => sure(at(0, b"BC\xc0\xde"), "application/x-llvm"),
        "image/gif" => sure(at(0, b"GIF87a") || at(0, b"GIF89a"), "image/gif"),
        "image/webp" => sure(at(0, b"RIFF"), "image/webp"),
        "image/vnd.microsoft.icon" => {
            sure(!at(4, b"\0\0") && at(9, b"\0"), "image/vnd.microsoft.icon")
        }
        // The length of the header that follows tells the version.
        "image/bmp" => sure(
            [12_u8, 40, 52, 56, 64, 108, 124].iter().any(|length| at(14, &[*length, 0, 0, 0])),
            "image/bmp",
        ),
        "image/jxl" if at(0, b"\xff") => Sniffed::Hint("image/jxl"),
        weak @ ("application/vnd.microsoft.portable-executable"
        | "application/x-compress"
        | "application/x-cpio"
        | "application/x-shockwave-flash"
        | "audio/aac") => Sniffed::Hint(weak),
        // Movies without a brand.
        "video/quicktime" => Sniffed::OneOf(Family::IsoMedia, "video/quicktime"),
        "video/x-ms-wmv" => Sniffed::OneOf(Family::Asf, "video/x-ms-asf"),
        "audio/m4a" => Sniffed::Certain("audio/mp4"),
        "audio/x-flac" => Sniffed::Certain("audio/flac"),
        "audio/x-wav" => Sniffed::Certain("audio/wav"),
        "application/font-woff" => {
            Sniffed::Certain(if found.extension() == "woff" { "font/woff" } else { "font/woff2" })
        }
        "application/font-sfnt" => {
            Sniffed::Certain(if found.extension() == "ttf" { "font/ttf" } else { "font/otf" })
        }
        in_zip if at(0, b"PK") && in_zip != "image/openraster" => {
            Sniffed::OneOf(Family::Zip, in_zip)
        }
        name => Sniffed::Certain(name),
    }
}

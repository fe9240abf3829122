//! Content sniffing: the media type that the first bytes of a file prove.

/// The result of sniffing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sniffed {
    /// Exactly this type.
    Certain(&'static str),
    /// A family of formats with a common signature; by the visible part, this type.
    OneOf(Family, &'static str),
    /// Text that looks like this type.
    Text(&'static str),
    /// A signature so short that it may be a coincidence.
    Hint(&'static str),
    /// No known signature.
    Unknown,
}

/// Formats that share a container and differ only inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// Documents and archives in ZIP.
    Zip,
    /// Documents of old office programs.
    Ole,
    /// Audio or video in the ISO base media format, such as MP4.
    IsoMedia,
    /// Images in the ISO base media format: HEIC, AVIF.
    IsoPicture,
    /// Audio or video in Matroska.
    Matroska,
    /// Audio or video in Ogg.
    Ogg,
    /// Audio or video in ASF.
    Asf,
}

impl Family {
    /// Whether `media_type` belongs to the family.
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

/// Sniffs the first bytes of a file; `is_whole` if they are the whole file.
pub(super) fn sniff(head: &[u8], is_whole: bool) -> Sniffed {
    if head.is_empty() {
        return Sniffed::Unknown;
    }
    // Text first: a text that starts with "BM", "GIF" or "SQLi" is neither an image nor a database.
    text(head, is_whole).map_or_else(|| sniff_bytes(head), sniff_text)
}

/// The bytes as text, if they are UTF-8 without control characters that texts do not contain.
fn text(head: &[u8], is_whole: bool) -> Option<&str> {
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        // The last character may continue after the head.
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

/// Whether `text` starts with `tag`, in either case, and the tag name ends there.
fn opens(text: &str, tag: &str) -> bool {
    let Some((start, rest)) = text.split_at_checked(tag.len()) else { return false };
    start.eq_ignore_ascii_case(tag)
        && rest.starts_with(|letter: char| letter.is_whitespace() || "/>".contains(letter))
}

/// Whether the first element is `svg`, with or without a prefix, after a declaration, comments,
/// processing instructions and a document type.
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

/// The rest after a document type, which may have an internal subset in brackets.
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
    // Formats with a signature at a later offset: any name or free bytes can precede it.
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
    // Three sync bytes at packet distance: one byte alone would be a coincidence.
    } else if (0..3).all(|packet| at(packet * TRANSPORT_PACKET, b"G")) {
        Sniffed::Certain("video/mp2t")
    } else {
        infer::get(head).map_or(Sniffed::Unknown, |found| weighed(&found, head))
    }
}

/// By the brand after `ftyp`.
fn sniff_iso(head: &[u8]) -> Sniffed {
    if infer::image::is_avif(head) {
        return Sniffed::OneOf(Family::IsoPicture, "image/avif");
    }
    let by_brand = match head.get(8..12).unwrap_or(&[]) {
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

/// Rates a signature: many have only two bytes. Names are the currently registered ones.
fn weighed(found: &infer::Type, head: &[u8]) -> Sniffed {
    let at =
        |place: usize, bytes: &[u8]| head.get(place..).is_some_and(|rest| rest.starts_with(bytes));
    let sure = |is_sure: bool, name: &'static str| {
        if is_sure { Sniffed::Certain(name) } else { Sniffed::Unknown }
    };
    match found.mime_type() {
        // Text was handled before; certificates and object files are recognized by two bytes only.
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
        // The length of the following header identifies the version.
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

//! Operations on uploaded files: upload and read.

use std::io::Read;

use leafbase_model::{
    AssetId, AssetRecord, AssetUrl, BlockDraft, BlockId, DayRef, Edit, Error, Position,
    PositionTarget, Result, UploadFile, UploadedFile, invariant,
};
use leafbase_tree_ops as ops;

use crate::core::access::Unbatched;
use crate::core::connection::Connection;
use crate::core::transaction::OperationTransaction;
use crate::support::days;

mod media;
pub(crate) mod named;
mod names;
mod reader;
mod sniff;
mod upload;

pub(crate) use media::media_type;
pub use media::{fit_block_type, shown_as_picture};
pub use names::plain as plain_file_name;
pub use reader::FileReader;
use reader::VisibilityCheck;
pub(crate) use upload::Upload;

impl<A: Unbatched> Connection<A> {
    /// Uploads a file into a document: reads `bytes` to the end and inserts a block that shows the
    /// file. The file exists as long as any block shows it by its URL.
    ///
    /// ```
    /// use leafbase::{Position, Space, UploadFile};
    /// use std::io::Read;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let notes = Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip to Lisbon")?;
    /// let request = UploadFile::new(trip.id()).of_type("text/csv; charset=utf-8")
    ///     .named("budget.csv");
    /// let uploaded = notes.upload_file(request, &b"what,how much\ntram,3.10\n"[..])?;
    ///
    /// let mut text = String::new();
    /// notes.open_file(uploaded.asset_url.id())?.read_to_string(&mut text)?;
    /// assert!(text.ends_with("3.10\n"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The request is validated before a byte is read. Bytes are stored as they arrive, and the
    /// file and its block appear atomically at the end. An upload takes about 10 MiB of memory in
    /// addition to the store's cache, whatever its size, and blocks no other writer while its
    /// reader blocks. After an error, including one of the reader, nothing of the upload remains.
    /// If the process ends, the stored bytes are deleted when the space is next opened, but not
    /// read-only; if others may have it open, only after an hour without a write of the upload.
    ///
    /// A position in `today` means the day on which the upload began.
    ///
    /// # Type
    ///
    /// Media types starting with `image/` get an image block, `video/` a video block, all others a
    /// file block. The type is derived from the declared `Content-Type` (none, and
    /// `application/octet-stream`, declare nothing) and the first 64 KiB:
    ///
    /// | The bytes are | The type is |
    /// |---|---|
    /// | of a format that is known by them (PNG, JPEG, GIF, PDF, SVG, MP3, gzip, ..) | that format, whatever is declared |
    /// | of a container (ZIP, old Office, MP4 and its kin, HEIC and AVIF, Matroska, Ogg, ASF) | as declared if that is one of the container's formats, otherwise what is seen of it: `application/zip`, `video/mp4`, .. |
    /// | text in UTF-8 | as declared, but not `image/*` or `video/*`; otherwise `text/html`, `application/xml` or `text/plain` |
    /// | none of these, or none at all | as declared, but not `image/*` or `video/*`; otherwise `application/octet-stream` |
    ///
    /// # Name
    ///
    /// The last component of a path, without control characters, bidirectional overrides, and dots
    /// and spaces at the ends. `<>:"|?*` become `_`, names reserved for devices get a `_` in front,
    /// and names are truncated to 255 bytes, keeping the extension. The default is `image`, `video`
    /// or `file` with the extension of the type, such as `image.png`.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] at `contentType` if it is not a media type;
    /// [`crate::ErrorKind::InvalidPosition`] for a position without target, and those of
    /// [`Self::insert_blocks`] for the position; [`crate::ErrorKind::LimitExceeded`] as soon as
    /// there are more bytes than [`crate::Limits::upload`]; [`crate::ErrorKind::Storage`] for an
    /// error of `bytes`, which becomes its source.
    pub fn upload_file(&self, request: UploadFile, bytes: impl Read) -> Result<UploadedFile> {
        request.check()?;
        let UploadFile { position, content_type, file_name, .. } = request;
        let operation = self.operation("upload_file");
        let (position, _) = operation
            .write(|transaction| self.check_place(transaction, position))
            .map_err(position_error)?;
        let declared = content_type.map_or(Ok(None), |declared| media::declared(&declared));
        let declared = declared.map_err(|error| error.at("contentType"))?;
        let name = file_name.as_deref();
        self.check_name(name)?;
        let upload =
            Upload::read((&self.space, self.visibility()), declared.as_deref(), name, bytes)?;
        let (block_id, _) = operation
            .write(|transaction| self.show(transaction, position, &upload))
            .map_err(position_error)?;
        let asset_url = upload.url();
        // Only after the commit: dropping the upload earlier would delete the chunks of the file.
        upload.keep();
        Ok(UploadedFile { block_id, asset_url })
    }

    /// Checks that a block can be inserted at `position`, without writing. Returns the position
    /// with its day resolved.
    fn check_place(
        &self,
        transaction: &mut OperationTransaction<'_, '_>,
        position: Position,
    ) -> Result<Position> {
        if let Some(place) = self.resolve_position(transaction, position, true)? {
            let block = media::block("", &AssetUrl::new(AssetId::NIL, String::new()));
            transaction
                .plan(|tree, context| ops::prepare_target_for(tree, context, place, &block))?;
        }
        let Position::Within(edge, PositionTarget::Day(day)) = position else {
            return Ok(position);
        };
        let day = transaction
            .plan(|tree, context| days::resolve(day, &tree.zone()?, context.stamp.at))?;
        Ok(Position::Within(edge, PositionTarget::Day(DayRef::Date(day))))
    }

    /// Checks that a block can show a file of this name, or of the longest default name.
    fn check_name(&self, name: Option<&str>) -> Result<()> {
        let name = name.and_then(names::plain).unwrap_or_else(|| "image.sqlite".to_owned());
        let checked = media::block("", &AssetUrl::new(AssetId::NIL, name)).check(self.limits());
        checked.map_err(|error| error.without_path().at("fileName"))
    }

    /// Turns the upload into a file and inserts the block that shows it.
    fn show(
        &self,
        transaction: &mut OperationTransaction<'_, '_>,
        position: Position,
        upload: &Upload,
    ) -> Result<BlockId> {
        let Some(place) = self.resolve_position(transaction, position, false)? else {
            invariant!("blocks that are inserted have a place");
        };
        let drafts = vec![BlockDraft::new(upload.block())];
        let mut inserted =
            transaction.plan(|tree, context| ops::insert(tree, context, drafts, place))?;
        let mut edits = vec![Edit::CreateAsset(upload.record(transaction.context.stamp))];
        edits.append(&mut inserted.edits);
        transaction.apply(edits)?;
        let Some(block) = inserted.top.first() else {
            invariant!("the draft of an upload is inserted");
        };
        Ok(*block)
    }

    /// Returns the record of an uploaded file: its media type, name, size, hash and upload stamp.
    ///
    /// ```
    /// use leafbase::UploadFile;
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?;
    /// let uploaded = notes
    ///     .upload_file(UploadFile::new(trip.id()).named("seat.txt"), &b"12A"[..])?;
    /// let record = notes.file(uploaded.asset_url.id())?;
    /// assert_eq!((record.media_type.as_str(), record.size), ("text/plain", 3));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] if there is no such file, or no visible block shows it.
    pub fn file(&self, id: AssetId) -> Result<AssetRecord> {
        self.operation("file").read(|tree| tree.file(id)?.ok_or_else(Error::no_file))
    }

    /// Opens an uploaded file for reading, with seeking. It stays readable as long as the file
    /// exists and a visible block shows it.
    ///
    /// ```
    /// use std::io::Read;
    /// use leafbase::UploadFile;
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?;
    /// let uploaded = notes
    ///     .upload_file(UploadFile::new(trip.id()).named("seat.txt"), &b"12A"[..])?;
    /// let mut text = String::new();
    /// notes.open_file(uploaded.asset_url.id())?.read_to_string(&mut text).unwrap();
    /// assert_eq!(text, "12A");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Self::file`].
    pub fn open_file(&self, id: AssetId) -> Result<FileReader> {
        let (record, connection) = (self.file(id)?, self.clone());
        let guard: VisibilityCheck =
            Box::new(move || connection.file(id).map(|_| connection.visibility()));
        Ok(FileReader::new(self.space.clone(), record, (!self.is_unrestricted()).then_some(guard)))
    }
}

/// An error of a position whose fields are fields of the request itself.
fn position_error(error: Error) -> Error {
    match error.path().strip_prefix("position.").map(str::to_owned) {
        Some(path) => error.without_path().at(path),
        None => error,
    }
}

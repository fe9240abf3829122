//! Files of the naive space: bytes referenced by blocks.

use leafbase_model::{
    AssetId, AssetRecord, AssetUrl, BlockData, BlockDraft, BlockKind, BlockLayout, BlockType,
    Error, FileHash, MediaSize, MediaWidth, Position, Result, UploadFile, UploadedFile,
};
use sha2::{Digest, Sha256};

use crate::naive::By;
use crate::naive_rules as rules;
use crate::{Broken, NaiveFile, NaiveSpace};

impl NaiveSpace {
    /// Uploads a file and inserts a block that shows it. The content type is trusted.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn upload_file(
        &mut self,
        by: By<'_>,
        request: &UploadFile,
        bytes: &[u8],
    ) -> Result<UploadedFile> {
        let uploaded = self.write(by.0, |space| {
            request.check()?;
            if let Some(position) = space.landed(by, request.position, true)? {
                space.check_place(position)?;
            }
            let size = bytes.len() as u64;
            if size > space.limits.upload {
                return Err(Error::limit("bytes", space.limits.upload, size));
            }
            let id = AssetId::from_bytes(by.1.new_id(by.0.at));
            let media_type = request.content_type.clone().unwrap_or_default();
            let file_name = request.file_name.clone().unwrap_or_default();
            let sha256 = Some(FileHash::from_bytes(Sha256::digest(bytes).into()));
            let created = by.0.clone();
            let record = AssetRecord { id, media_type, file_name, size, sha256, created };
            space.files.push(NaiveFile { record: record.clone(), bytes: bytes.to_vec() });
            let asset_url = AssetUrl::new(id, record.file_name.clone());
            let draft = BlockDraft::new(BlockData::new(kind_of(&record, asset_url.to_string())));
            let block_id = space.insert(by, &[draft], request.position)?[0];
            Ok(UploadedFile { block_id, asset_url })
        });
        // The fields of the position are fields of the request.
        uploaded.map_err(|error| match error.path().strip_prefix("position.") {
            Some(path) => Error::new(error.kind(), error.message()).at(path),
            None => error,
        })
    }

    /// Checks that a block can be inserted there.
    fn check_place(&self, position: Position) -> Result<()> {
        let (parent, _, path) = rules::place(self, position)?;
        rules::check_depth(self.depth(parent) + 1, &self.limits).map_err(|error| error.at(path))?;
        rules::as_parent(&self.get(parent).record.data, &self.limits, path)?;
        let file = BlockData::new(BlockKind::empty(BlockType::File));
        rules::check_enters(self, parent, &file).map_err(|error| error.at(path))
    }

    /// A file with its bytes.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn file(&self, id: AssetId) -> Result<&NaiveFile> {
        self.files.iter().find(|file| file.record.id == id).ok_or_else(Error::no_file)
    }

    /// Files are deleted with the last block that shows them.
    pub(crate) fn drop_files(&mut self) {
        if self.files.is_empty() || self.breaks(Broken::FilesStay) {
            return;
        }
        let files = std::mem::take(&mut self.files);
        let shown =
            |file: &NaiveFile| self.blocks().any(|block| shows(&block.record.data, file.record.id));
        self.files = files.into_iter().filter(shown).collect();
    }
}

fn kind_of(record: &AssetRecord, url: String) -> BlockKind {
    let (alt_text, size, width) = (String::new(), MediaSize::default(), MediaWidth::default());
    match record.media_type.split('/').next() {
        Some("image") => BlockKind::Image { url, alt_text, size, width },
        Some("video") => BlockKind::Video { url, alt_text, size, width },
        _ => BlockKind::File {
            url,
            file_name: record.file_name.clone(),
            layout: BlockLayout::default(),
        },
    }
}

/// Whether a block references a file, by its URL or by a link in its text.
pub(crate) fn shows(data: &BlockData, file: AssetId) -> bool {
    let start = format!("asset://{file}/");
    let url = match &data.kind {
        BlockKind::Image { url, .. }
        | BlockKind::Video { url, .. }
        | BlockKind::File { url, .. }
        | BlockKind::Drawing { url }
        | BlockKind::Whiteboard { url }
        | BlockKind::RichUrl { url, .. } => url,
        _ => "",
    };
    url.starts_with(&start) || data.inline.contains(&format!("]({start}"))
}

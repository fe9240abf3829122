//! An uploaded file: in, shown by a block, read back, and gone with the block.

use std::io::{Read, Write};

use leafbase::{Connection, CreateDocuments, DeleteBlocks, Fetch, FolderId, UploadFile};

use crate::Result;

const DRAWING: &[u8] =
    br##"<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path d="M1 8h7" stroke="#333"/></svg>"##;

pub(crate) fn show(out: &mut impl Write, notes: &Connection, folder: FolderId) -> Result<()> {
    let made = notes.create_documents(CreateDocuments::titled(["Drawings"]).at(folder))?;
    let document = made.first().ok_or("one document was asked for")?.id();
    let uploaded = notes.upload_file(UploadFile::new(document).named("lamp.svg"), DRAWING)?;
    let (block, id) = (notes.fetch(Fetch::new(uploaded.block_id))?, uploaded.asset_url.id());
    let file = notes.file(id)?;
    writeln!(
        out,
        "{} is {}, {} bytes, shown by a block of type {}",
        file.file_name,
        file.media_type,
        file.size,
        block.data.block_type()
    )?;

    let mut bytes = Vec::new();
    notes.open_file(id)?.read_to_end(&mut bytes)?;
    if bytes != DRAWING {
        return Err("the file came back changed".into());
    }
    writeln!(out, "read back: the same bytes")?;

    notes.delete_blocks(DeleteBlocks::new([uploaded.block_id]))?;
    match notes.open_file(id) {
        Ok(_) => Err("the file outlived the last block that shows it".into()),
        Err(error) => {
            Ok(writeln!(out, "the block is deleted, and the file with it: {}", error.code())?)
        }
    }
}

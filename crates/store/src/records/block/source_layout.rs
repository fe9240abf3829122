//! Source layout within a block record: one array, which most blocks omit.

use leafbase_model::{FileLayout, LineLayout, LinkLayout, SourceLayout, VerbatimLines};

use crate::msgpack::{ArrayEncoder, Decoded, Decoder, FieldDecoder, encode_str};
use crate::records::layout::{Field, Value, record};

record! {
    SourceLayout = {
        SourceLayout {
            before,
            first_lead,
            other_lead,
            opening,
            closing,
            lines,
            verbatim,
            links,
            file,
        }
    };
    before, first_lead, other_lead, opening, closing, lines, verbatim, links, file,
}

record! {
    LineLayout = { LineLayout { line, lead, trail } };
    line(required), lead, trail(explicit),
}

record! {
    LinkLayout = { LinkLayout { text, is_wiki, attachment } };
    text, is_wiki, attachment,
}

record! {
    VerbatimLines = { VerbatimLines { digest, text } };
    digest, text(explicit),
}

record! {
    FileLayout = {
        FileLayout { path, digest, end, front_matter, has_mark, has_carriage_returns }
    };
    path, digest, end, front_matter, has_mark, has_carriage_returns,
}

impl Value for Box<str> {
    fn encode(&self, out: &mut Vec<u8>) {
        encode_str(out, self);
    }

    fn decode(decoder: &mut Decoder<'_>) -> Decoded<Self> {
        decoder.str().map(Self::from)
    }
}

impl Field for Box<str> {
    fn encode_field(&self, array: &mut ArrayEncoder<'_>) {
        array.str(self);
    }

    fn decode_field(fields: &mut FieldDecoder<'_, '_>) -> Decoded<Self> {
        fields.str().map(Self::from)
    }
}

impl Value for [Box<str>; 2] {
    fn encode(&self, out: &mut Vec<u8>) {
        let [before, after] = self;
        let mut array = ArrayEncoder::new(out);
        array.str(before);
        array.str(after);
        array.end();
    }

    fn decode(decoder: &mut Decoder<'_>) -> Decoded<Self> {
        let mut fields = decoder.fields()?;
        let pair = [Field::decode_field(&mut fields)?, Field::decode_field(&mut fields)?];
        fields.end()?;
        Ok(pair)
    }
}

//! Layouts of records: `record!` declares the fields of a record once, in their order on disk, and
//! both its encoder and its decoder follow from that.
//!
//! New fields go to the end. A field must keep its position and its meaning for ever.

use leafbase_model::{
    AssetId, Author, BlockId, CommentId, Day, DocumentId, FileHash, FolderId, SpaceId, Timestamp,
};

use crate::msgpack::{
    ArrayEncoder, DecodeError, Decoded, Decoder, FieldDecoder, encode_array_header, encode_bin,
    encode_int, encode_nil, encode_str, encode_uint, timestamp,
};

/// A value without a default: a required field, or an element of a list.
pub(crate) trait Value: Sized {
    fn encode(&self, out: &mut Vec<u8>);
    fn decode(decoder: &mut Decoder<'_>) -> Decoded<Self>;
}

/// A field with a default, or several fields that make one value.
pub(crate) trait Field: Sized {
    fn encode_field(&self, array: &mut ArrayEncoder<'_>);
    fn decode_field(fields: &mut FieldDecoder<'_, '_>) -> Decoded<Self>;
}

/// Declares the layout of a record: `record!(Type = { shape }; field, ..)`.
///
/// The shape is the type with all its fields bound to variables, as a pattern that is also an
/// expression. Each variable is then listed once, in its order on disk:
/// - `name`: a [`Field`];
/// - `name(required)`: a [`Value`];
/// - `name(explicit)`: a [`Field`] that is encoded even where it has its default;
/// - `name(|array| encode, |fields| decode)`: both directions of a field that depends on others.
///
/// It implements [`Value`]. With `encode / decode[key: Key](context: Context)` in place of that, it
/// defines two functions; the key is not part of the record, and the context is for the decoder.
macro_rules! record {
    (@encode $array:ident $field:ident) => {
        $crate::records::layout::Field::encode_field($field, &mut $array)
    };
    (@encode $array:ident $field:ident required) => {
        $array.field(false, |out| $crate::records::layout::Value::encode($field, out))
    };
    (@encode $array:ident $field:ident explicit) => {
        $array.field(false, |out| $crate::records::layout::Value::encode($field, out))
    };
    (@encode $array:ident $field:ident |$a:ident| $encode:expr, |$f:ident| $decode:expr) => {{
        let $a = &mut $array;
        $encode
    }};
    (@decode $fields:ident $field:ident) => {
        $crate::records::layout::Field::decode_field(&mut $fields)?
    };
    (@decode $fields:ident $field:ident required) => {
        $fields.required($crate::records::layout::Value::decode)?
    };
    (@decode $fields:ident $field:ident explicit) => {
        $crate::records::layout::Field::decode_field(&mut $fields)?
    };
    (@decode $fields:ident $field:ident |$a:ident| $encode:expr, |$f:ident| $decode:expr) => {{
        let $f = &mut $fields;
        $decode
    }};
    (
        $encode:ident / $decode:ident [$($key:ident: $key_type:ty)?]
        ($($context:ident: $context_type:ty)?)
        $type:ty = { $($shape:tt)* };
        $($field:ident $(($($how:tt)+))?),* $(,)?
    ) => {
        /// Appends the body of the record.
        pub(crate) fn $encode(out: &mut Vec<u8>, record: &$type) {
            let $($shape)* = record;
            $(let _: &$key_type = $key;)?
            let mut array = $crate::msgpack::ArrayEncoder::new(out);
            $($crate::records::layout::record!(@encode array $field $($($how)+)?);)*
            array.end();
        }

        /// Decodes the body of the record.
        #[inline]
        pub(crate) fn $decode(
            $($key: $key_type,)?
            decoder: &mut $crate::msgpack::Decoder<'_>
            $(, $context: $context_type)?
        ) -> $crate::msgpack::Decoded<$type> {
            let mut fields = decoder.fields()?;
            $(let $field = $crate::records::layout::record!(@decode fields $field $($($how)+)?);)*
            fields.end()?;
            Ok($($shape)*)
        }
    };
    ($type:ty = { $($shape:tt)* }; $($field:ident $(($($how:tt)+))?),* $(,)?) => {
        impl $crate::records::layout::Value for $type {
            fn encode(&self, out: &mut Vec<u8>) {
                let $($shape)* = self;
                let mut array = $crate::msgpack::ArrayEncoder::new(out);
                $($crate::records::layout::record!(@encode array $field $($($how)+)?);)*
                array.end();
            }

            fn decode(
                decoder: &mut $crate::msgpack::Decoder<'_>,
            ) -> $crate::msgpack::Decoded<Self> {
                let mut fields = decoder.fields()?;
                $(
                    let $field =
                        $crate::records::layout::record!(@decode fields $field $($($how)+)?);
                )*
                fields.end()?;
                Ok($($shape)*)
            }
        }
    };
}
pub(crate) use record;

/// Implements [`Field`] for a type of several fields, which are listed once.
macro_rules! fields {
    ($type:ident { $($field:ident),* $(,)? }) => {
        impl $crate::records::layout::Field for $type {
            fn encode_field(&self, array: &mut $crate::msgpack::ArrayEncoder<'_>) {
                let Self { $($field),* } = self;
                $($crate::records::layout::Field::encode_field($field, array);)*
            }

            fn decode_field(
                fields: &mut $crate::msgpack::FieldDecoder<'_, '_>,
            ) -> $crate::msgpack::Decoded<Self> {
                $(let $field = $crate::records::layout::Field::decode_field(fields)?;)*
                Ok(Self { $($field),* })
            }
        }
    };
}
pub(crate) use fields;

macro_rules! id_values {
    ($($id:ident),*) => {$(
        impl Value for $id {
            fn encode(&self, out: &mut Vec<u8>) {
                encode_bin(out, self.as_bytes());
            }

            fn decode(decoder: &mut Decoder<'_>) -> Decoded<Self> {
                decoder.id().map(Self::from_bytes)
            }
        }
    )*};
}
id_values!(AssetId, BlockId, CommentId, DocumentId, FolderId, SpaceId);

impl Value for [u8; 32] {
    fn encode(&self, out: &mut Vec<u8>) {
        encode_bin(out, self);
    }

    fn decode(decoder: &mut Decoder<'_>) -> Decoded<Self> {
        decoder.bin()?.try_into().map_err(|_| DecodeError::Corrupt)
    }
}

impl Value for FileHash {
    fn encode(&self, out: &mut Vec<u8>) {
        self.as_bytes().encode(out);
    }

    fn decode(decoder: &mut Decoder<'_>) -> Decoded<Self> {
        Value::decode(decoder).map(Self::from_bytes)
    }
}

impl Value for u32 {
    fn encode(&self, out: &mut Vec<u8>) {
        encode_uint(out, u64::from(*self));
    }

    fn decode(decoder: &mut Decoder<'_>) -> Decoded<Self> {
        u32::try_from(decoder.uint()?).map_err(|_| DecodeError::Corrupt)
    }
}

impl Value for Timestamp {
    fn encode(&self, out: &mut Vec<u8>) {
        encode_int(out, self.as_millis());
    }

    fn decode(decoder: &mut Decoder<'_>) -> Decoded<Self> {
        timestamp(decoder.int()?)
    }
}

impl Value for Day {
    fn encode(&self, out: &mut Vec<u8>) {
        encode_int(out, self.epoch_days());
    }

    fn decode(decoder: &mut Decoder<'_>) -> Decoded<Self> {
        let days = decoder.int()?;
        if Day::EPOCH_DAYS.contains(&days) {
            Ok(Day::from_epoch_days(days))
        } else {
            Err(DecodeError::Corrupt)
        }
    }
}

impl Value for String {
    fn encode(&self, out: &mut Vec<u8>) {
        encode_str(out, self);
    }

    fn decode(decoder: &mut Decoder<'_>) -> Decoded<Self> {
        decoder.str().map(str::to_owned)
    }
}

impl Value for Author {
    fn encode(&self, out: &mut Vec<u8>) {
        encode_str(out, self.as_str());
    }

    fn decode(decoder: &mut Decoder<'_>) -> Decoded<Self> {
        decoder.str().map(Author::new)
    }
}

impl<V: Value> Value for Vec<V> {
    fn encode(&self, out: &mut Vec<u8>) {
        encode_array_header(out, self.len());
        for value in self {
            value.encode(out);
        }
    }

    fn decode(decoder: &mut Decoder<'_>) -> Decoded<Self> {
        let count = decoder.array()?;
        decoder.list(count, V::decode)
    }
}

impl<V: Value> Value for Option<V> {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Some(value) => value.encode(out),
            None => encode_nil(out),
        }
    }

    fn decode(decoder: &mut Decoder<'_>) -> Decoded<Self> {
        if decoder.nil() { Ok(None) } else { V::decode(decoder).map(Some) }
    }
}

impl<V: Value> Value for Box<V> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.as_ref().encode(out);
    }

    fn decode(decoder: &mut Decoder<'_>) -> Decoded<Self> {
        V::decode(decoder).map(Self::new)
    }
}

impl Field for u64 {
    fn encode_field(&self, array: &mut ArrayEncoder<'_>) {
        array.uint(*self);
    }

    #[inline]
    fn decode_field(fields: &mut FieldDecoder<'_, '_>) -> Decoded<Self> {
        fields.uint()
    }
}

impl Field for u8 {
    fn encode_field(&self, array: &mut ArrayEncoder<'_>) {
        array.uint(u64::from(*self));
    }

    #[inline]
    fn decode_field(fields: &mut FieldDecoder<'_, '_>) -> Decoded<Self> {
        u8::try_from(fields.uint()?).map_err(|_| DecodeError::Corrupt)
    }
}

impl Field for bool {
    fn encode_field(&self, array: &mut ArrayEncoder<'_>) {
        array.uint(u64::from(*self));
    }

    fn decode_field(fields: &mut FieldDecoder<'_, '_>) -> Decoded<Self> {
        match fields.uint()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(DecodeError::Corrupt),
        }
    }
}

impl Field for String {
    fn encode_field(&self, array: &mut ArrayEncoder<'_>) {
        array.str(self);
    }

    #[inline]
    fn decode_field(fields: &mut FieldDecoder<'_, '_>) -> Decoded<Self> {
        fields.str().map(str::to_owned)
    }
}

impl Field for Author {
    fn encode_field(&self, array: &mut ArrayEncoder<'_>) {
        array.str(self.as_str());
    }

    fn decode_field(fields: &mut FieldDecoder<'_, '_>) -> Decoded<Self> {
        fields.str().map(Author::new)
    }
}

impl<V: Value> Field for Option<V> {
    #[inline]
    fn encode_field(&self, array: &mut ArrayEncoder<'_>) {
        array.field(self.is_none(), |out| self.encode(out));
    }

    #[inline]
    fn decode_field(fields: &mut FieldDecoder<'_, '_>) -> Decoded<Self> {
        fields.next(V::decode)
    }
}

impl<V: Value> Field for Vec<V> {
    fn encode_field(&self, array: &mut ArrayEncoder<'_>) {
        array.field(self.is_empty(), |out| self.encode(out));
    }

    fn decode_field(fields: &mut FieldDecoder<'_, '_>) -> Decoded<Self> {
        Ok(fields.next(<Self as Value>::decode)?.unwrap_or_default())
    }
}

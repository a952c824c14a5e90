//! Spells constants in C.

/// The null pointer constant as the file writes it.
pub(crate) fn null(source: &[u8]) -> &'static str {
    match memchr::memmem::find(source, b"NULL").is_some() {
        true => "NULL",
        false => "0",
    }
}

/// A character as C writes it.
pub(crate) fn character(byte: u8) -> String {
    match byte {
        b'\n' => "'\\n'".to_owned(),
        b'\t' => "'\\t'".to_owned(),
        b'\'' | b'\\' => format!("'\\{}'", byte as char),
        _ => format!("'{}'", byte as char),
    }
}

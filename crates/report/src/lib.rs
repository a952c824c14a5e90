//! What users read: JSON, tables, the terminal.

//! Manual pages: one of the program, and one of each of its commands.

use std::path::Path;

use patchwright_exec::files::{self, FileError};

/// Prints a command's page; `None` if that is impossible, which is a bug.
pub(crate) fn page(command: clap::Command) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command).render(&mut text).ok()?;
    Some(text)
}

/// Writes all pages to a folder, which is made unless it is there; `None` as for [`page`].
///
/// # Errors
/// When they cannot be written.
pub(crate) fn write(command: clap::Command, folder: &Path) -> Result<Option<()>, FileError> {
    files::create_folder(folder)?;
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let of_commands = command.get_subcommands().filter(|one| !one.is_hide_set());
    for one in of_commands.chain([&command]) {
        let name = clap_mangen::Man::new(one.clone()).get_filename();
        let Some(text) = page(one.clone()) else {
            return Ok(None);
        };
        files::write_atomic(&folder.join(name), &text)?;
    }
    Ok(Some(()))
}

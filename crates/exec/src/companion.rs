//! A program of the user's that is talked to by lines: it runs with all the user's rights, and ends with this process.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

/// So long a program may take to end by itself.
const PATIENCE: Duration = Duration::from_millis(500);

/// So often it is looked whether it has.
const PACE: Duration = Duration::from_millis(10);

/// A program that was started by a shell command.
#[derive(Debug)]
pub struct Companion {
    child: Mutex<Child>,
    /// Lines for its standard input; none when that is closed.
    lines: Mutex<Option<Sender<String>>>,
}

/// What a [`Companion`] prints.
pub struct Printed {
    /// To standard output.
    pub out: Box<dyn BufRead + Send>,
    /// To standard error.
    pub errors: Box<dyn BufRead + Send>,
}

impl Companion {
    /// Starts a program. It is in a process group of its own, which is ended when this value goes; if this process is killed, its
    /// shell is ended, too.
    ///
    /// # Errors
    /// When there is no shell, or no further process can be started.
    pub fn start(command: &OsStr) -> io::Result<(Self, Printed)> {
        let mut shell = Command::new("/bin/sh");
        shell
            .arg("-c")
            .arg(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        // SAFETY: the closure makes one system call without pointers.
        unsafe {
            shell.pre_exec(|| {
                if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) < 0 {
                    return Err(io::Error::last_os_error());
                }
                Ok(())
            });
        }
        let mut child = shell.spawn()?;
        let (Some(mut input), Some(out), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(io::Error::other("the program has no standard streams"));
        };
        let (lines, told) = channel::<String>();
        // Writing may take as long as the program likes, so nobody waits for it.
        std::thread::spawn(move || {
            for line in told {
                // A program may have heard enough.
                if input.write_all(line.as_bytes()).is_err() || input.flush().is_err() {
                    return;
                }
            }
        });
        let companion = Companion {
            child: Mutex::new(child),
            lines: Mutex::new(Some(lines)),
        };
        let printed = Printed {
            out: Box::new(BufReader::new(out)),
            errors: Box::new(BufReader::new(errors)),
        };
        Ok((companion, printed))
    }

    /// Tells it a line, which ends with a newline.
    pub fn tell(&self, line: String) {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lines) = &*lines {
            // The thread may have given up.
            let _ = lines.send(line);
        }
    }

    /// Closes the program's standard input, so that it reads the end of the file behind the last line.
    pub fn hang_up(&self) {
        drop(
            self.lines
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
    }
}

impl Drop for Companion {
    fn drop(&mut self) {
        self.end();
    }
}

impl Companion {
    /// Ends it, if it does not end by itself when its standard input is closed.
    pub fn end(&self) {
        self.hang_up();
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE && matches!(child.try_wait(), Ok(None)) {
            std::thread::sleep(PACE);
        }
        if let Ok(None) = child.try_wait()
            && let Ok(group) = libc::pid_t::try_from(child.id())
        {
            // SAFETY: sends a signal to the group that was made for the child, which has not been waited for.
            unsafe {
                libc::kill(-group, libc::SIGKILL);
            }
            let _ = child.wait();
        }
    }
}

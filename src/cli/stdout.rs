//! Standard output whose reader may close it early, as `head` does. That is not an error: the command just stops
//! writing.

use std::io::{self, ErrorKind, StdoutLock, Write};

/// Standard output that tolerates a closed pipe.
pub struct Stdout {
    out: StdoutLock<'static>,
    is_closed: bool,
}

impl Default for Stdout {
    fn default() -> Self {
        Self::new()
    }
}

impl Stdout {
    pub fn new() -> Stdout {
        Stdout {
            out: io::stdout().lock(),
            is_closed: false,
        }
    }

    /// Prints a line.
    pub fn print(text: &str) -> io::Result<()> {
        let mut stdout = Stdout::new();
        let result = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
        stdout.ignore_closed_pipe(result)
    }

    /// Replaces the result of a write with success if the reader has closed the pipe.
    pub fn ignore_closed_pipe<T: Default, E>(&self, result: Result<T, E>) -> Result<T, E> {
        if self.is_closed { Ok(T::default()) } else { result }
    }

    fn note_closed_pipe<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &result
            && error.kind() == ErrorKind::BrokenPipe
        {
            self.is_closed = true;
        }
        result
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.out.write(bytes);
        self.note_closed_pipe(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.out.flush();
        self.note_closed_pipe(result)
    }
}

//! Standard output. Whoever reads it may have had enough, as `head` does: a command then says no more, and nothing went
//! wrong.

use std::io::{self, ErrorKind, StdoutLock, Write};

/// Standard output as commands write to it.
pub struct Stdout {
    out: StdoutLock<'static>,
    has_reader: bool,
}

impl Stdout {
    pub fn new() -> Stdout {
        Stdout {
            out: io::stdout().lock(),
            has_reader: true,
        }
    }

    /// Writes a line, if anybody reads it.
    pub fn print(text: &str) -> io::Result<()> {
        let mut paper = Stdout::new();
        let written = writeln!(paper, "{text}").and_then(|()| paper.flush());
        paper.outcome(written)
    }

    /// What became of writing: it is done where nobody reads any more.
    pub fn outcome<T: Default, E>(&self, written: Result<T, E>) -> Result<T, E> {
        match self.has_reader {
            true => written,
            false => Ok(T::default()),
        }
    }

    fn noted<T>(&mut self, written: io::Result<T>) -> io::Result<T> {
        if let Err(fault) = &written
            && fault.kind() == ErrorKind::BrokenPipe
        {
            self.has_reader = false;
        }
        written
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes);
        self.noted(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        self.noted(flushed)
    }
}

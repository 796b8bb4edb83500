//! A server of files that can fail in every way a server fails.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What a server does wrong with one GET request.
#[derive(Clone, Debug)]
pub enum Fault {
    /// Closes the connection after this many bytes of the body.
    BreakOffAfter(usize),
    /// States this length and sends no more than that.
    StateLength(usize),
    /// Responds with the whole file to a request for a range.
    IgnoreRange,
    /// Responds with a range of the current file, whichever version the client has.
    IgnoreVersion,
    /// Responds with this status.
    Status(u16),
    /// Replaces the file with this content, and then closes the connection after this many bytes of the old one.
    BreakOffAndReplace(usize, Vec<u8>),
}

#[derive(Clone, Debug, Default)]
struct ServedFile {
    content: Vec<u8>,
    version: u32,
    /// For the next GET requests.
    faults: VecDeque<Fault>,
    /// For all GET requests without another fault.
    lasting_fault: Option<Fault>,
}

impl ServedFile {
    fn etag(&self) -> String {
        format!("\"v{}\"", self.version)
    }

    fn replace(&mut self, content: Vec<u8>) {
        self.content = content;
        self.version += 1;
    }
}

#[derive(Default)]
struct State {
    files: HashMap<String, ServedFile>,
    requests: Vec<String>,
}

/// A running server. It stops with the process.
pub struct FileServer {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl FileServer {
    pub fn start() -> FileServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                // A client may close the connection at any time.
                let _ = answer(stream.unwrap(), &shared);
            }
        });
        FileServer { address, state }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Serves a file, or a new version of it.
    pub fn serve(&self, path: &str, content: impl Into<Vec<u8>>) {
        let mut state = self.state.lock().unwrap();
        let file = state.files.entry(path.to_owned()).or_default();
        file.replace(content.into());
    }

    pub fn remove(&self, path: &str) {
        self.state.lock().unwrap().files.remove(path);
    }

    /// Answers the next GET requests for a file with these faults.
    pub fn fail(&self, path: &str, faults: &[Fault]) {
        let mut state = self.state.lock().unwrap();
        state
            .files
            .get_mut(path)
            .unwrap()
            .faults
            .extend(faults.iter().cloned());
    }

    /// Answers all GET requests for a file with a fault, or none.
    pub fn fail_always(&self, path: &str, fault: Option<Fault>) {
        let mut state = self.state.lock().unwrap();
        state.files.get_mut(path).unwrap().lasting_fault = fault;
    }

    /// The requests since the last call: method, path, and the range if there is one.
    pub fn take_requests(&self) -> Vec<String> {
        std::mem::take(&mut self.state.lock().unwrap().requests)
    }
}

fn answer(mut stream: TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let Some(request) = lines.next().transpose()? else {
        return Ok(());
    };
    let mut parts = request.split(' ');
    let (method, path) = (parts.next().unwrap().to_owned(), parts.next().unwrap().to_owned());
    let mut headers = HashMap::new();
    for line in lines {
        let line = line?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let (file, fault) = {
        let mut state = state.lock().unwrap();
        let range = headers.get("range").map(|range| format!(" {range}"));
        state
            .requests
            .push(format!("{method} {path}{}", range.unwrap_or_default()));
        let Some(file) = state.files.get_mut(&path) else {
            return stream
                .write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        };
        let before = file.clone();
        let fault = if method == "GET" {
            file.faults.pop_front().or_else(|| file.lasting_fault.clone())
        } else {
            None
        };
        if let Some(Fault::BreakOffAndReplace(_, content)) = &fault {
            file.replace(content.clone());
        }
        (before, fault)
    };
    stream.write_all(&response(&method, &headers, &file, fault.as_ref()))
}

fn response(
    method: &str,
    headers: &HashMap<String, String>,
    file: &ServedFile,
    fault: Option<&Fault>,
) -> Vec<u8> {
    let etag = file.etag();
    if headers.get("if-none-match") == Some(&etag) {
        return b"HTTP/1.1 304 Not Modified\r\nconnection: close\r\n\r\n".to_vec();
    }
    if let Some(Fault::Status(status)) = fault {
        return format!("HTTP/1.1 {status} Fault\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            .into_bytes();
    }
    let is_version_known =
        headers.get("if-range") == Some(&etag) || matches!(fault, Some(Fault::IgnoreVersion));
    let offset = headers
        .get("range")
        .filter(|_| is_version_known && !matches!(fault, Some(Fault::IgnoreRange)))
        .and_then(|range| {
            range
                .strip_prefix("bytes=")?
                .strip_suffix('-')?
                .parse::<usize>()
                .ok()
        });
    let total = file.content.len();
    let body = &file.content[offset.unwrap_or(0).min(total)..];
    let mut head = match offset {
        Some(offset) if offset >= total => {
            return format!(
                "HTTP/1.1 416 Range\r\ncontent-range: bytes */{total}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            )
            .into_bytes();
        }
        Some(offset) => {
            let last = total - 1;
            format!("HTTP/1.1 206 Partial Content\r\ncontent-range: bytes {offset}-{last}/{total}\r\n")
        }
        None => "HTTP/1.1 200 OK\r\n".to_owned(),
    };
    let (length, sent) = match fault {
        Some(Fault::StateLength(length)) => (*length, body.len().min(*length)),
        Some(Fault::BreakOffAfter(sent) | Fault::BreakOffAndReplace(sent, _)) => {
            (body.len(), body.len().min(*sent))
        }
        _ => (body.len(), body.len()),
    };
    let _ = write!(
        head,
        "etag: {etag}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
    );
    let mut response = head.into_bytes();
    if method == "GET" {
        response.extend_from_slice(&body[..sent]);
    }
    response
}

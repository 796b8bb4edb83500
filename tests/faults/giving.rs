//! The ways in which gifts come, each of which can be cut short at any moment and tried again.

use crate::client;
use crate::place::{Place, told};
use std::fs;
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use uuid::Uuid;

/// Cents of every gift.
pub const GIFT: i64 = 250;
/// Gifts of a file; eight of them are under way at a time.
const GIFTS_OF_A_FILE: u64 = 24;
/// The card of the sandbox that pays.
const CARD: &str = "4242424242424242";

/// Whom gifts are for.
pub struct Giving<'a> {
    pub place: &'a Place,
    pub nonprofit: &'a str,
    pub fundraiser: &'a str,
}

/// How a gift comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// `causeway donation record`
    Command,
    /// `causeway donation import`
    File,
    /// The two forms of the site, in the server that is killed.
    Site,
}

impl Way {
    /// How many gifts one call brings.
    pub const fn gifts(self) -> u64 {
        match self {
            Way::File => GIFTS_OF_A_FILE,
            Way::Command | Way::Site => 1,
        }
    }
}

impl Giving<'_> {
    /// Gives unless all is over before it is acknowledged: was it?
    pub fn give_until(&self, way: Way, server: SocketAddr, number: u128, over: &AtomicBool) -> bool {
        match way {
            Way::Site => self.give_on_the_site(server, number),
            Way::Command | Way::File => ends_before(self.start(way, number), over),
        }
    }

    /// Gives to the end.
    pub fn give(&self, way: Way, server: SocketAddr, number: u128) {
        match way {
            Way::Site => assert!(self.give_on_the_site(server, number), "{number:x} is not given"),
            Way::Command | Way::File => {
                let output = self.start(way, number).wait_with_output().expect("a process");
                assert!(output.status.success(), "{}", told(&output));
            }
        }
    }

    /// Both forms, one after the other; a server that is gone acknowledges nothing.
    fn give_on_the_site(&self, server: SocketAddr, number: u128) -> bool {
        let once = Uuid::from_u128(number);
        let gift = format!("/gifts/{once}");
        let start = format!("/{}/f/{}/give", self.nonprofit, self.fundraiser);
        let forms = [
            (start, format!("amount=2.50&public=no&once={once}")),
            (gift.clone(), format!("card={CARD}")),
        ];
        forms.iter().all(|(path, fields)| {
            let Ok(answer) = client::post_form(server, path, fields) else {
                return false;
            };
            let body = String::from_utf8_lossy(&answer.body);
            assert_eq!(answer.status, 303, "{path}: {body}");
            assert_eq!(answer.header("location"), Some(gift.as_str()));
            true
        })
    }

    fn start(&self, way: Way, number: u128) -> Child {
        let mut command = match way {
            Way::File => self.import(number),
            Way::Command | Way::Site => self.record(number),
        };
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().expect("the binary runs")
    }

    fn record(&self, number: u128) -> Command {
        let (amount, id) = (GIFT.to_string(), format!("gift-{number:02x}"));
        self.place.command(&[
            "donation",
            "record",
            "--nonprofit",
            self.nonprofit,
            "--fundraiser",
            self.fundraiser,
            "--amount",
            &amount,
            "--donor",
            &id,
            "--external-id",
            &id,
        ])
    }

    fn import(&self, number: u128) -> Command {
        let (nonprofit, fundraiser) = (self.nonprofit, self.fundraiser);
        let line = |line| {
            let id = format!("gift-{number:x}-{line}");
            format!(
                r#"{{"nonprofit":"{nonprofit}","fundraiser":"{fundraiser}","amount":{GIFT},"donor":"{id}","externalId":"{id}"}}"#
            )
        };
        let lines: Vec<_> = (0..GIFTS_OF_A_FILE).map(line).collect();
        let file = self.place.folder.path().join(format!("gifts-{number:x}.jsonl"));
        fs::write(&file, lines.join("\n")).expect("room for a test file");
        let mut command = self.place.command(&["donation", "import", "--at-once", "8"]);
        command.arg(file);
        command
    }
}

/// Waits for the end of a process, which is to be good, unless all is over before.
fn ends_before(mut process: Child, over: &AtomicBool) -> bool {
    loop {
        if let Some(ended) = process.try_wait().expect("a process") {
            let output = process.wait_with_output().expect("a process");
            assert!(ended.success(), "{}", told(&output));
            return true;
        }
        if over.load(Ordering::Relaxed) {
            process.kill().expect("a process that can be killed");
            process.wait().expect("a process");
            return false;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

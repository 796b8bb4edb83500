//! Generates synthetic lists of nonprofits in good standing, in the formats and proportions of the real ones.
//!
//! Rows with an EIN belong to the nonprofits of a generated EO BMF file with the same seed and number of rows. 60% of the
//! rows of the registry have none, and half of these have a state number.

use super::ein;
use super::rng::Rng;
use super::row::RowGenerator;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

const HEADER: &str = "Registry Status,State Charity Reg#,FEIN,SOS/FTB#,Name,City,State,Issue Date,Last Renewal,Date Status Set,As-of Date\r\n";
/// A file of the registry: its name, how many of 10,000 rows of the registry it has, and how many of 10,000 of its rows have each
/// status.
type RegistryFile = (&'static str, u64, &'static [(&'static str, u64)]);

const FILES: [RegistryFile; 4] = [
    (
        "charities-may-operate.csv",
        2_300,
        &[
            ("Current", 8_200),
            ("Current - Awaiting Reporting", 1_300),
            ("Exempt", 500),
        ],
    ),
    (
        "charities-may-not-operate.csv",
        2_083,
        &[
            ("Mutual Benefit", 5_678),
            ("Revoked", 2_810),
            ("Delinquent", 1_127),
            ("Suspended", 302),
            ("Cease and Desist", 72),
            ("Late Fees", 11),
        ],
    ),
    (
        "charities-undetermined-status.csv",
        1_117,
        &[("Registration Required", 7_000), ("Pending", 3_000)],
    ),
    (
        "charities-not-operating.csv",
        4_500,
        &[
            ("Dissolved", 6_000),
            ("Closed", 2_500),
            ("Withdrawn", 1_000),
            ("Merged", 500),
        ],
    ),
];

/// What to generate.
#[derive(Clone, Debug)]
pub struct StandingLists {
    /// The number of rows of the registry.
    pub count: u64,
    /// The number of nonprofits to which rows belong.
    pub nonprofits: u64,
    pub seed: u64,
    /// The day of the files, as YYYY/MM/DD.
    pub as_of: String,
}

impl StandingLists {
    /// Writes the four files of the registry, the list of the tax board and the three files of the sanctions list.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let mut rows = RowGenerator::new();
        let mut number = 0;
        for (name, share, statuses) in FILES {
            let mut out = BufWriter::new(File::create(folder.join(name))?);
            out.write_all(HEADER.as_bytes())?;
            for _ in 0..self.count * share / 10_000 {
                number += 1;
                let mut rng = Rng::for_row(self.seed ^ 0x5a5a, number);
                out.write_all(self.row(&mut rows, &mut rng, number, statuses).as_bytes())?;
            }
            out.flush()?;
        }
        self.write_tax_board(folder, &mut rows)?;
        self.write_sanctions(folder, &mut rows)
    }

    /// Returns the EIN and the name of a nonprofit.
    fn nonprofit(&self, rows: &mut RowGenerator, rng: &mut Rng) -> (u64, String, (String, String)) {
        let row = rng.below(self.nonprofits.max(1));
        let mut of_row = Rng::for_row(self.seed, row);
        let ein = ein(row, self.nonprofits.max(1), &mut of_row);
        rows.write(ein, &mut of_row, &mut String::new());
        let (city, state) = rows.place();
        let place = (city.replace('"', ""), state.to_owned());
        (ein, rows.name().replace('"', ""), place)
    }

    fn row(&self, rows: &mut RowGenerator, rng: &mut Rng, number: u64, statuses: &[(&str, u64)]) -> String {
        let (ein, name, (city, state)) = self.nonprofit(rows, rng);
        let mut left = rng.below(10_000);
        let status = statuses
            .iter()
            .find(|(_, share)| {
                let is_found = left < *share;
                left = left.saturating_sub(*share);
                is_found
            })
            .map_or(statuses[0].0, |(status, _)| status);
        let ein = if rng.chance(4_000) {
            format!("{ein:09}")
        } else {
            String::new()
        };
        let state_number = if !ein.is_empty() || rng.chance(5_000) {
            format!("{:07}", 1_000_000 + number)
        } else {
            String::new()
        };
        let year = 1990 + rng.below(33);
        let (month, day) = (1 + rng.below(12), 1 + rng.below(28));
        let mut line = String::new();
        let _ = write!(
            line,
            "{status},CT{number:07},{ein},{state_number},\"{name}\",\"{city}\",{state},{year}/01/02,{year}/03/04,{year}/{month:02}/{day:02},{}\r\n",
            self.as_of
        );
        line
    }

    fn write_tax_board(&self, folder: &Path, rows: &mut RowGenerator) -> io::Result<()> {
        let mut out = BufWriter::new(File::create(folder.join("tax-board-revoked.csv"))?);
        out.write_all(b"Entity Number,Entity Name,City,Revoked Date,As-of Date\r\n")?;
        for row in 0..self.count / 20 {
            let mut rng = Rng::for_row(self.seed ^ 0xa5a5, row);
            // Every other row has a number of the registry.
            let number = 1_000_000
                + if row % 2 == 0 {
                    1 + rng.below(self.count.max(1))
                } else {
                    5_000_000 + row
                };
            let (_, name, (city, _)) = self.nonprofit(rows, &mut rng);
            let year = 2000 + rng.below(24);
            write!(
                out,
                "{number},\"{name}\",\"{city}\",06/15/{year},{}\r\n",
                self.as_of
            )?;
        }
        out.flush()
    }

    fn write_sanctions(&self, folder: &Path, rows: &mut RowGenerator) -> io::Result<()> {
        let create = |name| File::create(folder.join(name)).map(BufWriter::new);
        let (mut sdn, mut alt, mut add) = (create("sdn.csv")?, create("alt.csv")?, create("add.csv")?);
        for row in 1..=(self.count / 30).max(1) {
            let mut rng = Rng::for_row(self.seed ^ 0x0fac, row);
            let (_, name, (city, _)) = self.nonprofit(rows, &mut rng);
            // Most are people or have no like in the directory.
            let (kind, name) = match rng.below(100) {
                0 => ("-0-", name),
                1..=39 => (
                    "-0-",
                    format!(
                        "AL-{} {row} TRADING",
                        name.split(' ').next_back().unwrap_or_default()
                    ),
                ),
                _ => ("individual", format!("DOE {row}, Jo")),
            };
            let blanks = ",-0- ".repeat(8);
            write!(sdn, "{row},\"{name}\",{kind} ,\"SDGT] [FTO\"{blanks}\r\n")?;
            write!(alt, "{row},{row},\"aka\",\"{name} {row}\",-0- \r\n")?;
            write!(
                add,
                "{row},{row},\"1 Main Street\",\"{city}\",\"Elsewhere\",-0- \r\n"
            )?;
        }
        for out in [&mut sdn, &mut alt, &mut add] {
            out.write_all(&[0x1A])?;
            out.flush()?;
        }
        Ok(())
    }
}

//! Exports a batch: enters its payments in the books, and returns the file for the bank.
//!
//! Lines become `sent` before there is a file, a few hundred in one transaction, so whatever is in a file is in the books. The
//! file is stored in the last transaction, encrypted, and a second export returns it again. An export that was interrupted is
//! completed by the next one.

use super::mark::send;
use super::{Batch, BatchState, ExportFormat, Line, LineState, store};
use crate::disbursement::bank_account::BankAccount;
use crate::disbursement::nacha::{Header, Payment, reader, writer};
use crate::disbursement::payees::save::decrypt;
use crate::disbursement::payees::{self, Method};
use crate::disbursement::statements::announce::announce;
use crate::disbursement::{AchSettings, DisburseError, Disbursements};
use crate::ledger::batch::Batch as LedgerBatch;
use access::audit::{self, Action, Actor};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use platform::db::{StoreError, Tx};
use platform::mail::{Mailer, PreparedEmail};
use platform::public_url::PublicUrl;
use platform::secret::StoreSecret;
use platform::text::escape_formula;
use std::sync::Arc;

/// Lines that are sent in one transaction.
const MAX_LINES: usize = 250;
/// The purpose of the encryption of files.
const PURPOSE: &str = "disbursement file";

/// An exported file.
pub struct Exported {
    pub batch: Batch,
    /// Such as `causeway-batch-3.ach`.
    pub name: String,
    pub content: Vec<u8>,
    /// The payments in the file.
    pub lines: i64,
    /// `false` if it was exported before.
    pub is_new: bool,
    /// The lines in the file that were marked returned or void since, which must not be paid with it.
    pub withdrawn: Vec<i64>,
}

struct ExportJob {
    number: i64,
    format: ExportFormat,
    secret: StoreSecret,
    ach: AchSettings,
    time_zone: TimeZone,
    actor: Actor,
    now: i64,
    mailer: Mailer,
    public_url: PublicUrl,
    operator: String,
}

impl Disbursements<'_> {
    /// Exports the lines of an approved batch that have a method of the format. Exporting again returns the same bytes.
    pub async fn export(
        self,
        number: i64,
        format: ExportFormat,
        actor: Actor,
    ) -> Result<Exported, DisburseError> {
        let job = Arc::new(ExportJob {
            number,
            format,
            secret: self.secret.clone(),
            ach: self.settings.ach.clone(),
            time_zone: self.time_zone.clone(),
            actor,
            now: self.clock.millis(),
            mailer: self.mailer.clone(),
            public_url: self.public_url.clone(),
            operator: self.operator.to_owned(),
        });
        loop {
            let step = Arc::clone(&job);
            let work = self.recorder.run(move |batch| {
                let job = Arc::clone(&step);
                Box::pin(async move { job.send_some(batch).await })
            });
            let (is_done, emails) = work.await?;
            for email in emails {
                self.mailer.dispatch(email);
            }
            if is_done {
                break;
            }
        }
        let work = self.recorder.run(move |batch| {
            let job = Arc::clone(&job);
            Box::pin(async move { job.finish(batch).await })
        });
        work.await
    }
}

impl ExportJob {
    fn refuse<T>(error: DisburseError) -> Result<T, StoreError<DisburseError>> {
        Err(StoreError::Refused(error))
    }

    /// Sends the next lines. Returns whether none is left, and the emails to dispatch.
    async fn send_some(
        &self,
        ledger: &mut LedgerBatch,
    ) -> Result<(bool, Vec<PreparedEmail>), StoreError<DisburseError>> {
        let number = self.number;
        let Some(mut batch) = store::find_batch_in(&mut ledger.tx, number).await? else {
            return Self::refuse(DisburseError::NoSuchBatch { batch: number });
        };
        if batch.state == BatchState::Draft {
            return Self::refuse(DisburseError::NotApproved { batch: number });
        }
        if store::find_file(&mut ledger.tx, number, self.format)
            .await?
            .is_some()
        {
            return Ok((true, Vec::new()));
        }
        let lines = store::list_lines_in(&mut ledger.tx, number).await?;
        let lines: Vec<Line> = lines
            .into_iter()
            .filter(|line| self.format.includes(line.method) && line.state != LineState::Void)
            .collect();
        let queued: Vec<&Line> = lines
            .iter()
            .filter(|line| line.state == LineState::Queued)
            .collect();
        if lines.is_empty() {
            let format = self.format.as_str();
            return Self::refuse(DisburseError::NothingToExport {
                batch: number,
                format,
            });
        }
        if self.format == ExportFormat::Nacha {
            writer::admit_settings(&self.ach).map_err(StoreError::Refused)?;
        }
        // Every line is verified before the first one is sent, so that a batch is not left half exported.
        let verified = if batch.state == BatchState::Approved {
            queued.len()
        } else {
            MAX_LINES
        };
        for line in queued.iter().take(verified) {
            self.admit(ledger, line, batch.mode).await?;
        }
        let is_done = queued.len() <= MAX_LINES;
        let mut emails = Vec::new();
        for line in queued.into_iter().take(MAX_LINES) {
            let mut line = line.clone();
            send(ledger, &mut line, batch.mode, self.now).await?;
            store::update_line(&mut ledger.tx, &line).await?;
            let sender = (&self.secret, &self.public_url, self.operator.as_str());
            if let Some(email) = announce(&mut ledger.tx, sender, &line, batch.mode).await? {
                emails.push(self.mailer.prepare(&mut ledger.tx, email).await?);
            }
        }
        if batch.state == BatchState::Approved {
            (batch.state, batch.exported_at) = (BatchState::Exported, Some(self.now));
            store::update_batch(&mut ledger.tx, &batch).await?;
        }
        Ok((is_done, emails))
    }

    /// Refuses a line whose payee has changed, or that pays more than is owed.
    async fn admit(
        &self,
        ledger: &mut LedgerBatch,
        line: &Line,
        mode: crate::ledger::entry::Mode,
    ) -> Result<(), StoreError<DisburseError>> {
        let (batch, number) = (line.batch, line.number);
        let found = payees::store::find_in(&mut ledger.tx, line.nonprofit).await?;
        match found {
            Some((payee, encrypted)) if payee.version == line.payee_version => {
                let bank = encrypted.and_then(|bytes| decrypt(&self.secret, line.nonprofit, &bytes));
                if line.method == Method::Ach && bank.is_none() {
                    return Self::refuse(DisburseError::Unreadable { batch, line: number });
                }
            }
            _ => return Self::refuse(DisburseError::PayeeChanged { batch, line: number }),
        }
        let owed = ledger.find_owed(mode, line.nonprofit).await?;
        if line.amount > owed {
            return Self::refuse(DisburseError::MoreThanOwed {
                batch,
                line: number,
                amount: line.amount,
                owed,
            });
        }
        Ok(())
    }

    /// Stores the file, or finds the one that was stored.
    async fn finish(&self, ledger: &mut LedgerBatch) -> Result<Exported, StoreError<DisburseError>> {
        let (tx, number) = (&mut ledger.tx, self.number);
        let Some(batch) = store::find_batch_in(tx, number).await? else {
            return Self::refuse(DisburseError::NoSuchBatch { batch: number });
        };
        let lines = store::list_lines_in(tx, number).await?;
        let context = format!("{number} {}", self.format.as_str());
        let stored = store::find_file(tx, number, self.format).await?;
        let is_new = stored.is_none();
        let (content, count) = if let Some((encrypted, count)) = stored {
            let decrypted = self.secret.decrypt(PURPOSE, context.as_bytes(), &encrypted);
            let unreadable = DisburseError::Unreadable {
                batch: number,
                line: 1,
            };
            (decrypted.ok_or(StoreError::Refused(unreadable))?, count)
        } else {
            let (content, count) = self.build(tx, &batch, &lines).await?;
            let encrypted = self.secret.encrypt(PURPOSE, context.as_bytes(), &content);
            store::insert_file(tx, (number, self.format), (encrypted, count), self.now).await?;
            (content, count)
        };
        let action = Action::new(
            self.actor,
            "disbursement export",
            &number.to_string(),
            self.format.as_str(),
        );
        audit::store::record(tx, &action, self.now).await?;
        let is_withdrawn = |line: &&Line| {
            self.format.includes(line.method)
                && line.sent_at.is_some()
                && matches!(line.state, LineState::Returned | LineState::Void)
        };
        let extension = match self.format {
            ExportFormat::Nacha => "batch-{}.ach",
            ExportFormat::Checks => "batch-{}-checks.csv",
            ExportFormat::Csv => "batch-{}.csv",
        };
        let test = if batch.mode.is_test() { "test-" } else { "" };
        Ok(Exported {
            name: format!("causeway-{test}{}", extension.replace("{}", &number.to_string())),
            withdrawn: lines
                .iter()
                .filter(is_withdrawn)
                .map(|line| line.number)
                .collect(),
            batch,
            content,
            lines: count,
            is_new,
        })
    }

    /// Builds the file of the lines that are sent. Returns it with their number.
    async fn build(
        &self,
        tx: &mut Tx,
        batch: &Batch,
        lines: &[Line],
    ) -> Result<(Vec<u8>, i64), StoreError<DisburseError>> {
        let is_included = |line: &&Line| {
            self.format.includes(line.method) && matches!(line.state, LineState::Sent | LineState::Paid)
        };
        let included: Vec<&Line> = lines.iter().filter(is_included).collect();
        if included.is_empty() {
            let format = self.format.as_str();
            return Self::refuse(DisburseError::NothingToExport {
                batch: batch.number,
                format,
            });
        }
        let mut accounts = Vec::with_capacity(included.len());
        for line in &included {
            let bank = match line.method {
                Method::Check => None,
                Method::Ach => Some(self.find_account(tx, line).await?),
            };
            accounts.push(bank);
        }
        let count = included.len() as i64;
        if self.format == ExportFormat::Nacha {
            let payments: Vec<Payment<'_>> = included
                .iter()
                .zip(&accounts)
                .filter_map(|(line, bank)| {
                    Some(Payment {
                        account: bank.as_ref()?,
                        amount: line.amount,
                        id: line.external_id(),
                        name: &line.payee_name,
                    })
                })
                .collect();
            let sent_at = batch.exported_at.unwrap_or(self.now);
            let time = Timestamp::from_millisecond(sent_at).unwrap_or_default();
            let time = time.to_zoned(self.time_zone.clone()).datetime();
            let header = Header {
                settings: &self.ach,
                created: time,
                number: batch.number,
                is_test: batch.mode.is_test(),
            };
            let file = writer::write(&header, &payments);
            let verified = reader::read(&file).and_then(|read| read.compare(&payments));
            return match verified {
                Ok(()) => Ok((file.into_bytes(), count)),
                Err(problem) => Self::refuse(DisburseError::InvalidFile {
                    batch: batch.number,
                    problem,
                }),
            };
        }
        Ok((csv_file(&included, &accounts).into_bytes(), count))
    }

    /// Finds the bank account of a line. After it was sent, the payee may have changed; the line still says which account it was for.
    async fn find_account(&self, tx: &mut Tx, line: &Line) -> Result<BankAccount, StoreError<DisburseError>> {
        let (batch, number) = (line.batch, line.number);
        let found = payees::store::find_in(tx, line.nonprofit).await?;
        match found {
            Some((payee, encrypted)) if payee.version == line.payee_version => {
                let bank = encrypted.and_then(|bytes| decrypt(&self.secret, line.nonprofit, &bytes));
                bank.ok_or(StoreError::Refused(DisburseError::Unreadable {
                    batch,
                    line: number,
                }))
            }
            _ => Self::refuse(DisburseError::PayeeChanged { batch, line: number }),
        }
    }
}

/// Writes a list of payments as CSV (RFC 4180). No cell is a formula.
fn csv_file(lines: &[&Line], accounts: &[Option<BankAccount>]) -> String {
    let mut text = String::from(
        "batch,line,payee,method,amount,routing_number,account_type,account_number,street,city,state,zip,memo\r\n",
    );
    for (line, bank) in lines.iter().zip(accounts) {
        let (routing, kind, number) = bank.as_ref().map_or(("", "", ""), |bank| {
            (bank.routing.as_str(), bank.kind.as_str(), bank.number())
        });
        let cents = line.amount.get();
        let cells = [
            line.batch.to_string(),
            line.number.to_string(),
            line.payee_name.clone(),
            line.method.as_str().to_owned(),
            format!("{}.{:02}", cents / 100, cents % 100),
            routing.to_owned(),
            kind.to_owned(),
            number.to_owned(),
            line.address.street.clone(),
            line.address.city.clone(),
            line.address.state.clone(),
            line.address.zip.clone(),
            format!("Donations {}", line.external_id()),
        ];
        let cells = cells.map(|cell| format!("\"{}\"", escape_formula(&cell).replace('"', "\"\"")));
        text.push_str(&cells.join(","));
        text.push_str("\r\n");
    }
    text
}

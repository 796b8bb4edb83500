//! Everything that survives a restart: objects, balance transactions, jobs, deliveries and saved responses.
//!
//! All of it is in memory. With a state file, each request or job appends its changes as one line, so a process that is
//! killed has done all of a request or nothing. A line that was cut off by a kill is ignored, and the file is rewritten
//! when it is opened.

use crate::records::{BalanceTransaction, Delivery, Record, SavedResponse, ScheduledJob, Scope};
use crate::tuning::Tuning;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::Path;

/// One change, as the state file has it.
#[derive(Serialize, Deserialize)]
enum Change {
    Object(Box<Record>),
    Remove(String),
    Transaction(BalanceTransaction),
    Job(u64, Option<ScheduledJob>),
    Delivery(u64, Option<Delivery>),
    Response(String, SavedResponse),
    ClockOffset(i64),
    Tuning(Tuning),
    Number(u64),
}

#[derive(Default)]
pub(crate) struct Store {
    records: HashMap<String, Record>,
    /// The IDs of the objects of a kind, by number.
    lists: HashMap<(Scope, String), BTreeMap<u64, String>>,
    transactions: Vec<BalanceTransaction>,
    transaction_index: HashMap<String, usize>,
    jobs: BTreeMap<u64, ScheduledJob>,
    /// Clock, time and number of each job.
    job_times: BTreeSet<(Option<String>, i64, u64)>,
    deliveries: BTreeMap<u64, Delivery>,
    /// Time and number of each delivery.
    delivery_times: BTreeSet<(i64, u64)>,
    responses: HashMap<String, SavedResponse>,
    clock_offset: i64,
    tuning: Tuning,
    last_number: u64,
    file: Option<File>,
    changes: Vec<Change>,
}

impl Store {
    /// Opens a state file, or creates it.
    pub(crate) fn open(path: &Path) -> Result<Store> {
        let mut store = Store::default();
        if path.exists() {
            let text = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
            for line in text.split_inclusive(|byte| *byte == b'\n') {
                // Only the last line can lack its end or be damaged.
                let Ok(changes) = serde_json::from_slice::<Vec<Change>>(line) else {
                    break;
                };
                for change in changes {
                    store.apply(change);
                }
            }
        }
        let rewritten = path.with_extension("new");
        let mut file = BufWriter::new(File::create(&rewritten)?);
        for change in store.all() {
            serde_json::to_writer(&mut file, &[change])?;
            file.write_all(b"\n")?;
        }
        file.flush()?;
        fs::rename(&rewritten, path)?;
        store.file = Some(OpenOptions::new().append(true).open(path)?);
        Ok(store)
    }

    /// Returns the changes that create the current state.
    fn all(&self) -> Vec<Change> {
        let mut records: Vec<&Record> = self.records.values().collect();
        records.sort_by_key(|record| record.number);
        let objects = records
            .into_iter()
            .cloned()
            .map(|record| Change::Object(Box::new(record)));
        let transactions = self.transactions.iter().cloned().map(Change::Transaction);
        let jobs = self
            .jobs
            .iter()
            .map(|(number, job)| Change::Job(*number, Some(job.clone())));
        let deliveries = self.deliveries.iter();
        let deliveries =
            deliveries.map(|(number, delivery)| Change::Delivery(*number, Some(delivery.clone())));
        let responses = self.responses.iter();
        let responses = responses.map(|(key, response)| Change::Response(key.clone(), response.clone()));
        objects
            .chain(transactions)
            .chain(jobs)
            .chain(deliveries)
            .chain(responses)
            .chain([
                Change::ClockOffset(self.clock_offset),
                Change::Tuning(self.tuning.clone()),
                Change::Number(self.last_number),
            ])
            .collect()
    }

    fn apply(&mut self, change: Change) {
        match change {
            Change::Object(record) => {
                self.last_number = self.last_number.max(record.number);
                let id = record.value["id"].as_str().unwrap_or_default().to_owned();
                let list = self
                    .lists
                    .entry((record.scope.clone(), record.kind.clone()))
                    .or_default();
                list.insert(record.number, id.clone());
                self.records.insert(id, *record);
            }
            Change::Remove(id) => {
                if let Some(record) = self.records.remove(&id)
                    && let Some(list) = self.lists.get_mut(&(record.scope, record.kind))
                {
                    list.remove(&record.number);
                }
            }
            Change::Transaction(transaction) => {
                if let Some(index) = self.transaction_index.get(&transaction.id) {
                    self.transactions[*index] = transaction;
                } else {
                    self.transaction_index
                        .insert(transaction.id.clone(), self.transactions.len());
                    self.transactions.push(transaction);
                }
            }
            Change::Job(number, Some(job)) => {
                self.last_number = self.last_number.max(number);
                self.job_times.insert((job.clock.clone(), job.due, number));
                self.jobs.insert(number, job);
            }
            Change::Job(number, None) => {
                if let Some(job) = self.jobs.remove(&number) {
                    self.job_times.remove(&(job.clock, job.due, number));
                }
            }
            Change::Delivery(number, Some(delivery)) => {
                self.last_number = self.last_number.max(number);
                self.delivery_times.insert((delivery.due, number));
                if let Some(before) = self.deliveries.insert(number, delivery.clone())
                    && before.due != delivery.due
                {
                    self.delivery_times.remove(&(before.due, number));
                }
            }
            Change::Delivery(number, None) => {
                if let Some(delivery) = self.deliveries.remove(&number) {
                    self.delivery_times.remove(&(delivery.due, number));
                }
            }
            Change::Response(key, response) => {
                self.responses.insert(key, response);
            }
            Change::ClockOffset(offset) => self.clock_offset = offset,
            Change::Tuning(tuning) => self.tuning = tuning,
            Change::Number(number) => self.last_number = self.last_number.max(number),
        }
    }

    /// Writes the changes since the last call to the state file. A store that cannot be written ends the process: going
    /// on would forget charges.
    pub(crate) fn commit(&mut self) {
        let changes = std::mem::take(&mut self.changes);
        if let Some(file) = &mut self.file
            && !changes.is_empty()
        {
            let mut line = serde_json::to_vec(&changes).expect("changes are JSON");
            line.push(b'\n');
            file.write_all(&line).expect("the state file can be written");
        }
    }

    fn note(&mut self, change: impl FnOnce() -> Change) {
        if self.file.is_some() {
            let change = change();
            self.changes.push(change);
        }
    }

    pub(crate) fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    // Objects

    /// Adds an object. Its `id` and `object` fields say where it belongs.
    pub(crate) fn insert(&mut self, scope: &Scope, value: Value, hidden: Value) {
        let record = Record {
            scope: scope.clone(),
            kind: value["object"].as_str().unwrap_or_default().to_owned(),
            value,
            hidden,
            number: self.next_number(),
        };
        self.note(|| Change::Object(Box::new(record.clone())));
        self.apply(Change::Object(Box::new(record)));
    }

    /// Returns an object of any scope.
    pub(crate) fn record(&self, id: &str) -> Option<&Record> {
        self.records.get(id)
    }

    /// Changes an object and returns what the closure returns, or `None` if there is no such object.
    pub(crate) fn change<T>(&mut self, id: &str, change: impl FnOnce(&mut Record) -> T) -> Option<T> {
        let record = self.records.get_mut(id)?;
        let result = change(record);
        let record = record.clone();
        self.note(|| Change::Object(Box::new(record)));
        Some(result)
    }

    pub(crate) fn remove(&mut self, id: &str) {
        self.note(|| Change::Remove(id.to_owned()));
        self.apply(Change::Remove(id.to_owned()));
    }

    /// Returns the objects of a kind, latest first, after the one with the given ID.
    pub(crate) fn list<'a>(
        &'a self,
        scope: &Scope,
        kind: &str,
        after: Option<&str>,
    ) -> impl Iterator<Item = &'a Record> {
        let end = after
            .and_then(|id| self.records.get(id))
            .map_or(u64::MAX, |record| record.number);
        let list = self.lists.get(&(scope.clone(), kind.to_owned()));
        list.into_iter()
            .flat_map(move |list| list.range(..end).rev())
            .filter_map(|(_, id)| self.records.get(id))
    }

    /// Returns the objects of a kind in all scopes, oldest first.
    pub(crate) fn all_of(&self, kind: &str) -> Vec<&Record> {
        let mut records: Vec<&Record> = self
            .records
            .values()
            .filter(|record| record.kind == kind)
            .collect();
        records.sort_by_key(|record| record.number);
        records
    }

    // Balance transactions

    pub(crate) fn put_transaction(&mut self, transaction: BalanceTransaction) {
        self.note(|| Change::Transaction(transaction.clone()));
        self.apply(Change::Transaction(transaction));
    }

    pub(crate) fn transaction(&self, id: &str) -> Option<&BalanceTransaction> {
        self.transaction_index
            .get(id)
            .map(|index| &self.transactions[*index])
    }

    /// Returns the balance transactions, latest first, after the one with the given ID.
    pub(crate) fn transactions(&self, after: Option<&str>) -> impl Iterator<Item = &BalanceTransaction> {
        let end = after.and_then(|id| self.transaction_index.get(id)).copied();
        self.transactions[..end.unwrap_or(self.transactions.len())]
            .iter()
            .rev()
    }

    // Jobs and deliveries

    pub(crate) fn add_job(&mut self, job: ScheduledJob) {
        let number = self.next_number();
        self.note(|| Change::Job(number, Some(job.clone())));
        self.apply(Change::Job(number, Some(job)));
    }

    /// Returns the first job of a clock that is due at a time.
    pub(crate) fn next_job(&self, clock: Option<&str>, until: i64) -> Option<(u64, &ScheduledJob)> {
        let clock = clock.map(str::to_owned);
        let start = (clock.clone(), i64::MIN, 0);
        let (_, _, number) = self.job_times.range(start..=(clock, until, u64::MAX)).next()?;
        Some((*number, self.jobs.get(number)?))
    }

    pub(crate) fn jobs(&self) -> &BTreeMap<u64, ScheduledJob> {
        &self.jobs
    }

    pub(crate) fn remove_job(&mut self, number: u64) {
        self.note(|| Change::Job(number, None));
        self.apply(Change::Job(number, None));
    }

    pub(crate) fn put_delivery(&mut self, number: u64, delivery: Delivery) {
        self.note(|| Change::Delivery(number, Some(delivery.clone())));
        self.apply(Change::Delivery(number, Some(delivery)));
    }

    /// Returns the deliveries that are due at a time, in order.
    pub(crate) fn due_deliveries(&self, now: i64) -> impl Iterator<Item = u64> {
        self.delivery_times
            .range(..=(now, u64::MAX))
            .map(|(_, number)| *number)
    }

    pub(crate) fn deliveries(&self) -> &BTreeMap<u64, Delivery> {
        &self.deliveries
    }

    pub(crate) fn remove_delivery(&mut self, number: u64) {
        self.note(|| Change::Delivery(number, None));
        self.apply(Change::Delivery(number, None));
    }

    // Saved responses

    pub(crate) fn response(&self, key: &str) -> Option<&SavedResponse> {
        self.responses.get(key)
    }

    pub(crate) fn save_response(&mut self, key: &str, response: SavedResponse) {
        self.note(|| Change::Response(key.to_owned(), response.clone()));
        self.apply(Change::Response(key.to_owned(), response));
    }

    // The clock

    /// How many seconds the clock of the simulator is ahead of the real one.
    pub(crate) fn clock_offset(&self) -> i64 {
        self.clock_offset
    }

    pub(crate) fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    pub(crate) fn set_tuning(&mut self, tuning: Tuning) {
        self.note(|| Change::Tuning(tuning.clone()));
        self.apply(Change::Tuning(tuning));
    }

    pub(crate) fn set_clock_offset(&mut self, offset: i64) {
        self.note(|| Change::ClockOffset(offset));
        self.apply(Change::ClockOffset(offset));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_state_file_without_its_last_bytes_has_all_complete_requests() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let scope = Scope::default();
        let mut store = Store::open(&path).unwrap();
        for id in ["cus_1", "cus_2", "cus_3"] {
            store.insert(&scope, json!({"id": id, "object": "customer"}), Value::Null);
            store.set_clock_offset(store.clock_offset() + 10);
            store.commit();
        }
        store.insert(&scope, json!({"id": "cus_4", "object": "customer"}), Value::Null);
        drop(store);
        let text = fs::read(&path).unwrap();
        fs::write(&path, &text[..text.len() - 5]).unwrap();
        for _ in 0..2 {
            let store = Store::open(&path).unwrap();
            let ids: Vec<&str> = store
                .list(&scope, "customer", None)
                .map(|record| record.value["id"].as_str().unwrap())
                .collect();
            assert_eq!(
                ids,
                ["cus_2", "cus_1"],
                "neither the cut line nor the change without a commit"
            );
            assert_eq!(store.clock_offset(), 20);
        }
    }
}

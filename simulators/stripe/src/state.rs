//! The state of the simulator, and what all operations do with it: find objects, change them, send events, tell the time.

use crate::error::{ApiError, Result};
use crate::faults::{FaultKind, Faults};
use crate::ids::new_id;
use crate::json::merge;
use crate::params::Params;
use crate::records::{Delivery, Job, Record, ScheduledJob, Scope};
use crate::store::Store;
use crate::tuning::Tuning;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// The version of the API whose objects the simulator shows.
pub const API_VERSION: &str = "2026-10-28.endive";

/// The time of a day in seconds.
pub(crate) const DAY: i64 = 86_400;

/// Where events go.
#[derive(Clone, Debug, Default)]
pub(crate) struct Endpoint {
    /// The URL that gets all events, or `None` to send none.
    pub(crate) url: Option<String>,
    pub(crate) secret: String,
    /// The secret for events of connected accounts.
    pub(crate) connect_secret: String,
}

/// A request or a job: its account, mode and parameters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Call {
    pub(crate) scope: Scope,
    pub(crate) params: Params,
    /// The ID of the request; a job has none.
    pub(crate) request: Option<String>,
    pub(crate) idempotency_key: Option<String>,
    /// Whether the request asks for [`API_VERSION`]. Others may use parameters that this version no longer has.
    pub(crate) is_pinned: bool,
}

impl Call {
    /// Returns a call that works without a request.
    pub(crate) fn internal(scope: &Scope) -> Call {
        Call {
            scope: scope.clone(),
            ..Call::default()
        }
    }
}

pub(crate) struct State {
    pub(crate) store: Store,
    pub(crate) faults: Faults,
    pub(crate) endpoint: Endpoint,
    /// Where the simulator is reached, for the URLs of hosted pages.
    pub(crate) base_url: String,
    /// The time of the job or test clock that runs at the moment, in milliseconds.
    frozen: Option<i64>,
}

impl State {
    pub(crate) fn new(store: Store, endpoint: Endpoint, base_url: String) -> State {
        State {
            store,
            faults: Faults::default(),
            endpoint,
            base_url,
            frozen: None,
        }
    }

    pub(crate) fn tuning(&self) -> &Tuning {
        self.store.tuning()
    }

    // Time

    /// Returns the time in seconds.
    pub(crate) fn now(&self) -> i64 {
        self.now_millis().div_euclid(1_000)
    }

    pub(crate) fn now_millis(&self) -> i64 {
        self.frozen.unwrap_or_else(|| self.clock_millis())
    }

    /// Returns the time of the simulator, whatever runs at the moment.
    pub(crate) fn clock_millis(&self) -> i64 {
        real_millis() + self.store.clock_offset() * 1_000
    }

    /// Runs an operation at another time.
    pub(crate) fn at<T>(&mut self, millis: i64, run: impl FnOnce(&mut State) -> T) -> T {
        let before = self.frozen.replace(millis);
        let result = run(self);
        self.frozen = before;
        result
    }

    /// Runs an operation at the time of a test clock, if there is one.
    pub(crate) fn at_clock<T>(&mut self, clock: Option<&str>, run: impl FnOnce(&mut State) -> T) -> T {
        let time = clock.and_then(|clock| self.store.record(clock)?.value["frozen_time"].as_i64());
        match time {
            Some(time) => self.at(time * 1_000, run),
            None => run(self),
        }
    }

    /// Schedules a job in some milliseconds.
    pub(crate) fn schedule(&mut self, scope: &Scope, clock: Option<&str>, delay: i64, job: Job) {
        let due = self.now_millis() + delay;
        self.store.add_job(ScheduledJob {
            scope: scope.clone(),
            clock: clock.map(str::to_owned),
            due,
            job,
        });
    }

    /// Schedules a job in some milliseconds of the simulator's clock, also while a test clock runs.
    pub(crate) fn schedule_now(&mut self, scope: &Scope, delay: i64, job: Job) {
        let now = self.clock_millis();
        self.at(now, |state| state.schedule(scope, None, delay, job));
    }

    /// Removes all jobs for which the closure returns true.
    pub(crate) fn unschedule(&mut self, is_wanted: impl Fn(&Job) -> bool) {
        let jobs = self.store.jobs().iter();
        let numbers: Vec<u64> = jobs
            .filter(|(_, scheduled)| is_wanted(&scheduled.job))
            .map(|(number, _)| *number)
            .collect();
        for number in numbers {
            self.store.remove_job(number);
        }
    }

    // Objects

    /// Returns an object of the scope, or the error of the API.
    pub(crate) fn find(&self, scope: &Scope, kind: &str, id: &str) -> Result<&Value> {
        Ok(&self.find_record(scope, kind, id)?.value)
    }

    pub(crate) fn find_record(&self, scope: &Scope, kind: &str, id: &str) -> Result<&Record> {
        let name = kind.rsplit('.').next().unwrap_or(kind);
        let Some(record) = self.store.record(id).filter(|record| record.kind == kind) else {
            return Err(ApiError::no_such(name, id));
        };
        if record.scope.account != scope.account {
            return Err(ApiError::no_such(name, id));
        }
        if record.scope.livemode != scope.livemode {
            let (object, key) = if scope.livemode {
                ("test", "live")
            } else {
                ("live", "test")
            };
            let error = ApiError::no_such(name, id);
            let message = format!(
                "{}; a similar object exists in {object} mode, but a {key} mode key was used to make this request.",
                error.message()
            );
            return Err(error.with("message", message));
        }
        Ok(record)
    }

    /// Returns an object that another object refers to. A broken reference is an error of the simulator.
    pub(crate) fn object(&self, id: &str) -> Value {
        self.store
            .record(id)
            .map(|record| record.value.clone())
            .unwrap_or_default()
    }

    pub(crate) fn hidden(&self, id: &str) -> Value {
        self.store
            .record(id)
            .map(|record| record.hidden.clone())
            .unwrap_or_default()
    }

    /// Sets fields that the API does not show.
    pub(crate) fn hide(&mut self, id: &str, changes: &Value) {
        self.store.change(id, |record| {
            if !record.hidden.is_object() {
                record.hidden = json!({});
            }
            merge(&mut record.hidden, changes);
        });
    }

    /// Adds an object and sends an event about it, if one is named.
    pub(crate) fn create(&mut self, call: &Call, value: Value, hidden: Value, event: Option<&str>) -> Value {
        self.store.insert(&call.scope, value.clone(), hidden);
        if let Some(event) = event {
            self.emit(call, event, &value, None);
        }
        value
    }

    /// Changes fields of an object and sends an event about it, if one is named.
    pub(crate) fn update(&mut self, call: &Call, id: &str, changes: &Value, event: Option<&str>) -> Value {
        let changed = self.store.change(id, |record| {
            let previous = merge(&mut record.value, changes);
            (record.value.clone(), previous)
        });
        let (value, previous) = changed.unwrap_or_default();
        if let Some(event) = event {
            let previous = event.ends_with("updated").then_some(previous);
            self.emit(call, event, &value, previous);
        }
        value
    }

    // Events

    /// Stores an event with a snapshot of its object, and queues it for the webhook endpoint.
    pub(crate) fn emit(
        &mut self,
        call: &Call,
        kind: &str,
        object: &Value,
        previous: Option<Map<String, Value>>,
    ) {
        let mut data = json!({ "object": object });
        if let Some(previous) = previous {
            data["previous_attributes"] = Value::Object(previous);
        }
        let id = new_id("evt");
        let mut event = json!({
            "id": id,
            "object": "event",
            "api_version": API_VERSION,
            "created": self.now(),
            "data": data,
            "livemode": call.scope.livemode,
            "pending_webhooks": i32::from(self.endpoint.url.is_some()),
            "request": {"id": call.request, "idempotency_key": call.idempotency_key},
            "type": kind,
        });
        if let Some(account) = &call.scope.account {
            event["account"] = account.as_str().into();
        }
        self.store.insert(&call.scope, event, Value::Null);
        if self.endpoint.url.is_none() {
            return;
        }
        let mut copies = 1;
        let mut delay = 0.0;
        for fault in self.faults.of_event(kind) {
            match fault.kind {
                FaultKind::DropEvent => copies = 0,
                FaultKind::DoubleEvent => copies *= 2,
                FaultKind::DelayEvent => delay += fault.seconds,
                _ => delay += self.faults.random() * fault.seconds,
            }
        }
        for _ in 0..copies {
            self.deliver(&id, delay);
        }
    }

    /// Queues an event for delivery in some seconds.
    pub(crate) fn deliver(&mut self, event: &str, seconds: f64) {
        let number = self.store.next_number();
        let delivery = Delivery {
            event: event.to_owned(),
            failures: 0,
            due: real_millis() + (seconds * 1_000.0) as i64,
        };
        self.store.put_delivery(number, delivery);
    }
}

/// Returns the real time in milliseconds.
pub(crate) fn real_millis() -> i64 {
    Timestamp::now().as_millisecond()
}

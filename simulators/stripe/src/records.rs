//! What the store keeps: objects, balance transactions, scheduled jobs, deliveries and saved responses.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The account and mode that an object belongs to. Requests see only objects of their own scope.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Scope {
    /// A connected account, or `None` for the platform.
    pub(crate) account: Option<String>,
    pub(crate) livemode: bool,
}

/// A stored object.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) scope: Scope,
    /// The value of `object`, such as `charge`.
    pub(crate) kind: String,
    /// The object as the API shows it.
    pub(crate) value: Value,
    /// What the simulator knows about it and the API does not show.
    pub(crate) hidden: Value,
    /// Lists have the latest number first.
    pub(crate) number: u64,
}

/// The response to a request with an idempotency key.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SavedResponse {
    /// A hash of the operation and its parameters.
    pub(crate) fingerprint: String,
    pub(crate) request: String,
    pub(crate) status: u16,
    pub(crate) body: Value,
    pub(crate) created: i64,
}

/// A change of the balance.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BalanceTransaction {
    pub(crate) id: String,
    pub(crate) scope: Scope,
    pub(crate) kind: String,
    pub(crate) category: String,
    pub(crate) amount: i64,
    pub(crate) fee: i64,
    pub(crate) currency: String,
    pub(crate) description: Option<String>,
    pub(crate) source: String,
    pub(crate) created: i64,
    pub(crate) available_on: i64,
    /// The automatic payout that contains it.
    pub(crate) payout: Option<String>,
}

impl BalanceTransaction {
    pub(crate) fn net(&self) -> i64 {
        self.amount - self.fee
    }

    /// Returns the object of the API.
    pub(crate) fn show(&self, now: i64) -> Value {
        let fee_details = if self.fee == 0 {
            json!([])
        } else {
            let description = if self.kind == "adjustment" {
                "Dispute fee"
            } else {
                "Stripe processing fees"
            };
            json!([{
                "amount": self.fee,
                "application": null,
                "currency": self.currency,
                "description": description,
                "type": "stripe_fee",
            }])
        };
        json!({
            "id": self.id,
            "object": "balance_transaction",
            "amount": self.amount,
            "available_on": self.available_on,
            "balance_type": "payments",
            "created": self.created,
            "currency": self.currency,
            "description": self.description,
            "exchange_rate": null,
            "fee": self.fee,
            "fee_details": fee_details,
            "net": self.net(),
            "reporting_category": self.category,
            "source": self.source,
            "status": if self.available_on <= now { "available" } else { "pending" },
            "type": self.kind,
        })
    }
}

/// Something that happens later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Job {
    /// The balance transaction of a charge becomes known.
    PostTransaction {
        charge: String,
    },
    /// The bank confirms or refuses a debit.
    FinishDebit {
        charge: String,
    },
    /// A pending refund succeeds.
    FinishRefund {
        refund: String,
    },
    FailRefund {
        refund: String,
    },
    ExpireSession {
        session: String,
    },
    /// The period of a subscription ends.
    Renew {
        subscription: String,
    },
    EndTrial {
        subscription: String,
    },
    /// `pause_collection[resumes_at]` is reached.
    ResumeCollection {
        subscription: String,
    },
    FinalizeInvoice {
        invoice: String,
    },
    RetryInvoice {
        invoice: String,
    },
    PayPayout {
        payout: String,
    },
}

/// A job and the time at which it runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ScheduledJob {
    pub(crate) scope: Scope,
    /// A test clock, or `None` for the clock of the simulator.
    pub(crate) clock: Option<String>,
    /// Milliseconds of that clock.
    pub(crate) due: i64,
    pub(crate) job: Job,
}

/// An event on its way to the webhook endpoint.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Delivery {
    pub(crate) event: String,
    /// The number of attempts that failed.
    pub(crate) failures: u32,
    /// Milliseconds of the real clock.
    pub(crate) due: i64,
}

//! Month-end and year-end reports: what was owed at the beginning, what came in and what was paid, for each nonprofit and in
//! total. The closing balances are those of `causeway ledger export`.

mod store;

use super::statements::{csv_row, decimal};
use super::{DisburseError, Disbursements};
use crate::ledger::entry::Kind;
use platform::ids::NonprofitId;
use platform::money::{AmountOverflow, Cents};
use std::collections::BTreeMap;

const DAY_MILLIS: f64 = 86_400_000.0;

/// The amounts of a nonprofit in a period. What it gets is above zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amounts {
    pub opening: Cents,
    /// Its shares of settled donations, before fees.
    pub donations: Cents,
    pub donation_count: i64,
    pub fees: Cents,
    pub refunds: Cents,
    pub disputes: Cents,
    pub reassigned: Cents,
    /// What was sent, and what came back.
    pub paid: Cents,
    pub returned: Cents,
    pub closing: Cents,
}

impl Amounts {
    /// Adds what entries of a kind owe, of which `fee` was deducted.
    fn add(&mut self, moved: &store::Moved) -> Result<(), AmountOverflow> {
        let (amount, fee) = (moved.amount, moved.fee);
        let (field, amount) = match moved.kind {
            Kind::Donation => {
                self.donation_count += moved.count;
                self.fees = self.fees.plus(fee.reversed())?;
                (&mut self.donations, amount.plus(fee)?)
            }
            Kind::Refund | Kind::RefundFailed => (&mut self.refunds, amount),
            Kind::Dispute | Kind::DisputeWon => (&mut self.disputes, amount),
            Kind::Disbursement => (&mut self.paid, amount),
            Kind::DisbursementReturned => (&mut self.returned, amount),
            _ => (&mut self.reassigned, amount),
        };
        *field = field.plus(amount)?;
        self.closing = self.closing.plus(moved.amount)?;
        Ok(())
    }

    fn plus(self, other: &Amounts) -> Result<Amounts, AmountOverflow> {
        Ok(Amounts {
            opening: self.opening.plus(other.opening)?,
            donations: self.donations.plus(other.donations)?,
            donation_count: self.donation_count + other.donation_count,
            fees: self.fees.plus(other.fees)?,
            refunds: self.refunds.plus(other.refunds)?,
            disputes: self.disputes.plus(other.disputes)?,
            reassigned: self.reassigned.plus(other.reassigned)?,
            paid: self.paid.plus(other.paid)?,
            returned: self.returned.plus(other.returned)?,
            closing: self.closing.plus(other.closing)?,
        })
    }
}

/// A nonprofit in a report.
#[derive(Clone, Debug)]
pub struct ReportRow {
    pub nonprofit: NonprofitId,
    pub name: String,
    pub ein: Option<String>,
    /// Two letters; empty if unknown.
    pub state: String,
    pub amounts: Amounts,
    /// How many days its donations waited on average until they were sent, of those sent in the period.
    pub average_days: Option<f64>,
}

/// A report about a period.
#[derive(Clone, Debug)]
pub struct Report {
    /// The period, in milliseconds: from the first, and before the second.
    pub period: (i64, i64),
    pub rows: Vec<ReportRow>,
    pub totals: Amounts,
    pub average_days: Option<f64>,
    /// The number and the amount of donations for nonprofits in each state.
    pub states: BTreeMap<String, (i64, Cents)>,
}

impl Report {
    /// Writes the rows and the totals as CSV.
    pub fn to_csv(&self) -> String {
        let mut text = String::from(
            "nonprofit,ein,name,state,opening,donations,donation_count,fees,refunds,disputes,reassigned,paid,returned,closing,average_days_until_sent\r\n",
        );
        let row = |names: [&str; 4], amounts: &Amounts, days: Option<f64>| {
            let mut cells: Vec<String> = names.map(str::to_owned).to_vec();
            cells.extend([
                decimal(amounts.opening),
                decimal(amounts.donations),
                amounts.donation_count.to_string(),
                decimal(amounts.fees),
                decimal(amounts.refunds),
                decimal(amounts.disputes),
                decimal(amounts.reassigned),
                decimal(amounts.paid),
                decimal(amounts.returned),
                decimal(amounts.closing),
                days.map(|days| format!("{days:.1}")).unwrap_or_default(),
            ]);
            csv_row(&cells)
        };
        for own in &self.rows {
            let (id, ein) = (own.nonprofit.to_string(), own.ein.as_deref().unwrap_or_default());
            text.push_str(&row(
                [&id, ein, &own.name, &own.state],
                &own.amounts,
                own.average_days,
            ));
        }
        text.push_str(&row(["", "", "Total", ""], &self.totals, self.average_days));
        text
    }
}

impl Disbursements<'_> {
    /// Reports a period: from the first time, and before the second.
    pub async fn report(self, (from, to): (i64, i64)) -> Result<Report, DisburseError> {
        self.refresh_owed().await?;
        let mut by_nonprofit: BTreeMap<NonprofitId, Amounts> = BTreeMap::new();
        let mut tx = self.db.view().await?;
        for (nonprofit, opening) in store::list_balances(&mut tx, self.mode, from).await? {
            let amounts = by_nonprofit.entry(nonprofit).or_default();
            (amounts.opening, amounts.closing) = (opening, opening);
        }
        for moved in store::list_moved(&mut tx, self.mode, (from, to)).await? {
            by_nonprofit.entry(moved.nonprofit).or_default().add(&moved)?;
        }
        let waits = store::list_waits(&mut tx, self.mode, (from, to)).await?;
        drop(tx);
        let waits: BTreeMap<NonprofitId, (i64, i64)> = waits.into_iter().collect();
        let average =
            |(count, millis): (i64, i64)| (count > 0).then(|| millis as f64 / count as f64 / DAY_MILLIS);
        let all = waits
            .values()
            .fold((0, 0), |sum, wait| (sum.0 + wait.0, sum.1 + wait.1));
        let mut totals = Amounts::default();
        let (mut rows, mut states) = (Vec::new(), BTreeMap::<String, (i64, Cents)>::new());
        for (nonprofit, amounts) in by_nonprofit {
            if amounts == Amounts::default() {
                continue;
            }
            totals = totals.plus(&amounts)?;
            let candidate = self.find_candidate(nonprofit).await?;
            if amounts.donation_count > 0 {
                let state = states.entry(candidate.state.clone()).or_default();
                *state = (state.0 + amounts.donation_count, state.1.plus(amounts.donations)?);
            }
            rows.push(ReportRow {
                nonprofit,
                name: candidate.name,
                ein: candidate.ein,
                state: candidate.state,
                amounts,
                average_days: waits.get(&nonprofit).copied().and_then(average),
            });
        }
        rows.sort_by(|one, other| (&one.name, one.nonprofit).cmp(&(&other.name, other.nonprofit)));
        Ok(Report {
            period: (from, to),
            rows,
            totals,
            average_days: average(all),
            states,
        })
    }
}

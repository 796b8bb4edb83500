//! Prominence: one number by which browse is ordered and search breaks its ties.
//!
//! It counts thousandths of a power of ten. The money of a body is the largest of its revenue, a tenth of its gross
//! receipts and a hundredth of its assets, in dollars: receipts count sales of securities, and assets stand in where
//! a private foundation files no revenue. A body of $1,000,000 a year starts at 6,000, one of $10,000,000 at 7,000.
//! Amounts come from returns: where the IRS has none of a body, a power of ten counts 30 and not 1,000, unless it is a
//! well-known body whose size is known without it.
//! To it are added
//!
//! - 50 where gifts are tax-deductible;
//! - 600 where a return is on file and 600 where the date of the ruling is: a body that files is one that works;
//! - 100 each for a website, a description and a logo of its own, 50 for a cover;
//! - 250 for each power of ten of the dollars given through this service.
//!
//! A subordinate of a group of which no money is known loses 200: there are thousands under one name, and the parent
//! is meant. A body that left the IRS files loses 4,000. The number is never negative.

/// What prominence is computed from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an independent fact of the profile"
)]
pub struct Known {
    /// Revenue of a year, in dollars.
    pub revenue: Option<i64>,
    /// Gross receipts of a year, in dollars.
    pub income: Option<i64>,
    /// Assets, in dollars.
    pub assets: Option<i64>,
    /// Gifts to it are tax-deductible.
    pub is_deductible: bool,
    /// It is the subordinate of a group exemption.
    pub is_subordinate: bool,
    /// It left the IRS files.
    pub is_gone: bool,
    /// The IRS has a return of it.
    pub files_returns: bool,
    /// Its amounts are in a file of the IRS, though no return is.
    pub has_bare_amounts: bool,
    /// The IRS says when it recognised it.
    pub has_ruling: bool,
    /// Its profile has a website.
    pub has_website: bool,
    /// Its profile has a description of its own.
    pub has_description: bool,
    /// Its profile has a logo of its own.
    pub has_logo: bool,
    /// Its profile has a cover of its own.
    pub has_cover: bool,
    /// Given to it through this service, in cents.
    pub given_cents: u64,
}

/// The number; see the module for how it is made.
pub fn prominence(known: &Known) -> u32 {
    let money = [(known.revenue, 1), (known.income, 10), (known.assets, 100)]
        .map(|(amount, share)| amount.map_or(0, |dollars| dollars.max(0) as u64 / share));
    let largest = money.into_iter().max().unwrap_or_default();
    let added = [
        (known.is_deductible, 50),
        (known.files_returns, 600),
        (known.has_ruling, 600),
        (known.has_website, 100),
        (known.has_description, 100),
        (known.has_logo, 100),
        (known.has_cover, 50),
    ];
    let taken = [
        (known.is_subordinate && largest == 0, 200),
        (known.is_gone, 4_000),
    ];
    let for_money = if known.has_bare_amounts { 30.0 } else { 1_000.0 };
    let gain = powers_of_ten(largest, for_money) + powers_of_ten(known.given_cents / 100, 250.0) + sum(added);
    gain.saturating_sub(sum(taken))
}

fn powers_of_ten(dollars: u64, each: f64) -> u32 {
    ((dollars as f64 + 1.0).log10() * each).round() as u32
}

fn sum<const N: usize>(parts: [(bool, u32); N]) -> u32 {
    parts
        .into_iter()
        .filter(|(holds, _)| *holds)
        .map(|(_, points)| points)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ten_times_the_money_is_a_thousand_more() {
        let of = |revenue| {
            prominence(&Known {
                revenue: Some(revenue),
                ..Known::default()
            })
        };
        assert_eq!(of(1_000_000), 6_000);
        assert_eq!(of(10_000_000), 7_000);
        assert_eq!(of(-5), 0);
    }

    #[test]
    fn a_foundation_without_revenue_stands_by_its_assets() {
        assert_eq!(
            prominence(&Known {
                assets: Some(100_000_000),
                ..Known::default()
            }),
            6_000
        );
    }

    #[test]
    fn a_body_that_is_gone_stands_behind_those_that_are_not() {
        let known = Known {
            revenue: Some(1_000_000),
            is_deductible: true,
            ..Known::default()
        };
        assert_eq!(prominence(&known), 6_050);
        assert_eq!(
            prominence(&Known {
                is_gone: true,
                ..known
            }),
            2_050
        );
    }

    fn any_known() -> impl Strategy<Value = Known> {
        let amounts = (
            any::<Option<i64>>(),
            any::<Option<i64>>(),
            any::<Option<i64>>(),
            any::<u64>(),
        );
        let facts = (any::<[bool; 10]>(),);
        (amounts, facts).prop_map(|((revenue, income, assets, given_cents), (fact,))| Known {
            revenue,
            income,
            assets,
            given_cents,
            is_deductible: fact[0],
            is_subordinate: fact[1],
            is_gone: fact[2],
            has_website: fact[3],
            has_description: fact[4],
            has_logo: fact[5],
            has_cover: fact[6],
            files_returns: fact[7],
            has_ruling: fact[8],
            has_bare_amounts: fact[9],
        })
    }

    proptest! {
        #[test]
        fn more_money_never_makes_less_prominent(known in any_known(), more in 0..i64::MAX / 2, given in 0_u64..u64::MAX / 2) {
            let raise = |amount: Option<i64>| Some(amount.unwrap_or(0).max(0).saturating_add(more));
            let before = prominence(&known);
            for richer in [
                Known { revenue: raise(known.revenue), ..known },
                Known { income: raise(known.income), ..known },
                Known { assets: raise(known.assets), ..known },
                Known { given_cents: known.given_cents.saturating_add(given), ..known },
            ] {
                prop_assert!(prominence(&richer) >= before);
            }
        }

        #[test]
        fn a_fuller_profile_never_makes_less_prominent(known in any_known()) {
            let full = Known { has_website: true, has_description: true, has_logo: true, has_cover: true, ..known };
            prop_assert!(prominence(&full) >= prominence(&known));
        }
    }
}

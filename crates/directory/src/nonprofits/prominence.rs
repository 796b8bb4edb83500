//! Prominence: a score that sorts browse lists and breaks ties in search results.
//!
//! The score is based on the size of a nonprofit: the largest of its revenue, a tenth of its gross receipts and a hundredth
//! of its assets, in dollars. Revenue and assets are those of the latest period known, from the master file or a return.
//! Receipts include sales of securities, and private foundations report assets but no revenue.
//! Each power of ten counts 1,000: a nonprofit with $1,000,000 a year starts at 6,000, one with $10,000,000 at 7,000. If
//! the IRS has no return to confirm the amounts, each power of ten counts only 30, unless the nonprofit is a well-known one
//! whose revenue is listed.
//!
//! Points are added:
//!
//! - 50 if donations are tax-deductible;
//! - 600 if a return is on file and 600 if the date of the ruling is, because both indicate an active nonprofit;
//! - 100 each for a website, a description and a logo in the profile, and 50 for a cover image.
//!
//! Points are subtracted: 200 for a subordinate of a group without known amounts, because thousands may have the same name
//! and people usually mean the parent, and 4,000 if the nonprofit is no longer in the IRS files. The score is never
//! negative.

/// The facts that determine prominence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact")]
pub struct ProminenceFactors {
    /// Annual revenue, in dollars.
    pub revenue: Option<i64>,
    /// Annual gross receipts, in dollars.
    pub income: Option<i64>,
    /// Assets, in dollars.
    pub assets: Option<i64>,
    /// Whether donations are tax-deductible.
    pub is_deductible: bool,
    /// Whether it is a subordinate of a group exemption.
    pub is_subordinate: bool,
    /// Whether it is no longer in the IRS files.
    pub is_gone: bool,
    /// Whether the IRS has a return on file.
    pub files_returns: bool,
    /// Whether the amounts come from an IRS file but no return is on file.
    pub has_unverified_amounts: bool,
    /// Whether the date of the ruling is known.
    pub has_ruling: bool,
    /// Whether the profile has a website.
    pub has_website: bool,
    /// Whether the profile has a description.
    pub has_description: bool,
    /// Whether the profile has a logo.
    pub has_logo: bool,
    /// Whether the profile has a cover image.
    pub has_cover: bool,
}

/// Returns the score; see the [module](self) for how it is computed.
pub fn prominence(factors: &ProminenceFactors) -> u32 {
    let money = [(factors.revenue, 1), (factors.income, 10), (factors.assets, 100)]
        .map(|(amount, share)| amount.map_or(0, |dollars| dollars.max(0) as u64 / share));
    let largest = money.into_iter().max().unwrap_or_default();
    let bonuses = [
        (factors.is_deductible, 50),
        (factors.files_returns, 600),
        (factors.has_ruling, 600),
        (factors.has_website, 100),
        (factors.has_description, 100),
        (factors.has_logo, 100),
        (factors.has_cover, 50),
    ];
    let penalties = [
        (factors.is_subordinate && largest == 0, 200),
        (factors.is_gone, 4_000),
    ];
    let points_per_power = if factors.has_unverified_amounts {
        30.0
    } else {
        1_000.0
    };
    let points = powers_of_ten(largest, points_per_power) + sum(bonuses);
    points.saturating_sub(sum(penalties))
}

fn powers_of_ten(dollars: u64, points_each: f64) -> u32 {
    ((dollars as f64 + 1.0).log10() * points_each).round() as u32
}

fn sum<const N: usize>(parts: [(bool, u32); N]) -> u32 {
    parts
        .into_iter()
        .filter(|(applies, _)| *applies)
        .map(|(_, points)| points)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ten_times_the_revenue_adds_a_thousand_points() {
        let of = |revenue| {
            prominence(&ProminenceFactors {
                revenue: Some(revenue),
                ..ProminenceFactors::default()
            })
        };
        assert_eq!(of(1_000_000), 6_000);
        assert_eq!(of(10_000_000), 7_000);
        assert_eq!(of(-5), 0);
    }

    #[test]
    fn a_foundation_without_revenue_is_ranked_by_its_assets() {
        assert_eq!(
            prominence(&ProminenceFactors {
                assets: Some(100_000_000),
                ..ProminenceFactors::default()
            }),
            6_000
        );
    }

    #[test]
    fn a_nonprofit_that_left_the_irs_files_loses_points() {
        let factors = ProminenceFactors {
            revenue: Some(1_000_000),
            is_deductible: true,
            ..ProminenceFactors::default()
        };
        assert_eq!(prominence(&factors), 6_050);
        assert_eq!(
            prominence(&ProminenceFactors {
                is_gone: true,
                ..factors
            }),
            2_050
        );
    }

    fn any_factors() -> impl Strategy<Value = ProminenceFactors> {
        let amounts = (any::<Option<i64>>(), any::<Option<i64>>(), any::<Option<i64>>());
        let facts = (any::<[bool; 10]>(),);
        (amounts, facts).prop_map(|((revenue, income, assets), (fact,))| ProminenceFactors {
            revenue,
            income,
            assets,
            is_deductible: fact[0],
            is_subordinate: fact[1],
            is_gone: fact[2],
            has_website: fact[3],
            has_description: fact[4],
            has_logo: fact[5],
            has_cover: fact[6],
            files_returns: fact[7],
            has_ruling: fact[8],
            has_unverified_amounts: fact[9],
        })
    }

    proptest! {
        #[test]
        fn more_money_never_lowers_the_score(factors in any_factors(), more in 0..i64::MAX / 2) {
            let raise = |amount: Option<i64>| Some(amount.unwrap_or(0).max(0).saturating_add(more));
            let before = prominence(&factors);
            for richer in [
                ProminenceFactors { revenue: raise(factors.revenue), ..factors },
                ProminenceFactors { income: raise(factors.income), ..factors },
                ProminenceFactors { assets: raise(factors.assets), ..factors },
            ] {
                prop_assert!(prominence(&richer) >= before);
            }
        }

        #[test]
        fn a_more_complete_profile_never_lowers_the_score(factors in any_factors()) {
            let complete = ProminenceFactors { has_website: true, has_description: true, has_logo: true, has_cover: true, ..factors };
            prop_assert!(prominence(&complete) >= prominence(&factors));
        }
    }
}

//! What the page of a nonprofit shows of its returns: each value is the newest that is usable.

use directory::nonprofits::name;
use directory::returns::profile::ReturnProfile;
use directory::returns::store::StoredReturn;

/// Takes the newest values from the returns of an EIN, which are sorted from the newest period on.
pub(crate) fn profile(ein: u32, returns: &[StoredReturn]) -> ReturnProfile {
    let mut profile = ReturnProfile {
        ein: i64::from(ein),
        is_final: returns.first().is_some_and(|newest| newest.facts.is_final),
        ..ReturnProfile::default()
    };
    // From the oldest on, so that newer values replace older ones.
    for stored in returns.iter().rev() {
        let (period, source) = (Some(i64::from(stored.period)), Some(stored.source.number()));
        let facts = &stored.facts;
        if facts.display_name.is_some() {
            profile.name.clone_from(&facts.display_name);
        }
        if let Some(trade_name) = &facts.trade_name {
            profile.aliases = Some(name::readable(trade_name));
        }
        if facts.description.is_some() {
            profile.description.clone_from(&facts.description);
            profile.description_long.clone_from(&facts.description_long);
            (profile.description_period, profile.description_source) = (period, source);
        }
        if facts.website_url.is_some() {
            profile.website_url.clone_from(&facts.website_url);
            (profile.website_period, profile.website_source) = (period, source);
        }
        if facts.formed.is_some() {
            profile.formed = facts.formed.map(i64::from);
        }
        let amounts = &facts.amounts;
        let has_amounts = amounts.revenue.or(amounts.expenses).or(amounts.assets).is_some();
        // The amounts of a group return are those of several nonprofits together.
        if has_amounts && !facts.is_group_return {
            (profile.revenue, profile.expenses, profile.assets) =
                (amounts.revenue, amounts.expenses, amounts.assets);
            (profile.amounts_period, profile.amounts_source) = (period, source);
        }
    }
    profile
}

#[cfg(test)]
mod tests {
    use super::*;
    use directory::nonprofits::sources::SourceId;
    use directory::returns::facts::Amounts;
    use directory::returns::facts::ReturnFacts;

    fn stored(period: u32, facts: ReturnFacts) -> StoredReturn {
        StoredReturn {
            period,
            form: "990".to_owned(),
            object_id: String::new(),
            source: SourceId {
                revision: i64::from(period % 100),
                position: 1,
            },
            facts,
        }
    }

    fn revenue(revenue: i64) -> Amounts {
        Amounts {
            revenue: Some(revenue),
            ..Amounts::default()
        }
    }

    #[test]
    fn each_value_comes_from_the_newest_return_that_has_it() {
        let returns = [
            stored(
                202_303,
                ReturnFacts {
                    is_group_return: true,
                    amounts: revenue(9),
                    trade_name: Some("HARBOR HOUSE".to_owned()),
                    ..ReturnFacts::default()
                },
            ),
            stored(
                202_202,
                ReturnFacts {
                    description: Some("New".to_owned()),
                    amounts: revenue(2),
                    is_final: true,
                    ..ReturnFacts::default()
                },
            ),
            stored(
                202_101,
                ReturnFacts {
                    description: Some("Old".to_owned()),
                    description_long: Some("Old and long".to_owned()),
                    website_url: Some("https://example.org".to_owned()),
                    formed: Some(1990),
                    amounts: Amounts {
                        assets: Some(3),
                        ..revenue(1)
                    },
                    ..ReturnFacts::default()
                },
            ),
        ];
        let source = |revision| {
            Some(
                SourceId {
                    revision,
                    position: 1,
                }
                .number(),
            )
        };
        let expected = ReturnProfile {
            ein: 7,
            aliases: Some("Harbor House".to_owned()),
            description: Some("New".to_owned()),
            description_period: Some(202_202),
            description_source: source(2),
            website_url: Some("https://example.org".to_owned()),
            website_period: Some(202_101),
            website_source: source(1),
            formed: Some(1990),
            revenue: Some(2),
            amounts_period: Some(202_202),
            amounts_source: source(2),
            ..ReturnProfile::default()
        };
        assert_eq!(profile(7, &returns), expected);
        assert!(profile(7, &returns[1..]).is_final);
    }
}

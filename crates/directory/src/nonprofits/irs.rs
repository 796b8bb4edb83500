//! Codes and amounts from the IRS master file, and what they mean.

use std::fmt::Write;

/// The codes and amounts of one row. Zero means unknown for codes and dates. Amounts are whole dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IrsFacts {
    /// The paragraph of section 501(c). 3 is a charity.
    pub subsection: u8,
    /// 1: donations are deductible; 2: they are not; 4: they are by treaty.
    pub deductibility: u8,
    /// The kind of private foundation, or the reason why a charity is not one.
    pub foundation: u8,
    /// 1: exempt; 2: conditionally exempt; 12: trust; 25: terminating.
    pub status: u8,
    /// 3: independent; 6 and 8: parent of a group; 9: subordinate.
    pub affiliation: u8,
    /// The group exemption number shared by a parent and its subordinates.
    pub group: u16,
    /// The month of the ruling, as YYYYMM.
    pub ruling: u32,
    /// The end of the last tax period on file, as YYYYMM.
    pub tax_period: u32,
    /// The book value of all assets.
    pub assets: Option<i64>,
    /// Gross receipts.
    pub income: Option<i64>,
    /// Annual revenue.
    pub revenue: Option<i64>,
}

impl IrsFacts {
    /// Parses the stored form: numbers separated by commas. Returns `None` for an empty text.
    pub fn parse(stored: &str) -> Option<IrsFacts> {
        if stored.is_empty() {
            return None;
        }
        let mut parts = stored.split(',');
        let mut code = || {
            parts
                .next()
                .and_then(|part| part.parse::<u32>().ok())
                .unwrap_or_default()
        };
        let mut facts = IrsFacts {
            subsection: code() as u8,
            deductibility: code() as u8,
            foundation: code() as u8,
            status: code() as u8,
            affiliation: code() as u8,
            group: code() as u16,
            ruling: code(),
            tax_period: code(),
            ..IrsFacts::default()
        };
        let mut amount = || parts.next().and_then(|part| part.parse().ok());
        facts.assets = amount();
        facts.income = amount();
        facts.revenue = amount();
        Some(facts)
    }

    /// Appends the stored form.
    pub fn write(&self, out: &mut String) {
        let codes = [
            self.subsection,
            self.deductibility,
            self.foundation,
            self.status,
            self.affiliation,
        ];
        let numbers =
            codes
                .map(u32::from)
                .into_iter()
                .chain([u32::from(self.group), self.ruling, self.tax_period]);
        for number in numbers {
            let _ = write!(out, "{number},");
        }
        for (amount, ending) in [(self.assets, ","), (self.income, ","), (self.revenue, "")] {
            if let Some(dollars) = amount {
                let _ = write!(out, "{dollars}");
            }
            out.push_str(ending);
        }
    }

    /// Returns whether it is exempt under 501(c)(3). Foundations and churches are included.
    pub const fn is_charity(&self) -> bool {
        self.subsection == 3
    }

    /// Returns whether donations are tax-deductible.
    pub const fn is_deductible(&self) -> bool {
        self.deductibility == 1
    }

    /// Returns whether it is exempt as a member of a group.
    pub const fn is_subordinate(&self) -> bool {
        self.affiliation == 9
    }

    /// Returns the year in which the IRS recognized the exemption.
    pub fn ruling_year(&self) -> Option<u16> {
        let (year, month) = (self.ruling / 100, self.ruling % 100);
        // The income tax began in 1913. Some rows have an earlier or an invalid date.
        ((1900..=2100).contains(&year) && month <= 12).then_some(year as u16)
    }

    /// Returns whether donations can be passed on to it.
    ///
    /// They can for a 501(c)(3) organization that is exempt (status 1 or 2) and to which donations are deductible. A
    /// private non-operating foundation (foundation code 4) is excluded, because a fund would have to supervise how it
    /// uses the money. The caller also checks that the organization is still in the IRS files.
    pub const fn is_disbursable(&self) -> bool {
        self.is_charity() && self.is_deductible() && matches!(self.status, 1 | 2) && self.foundation != 4
    }

    /// Returns the codes of a charity that files as a private foundation. Without a code, or with that of a public charity
    /// which it no longer is, it would be described as a public charity.
    pub(crate) const fn as_private_foundation(mut self) -> IrsFacts {
        if self.is_charity() && !matches!(self.foundation, 2..=4) {
            self.foundation = 4;
        }
        self
    }

    /// Returns the kind of organization, as a noun without an article.
    pub const fn kind(&self) -> &'static str {
        match self.subsection {
            3 => self.charity_kind(),
            1 => "federal instrumentality",
            2 | 25 => "title-holding company",
            4 => "social welfare organization",
            5 => "labor or agricultural organization",
            6 => "business league",
            7 => "social club",
            8 | 10 => "fraternal society",
            9 | 17 | 18 => "employee benefit association",
            11 => "teachers' retirement fund",
            12 => "mutual benefit organization",
            13 => "cemetery company",
            14 => "credit union",
            15 => "mutual insurance company",
            16 => "crop financing corporation",
            19 | 23 => "veterans organization",
            20 => "legal services organization",
            21 => "black lung trust",
            22 | 24 => "pension trust",
            26 => "high-risk health coverage organization",
            27 => "workers' compensation organization",
            29 => "health insurance cooperative",
            40 => "religious community",
            50 => "hospital cooperative",
            60 => "educational cooperative",
            70 => "child care organization",
            71 => "charitable risk pool",
            82 => "prepaid tuition program",
            92 => "charitable trust",
            _ => "nonprofit organization",
        }
    }

    const fn charity_kind(&self) -> &'static str {
        match self.foundation {
            2 | 3 => "private operating foundation",
            4 => "private foundation",
            10 => "church",
            11 => "school",
            12 => "hospital or medical research organization",
            13 => "college support organization",
            14 => "government unit",
            17 | 21..=24 => "supporting organization",
            18 => "public safety testing organization",
            _ => "public charity",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CHARITY: IrsFacts = IrsFacts {
        subsection: 3,
        deductibility: 1,
        foundation: 15,
        status: 1,
        affiliation: 3,
        group: 0,
        ruling: 193_812,
        tax_period: 202_406,
        assets: None,
        income: None,
        revenue: None,
    };

    #[test]
    fn a_charity_in_good_standing_is_disbursable() {
        assert!(CHARITY.is_disbursable());
        assert_eq!(CHARITY.as_private_foundation().kind(), "private foundation");
        let operating = IrsFacts {
            foundation: 3,
            ..CHARITY
        };
        assert_eq!(operating.as_private_foundation(), operating);
        assert_eq!(CHARITY.kind(), "public charity");
        assert_eq!(CHARITY.ruling_year(), Some(1938));
    }

    #[test]
    fn other_organizations_are_not_disbursable() {
        for facts in [
            IrsFacts {
                subsection: 4,
                ..CHARITY
            },
            IrsFacts {
                deductibility: 2,
                ..CHARITY
            },
            IrsFacts {
                status: 25,
                ..CHARITY
            },
            IrsFacts {
                foundation: 4,
                ..CHARITY
            },
            IrsFacts::default(),
        ] {
            assert!(!facts.is_disbursable(), "{facts:?}");
        }
    }

    #[test]
    fn the_kind_names_churches_schools_and_social_clubs() {
        assert_eq!(
            IrsFacts {
                foundation: 10,
                ..CHARITY
            }
            .kind(),
            "church"
        );
        assert_eq!(
            IrsFacts {
                foundation: 11,
                ..CHARITY
            }
            .kind(),
            "school"
        );
        assert_eq!(
            IrsFacts {
                subsection: 7,
                foundation: 0,
                ..CHARITY
            }
            .kind(),
            "social club"
        );
    }

    #[test]
    fn an_invalid_ruling_month_has_no_year() {
        for ruling in [0, 193_813, 1, 999_999, 17_7607] {
            assert_eq!(IrsFacts { ruling, ..CHARITY }.ruling_year(), None, "{ruling}");
        }
    }

    proptest! {
        #[test]
        fn disbursable_organizations_are_deductible_charities(
            subsection in 0_u8..100, deductibility in 0_u8..5, foundation in 0_u8..30, status in 0_u8..50,
        ) {
            let facts = IrsFacts { subsection, deductibility, foundation, status, ..CHARITY };
            prop_assert!(!facts.is_disbursable() || (facts.is_charity() && facts.is_deductible()));
            prop_assert!(!facts.kind().is_empty());
        }
    }
}

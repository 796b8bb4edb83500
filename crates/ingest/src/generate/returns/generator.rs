//! Generates the XML of single returns.

use super::element_names::{NEW, Names, OLD};
use super::sentences::{FAMILY_NAMES, GIVEN_NAMES, TITLES, text, website};
use crate::generate::ein;
use crate::generate::rng::Rng;
use crate::generate::row::RowGenerator;
use std::fmt::Write as _;

/// The year in which the most recent periods end.
const LAST_YEAR: u64 = 2023;

/// What to generate.
#[derive(Clone, Copy, Debug)]
pub struct Returns {
    pub count: u64,
    /// The number of rows of the EO BMF file whose EINs are used.
    pub nonprofits: u64,
    pub seed: u64,
    /// Whether one return in a hundred is damaged.
    pub damaged: bool,
}

/// What identifies a return.
pub(super) struct Filing {
    pub ein: u64,
    /// The month in which the period ends, as YYYYMM.
    pub period: u64,
    pub year: u64,
    pub form: &'static str,
    pub object_id: String,
    pub is_amended: bool,
}

/// Generates returns, and reuses its buffers.
pub(super) struct ReturnGenerator {
    rows: RowGenerator,
    row: String,
    name: String,
    xml: String,
    /// How much of the XML is written. A damaged return ends early.
    length: usize,
}

impl ReturnGenerator {
    pub(super) fn new() -> ReturnGenerator {
        ReturnGenerator {
            rows: RowGenerator::new(),
            row: String::new(),
            name: String::new(),
            xml: String::new(),
            length: 0,
        }
    }

    /// Returns the XML of the last return.
    pub(super) fn xml(&self) -> &[u8] {
        &self.xml.as_bytes()[..self.length]
    }

    /// Returns the name of the nonprofit that filed it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Generates a return. [`Self::xml`] and [`Self::name`] are valid until the next one.
    pub(super) fn generate(&mut self, returns: &Returns, number: u64) -> Filing {
        let (row, round) = (number % returns.nonprofits, number / returns.nonprofits);
        let mut rng = Rng::for_row(returns.seed, row);
        let ein = ein(row, returns.nonprofits, &mut rng);
        self.row.clear();
        self.rows.write(ein, &mut rng, &mut self.row);
        self.name.clear();
        self.name.push_str(self.rows.name());
        // The form and the first year are those of the nonprofit, the rest those of the return.
        let form = *rng.choose(&["990", "990", "990", "990", "990EZ", "990EZ", "990PF"]);
        let last_year = *rng.choose(&[LAST_YEAR, LAST_YEAR, LAST_YEAR, LAST_YEAR, 2019, 2015, 2013]);
        let mut rng = Rng::for_row(returns.seed ^ 0x0990, number);
        // It amends the one of the round before, which is never an amended one itself.
        let is_amended = round % 2 == 1 && rng.chance(400);
        let year = last_year - (round - u64::from(is_amended)) % 8;
        let code = match form {
            "990" => 93_493,
            "990EZ" => 93_492,
            _ => 93_491,
        };
        let (day, serial) = (1 + number / 100_000 % 365, number % 100_000);
        let filing = Filing {
            ein,
            period: year * 100 + 12,
            year,
            form,
            object_id: format!("{:04}1{day:03}{code:05}{serial:05}", year + 1),
            is_amended,
        };
        self.write_return(&filing, &mut rng);
        self.length = self.xml.len();
        if returns.damaged && rng.chance(100) {
            self.length = self
                .xml
                .floor_char_boundary(rng.below(self.length as u64) as usize);
        }
        filing
    }

    fn write_return(&mut self, filing: &Filing, rng: &mut Rng) {
        let version = match filing.year {
            ..=2010 => "2010v3.7",
            2011 => "2011v1.5",
            2012 => "2012v2.1",
            2013 => "2013v3.0",
            2014 => "2014v5.0",
            2015 => "2015v3.0",
            2016 => "2016v3.0",
            2017 => "2017v2.3",
            2018 => "2018v3.1",
            2019 => "2019v5.1",
            2020 => "2020v4.2",
            2021 => "2021v4.2",
            2022 => "2022v5.0",
            _ => "2023v5.0",
        };
        let names = if filing.year < 2013 { &OLD } else { &NEW };
        let line = if filing.year < 2014 {
            "BusinessNameLine1"
        } else {
            "BusinessNameLine1Txt"
        };
        let name = self.name.replace('&', "&amp;");
        let Filing { ein, year, form, .. } = filing;
        let Names {
            form_type,
            begin,
            end,
            filed,
            filer,
            ..
        } = names;
        self.xml.clear();
        let _ = write!(
            self.xml,
            "\u{feff}<?xml version=\"1.0\" encoding=\"utf-8\"?>\r\n\
             <Return xmlns=\"http://www.irs.gov/efile\" returnVersion=\"{version}\">\r\n  <ReturnHeader>\r\n    \
             <{filed}>{}-05-{:02}T10:00:00-05:00</{filed}>\r\n    <{end}>{year}-12-31</{end}>\r\n    \
             <{form_type}>{form}</{form_type}>\r\n    <{begin}>{year}-01-01</{begin}>\r\n    <Filer>\r\n      \
             <EIN>{ein:09}</EIN>\r\n      <{filer}>\r\n        <{line}>{name}</{line}>\r\n      </{filer}>\r\n    \
             </Filer>\r\n  </ReturnHeader>\r\n  <ReturnData documentCnt=\"3\">\r\n    <IRS{form}>\r\n",
            year + 1,
            1 + rng.below(28),
        );
        if filing.is_amended {
            self.element(names.amended, "X");
        }
        match *form {
            "990" => self.write_long_form(names, rng),
            "990EZ" => self.write_short_form(names, rng),
            _ => self.write_foundation_form(names, rng),
        }
        self.write_officers(names, rng);
        self.write_lines(rng);
        let _ = write!(self.xml, "    </IRS{form}>\r\n");
        if *form == "990" {
            self.write_schedule_o(names, rng);
        }
        self.xml.push_str("  </ReturnData>\r\n</Return>\r\n");
    }

    fn write_long_form(&mut self, names: &Names, rng: &mut Rng) {
        let revenue = rng.amount(20);
        let expenses = revenue - revenue / 20;
        let assets = rng.amount(21);
        self.amount(names.gross_receipts, revenue + revenue / 50);
        let website = website(rng);
        self.element(names.website, &website);
        self.element(names.formed, &(1900 + rng.below(120)).to_string());
        let summary = text(rng, 1);
        self.element(names.summary, &summary);
        self.amount(names.employees, (revenue / 60_000).min(90_000));
        self.amount(names.volunteers, rng.amount(5));
        self.amount(names.contributions, revenue / 2);
        self.amount(names.revenue, revenue);
        self.amount(names.expenses, expenses);
        self.amount(names.assets, assets);
        self.amount(names.liabilities, assets / 3);
        self.amount(names.net_assets, assets - assets / 3);
        let mission = if rng.chance(200) {
            "SEE SCHEDULE O".to_owned()
        } else {
            text(rng, 2)
        };
        self.element(names.mission, &mission);
        for group in names.program_groups.iter().take(1 + rng.below(4) as usize) {
            let (text, spent) = (text(rng, 6), expenses / (2 + rng.below(4) as i64));
            self.open(group);
            self.amount(names.program_expenses, spent);
            self.amount(names.program_grants, spent / 10);
            self.element(names.program_text, &text);
            self.close(group);
        }
        self.open(names.functional_expenses);
        for (name, share) in names.functional_parts.iter().zip([100, 80, 12, 8]) {
            self.amount(name, expenses / 100 * share);
        }
        self.close(names.functional_expenses);
    }

    fn write_short_form(&mut self, names: &Names, rng: &mut Rng) {
        let revenue = rng.amount(16);
        let website = website(rng);
        self.element(names.website, &website);
        self.amount(names.gross_receipts, revenue);
        self.amount(names.short_contributions, revenue / 2);
        self.amount(names.short_revenue, revenue);
        self.amount(names.short_expenses, revenue - revenue / 30);
        self.open(names.short_assets);
        self.amount(names.short_assets_end, revenue * 2);
        self.close(names.short_assets);
        self.amount(names.net_assets, revenue);
        let mission = text(rng, 1);
        self.element(names.short_mission, &mission);
        for _ in 0..=rng.below(3) {
            let text = text(rng, 3);
            self.open(names.short_program);
            self.element(names.short_program_text, &text);
            self.amount(names.short_program_expenses, revenue / 4);
            self.close(names.short_program);
        }
    }

    fn write_foundation_form(&mut self, names: &Names, rng: &mut Rng) {
        let revenue = rng.amount(18);
        self.open("AnalysisOfRevenueAndExpenses");
        self.amount(names.foundation_contributions, revenue / 3);
        self.amount(names.foundation_revenue, revenue);
        self.amount(names.foundation_expenses, revenue / 2);
        self.amount(names.foundation_charitable, revenue / 3);
        self.close("AnalysisOfRevenueAndExpenses");
        self.open(names.foundation_balance);
        self.amount(names.assets, revenue * 12);
        self.amount(names.liabilities, revenue / 9);
        self.close(names.foundation_balance);
        if rng.chance(1_500) {
            let text = text(rng, 1);
            self.open(names.foundation_activities);
            self.element(names.foundation_activity, &text);
            self.close(names.foundation_activities);
        }
    }

    /// Writes people with their pay, which the reader skips. In real returns too they are most of the file.
    fn write_officers(&mut self, names: &Names, rng: &mut Rng) {
        for _ in 0..20 + rng.below(25) {
            self.open(names.officer);
            let person = format!("{} {}", rng.choose(&GIVEN_NAMES), rng.choose(&FAMILY_NAMES));
            self.element("PersonNm", &person);
            self.element("TitleTxt", rng.choose::<&str>(&TITLES));
            self.element("AverageHoursPerWeekRt", &format!("{}.00", 1 + rng.below(50)));
            self.element("IndividualTrusteeOrDirectorInd", "X");
            for name in [
                "ReportableCompFromOrgAmt",
                "ReportableCompFromRltdOrgAmt",
                "OtherCompensationAmt",
            ] {
                let pay = if rng.chance(4_000) { rng.amount(16) } else { 0 };
                self.amount(name, pay);
            }
            self.close(names.officer);
        }
    }

    /// Writes lines of the form that the reader skips.
    fn write_lines(&mut self, rng: &mut Rng) {
        for line in LINES {
            let _ = write!(
                self.xml,
                "      <{line}Grp referenceDocumentId=\"RetDoc{}\">\r\n",
                rng.below(9)
            );
            for part in [
                "TotalAmt",
                "ProgramServicesAmt",
                "ManagementAndGeneralAmt",
                "FundraisingAmt",
            ] {
                let amount = rng.amount(14);
                self.amount(part, amount);
            }
            let _ = write!(
                self.xml,
                "      </{line}Grp>\r\n      <{line}Ind>{}</{line}Ind>\r\n",
                rng.chance(5_000)
            );
        }
    }

    fn write_schedule_o(&mut self, names: &Names, rng: &mut Rng) {
        let _ = write!(self.xml, "    <IRS990ScheduleO>\r\n");
        for reference in [
            "FORM 990, PART III, LINE 1",
            "FORM 990, PART VI, SECTION B, LINE 11B",
            "FORM 990, PART VI, LINE 19",
        ] {
            let text = text(rng, 5);
            self.open(names.explanation);
            self.element(names.explanation_reference, reference);
            self.element(names.explanation_text, &text);
            self.close(names.explanation);
        }
        let _ = write!(self.xml, "    </IRS990ScheduleO>\r\n");
    }

    fn element(&mut self, name: &str, text: &str) {
        if !name.is_empty() {
            let _ = write!(self.xml, "      <{name}>{text}</{name}>\r\n");
        }
    }

    fn amount(&mut self, name: &str, amount: i64) {
        let _ = write!(self.xml, "        <{name}>{amount}</{name}>\r\n");
    }

    fn open(&mut self, name: &str) {
        if !name.is_empty() {
            let _ = write!(self.xml, "      <{name}>\r\n");
        }
    }

    fn close(&mut self, name: &str) {
        if !name.is_empty() {
            let _ = write!(self.xml, "      </{name}>\r\n");
        }
    }
}

const LINES: [&str; 24] = [
    "GrantsToDomesticOrgs",
    "CompCurrentOfcrDirectors",
    "OtherSalariesAndWages",
    "PensionPlanContributions",
    "OtherEmployeeBenefits",
    "PayrollTaxes",
    "FeesForServicesLegal",
    "FeesForServicesAccounting",
    "FeesForServicesOther",
    "Advertising",
    "OfficeExpenses",
    "InformationTechnology",
    "Occupancy",
    "Travel",
    "ConferencesMeetings",
    "Interest",
    "DepreciationDepletion",
    "Insurance",
    "AllOtherExpenses",
    "AccountsReceivable",
    "PrepaidExpensesDefrdCharges",
    "LandBldgEquipBasisNet",
    "AccountsPayableAccrExpnss",
    "GrantsPayable",
];

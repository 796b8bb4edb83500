//! Generates synthetic Form 990 returns in the ZIP bundles of the IRS, with an index, for tests and benchmarks.
//!
//! The returns belong to the nonprofits of a generated EO BMF file with the same seed. Each bundle depends only on the seed
//! and its number, so two bundles are written at a time.

use super::ein;
use super::rng::Rng;
use super::row::RowGenerator;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::thread;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// The number of returns in a bundle.
const BUNDLE_SIZE: u64 = 50_000;
/// The number of bundles that are written at a time.
const WORKERS: u64 = 2;
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

impl Returns {
    /// Writes the bundles and `index_2024.csv` into a folder.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let bundles = self.count.div_ceil(BUNDLE_SIZE);
        let mut rows: Vec<(u64, String)> = thread::scope(|scope| {
            let workers: Vec<_> = (0..WORKERS)
                .map(|worker| {
                    scope.spawn(move || {
                        (worker..bundles)
                            .step_by(WORKERS as usize)
                            .map(|bundle| Ok((bundle, self.write_bundle(folder, bundle, bundles)?)))
                            .collect::<io::Result<Vec<_>>>()
                    })
                })
                .collect();
            let mut rows = Vec::new();
            for worker in workers {
                rows.extend(worker.join().expect("a worker does not panic")?);
            }
            io::Result::Ok(rows)
        })?;
        rows.sort_unstable_by_key(|(bundle, _)| *bundle);
        let mut index = BufWriter::new(File::create(folder.join("index_2024.csv"))?);
        index.write_all(
            b"RETURN_ID,FILING_TYPE,EIN,TAX_PERIOD,SUB_DATE,TAXPAYER_NAME,RETURN_TYPE,DLN,OBJECT_ID,XML_BATCH_ID\r\n",
        )?;
        for (_, rows) in rows {
            index.write_all(rows.as_bytes())?;
        }
        index.flush()
    }

    /// Writes a bundle and returns its rows of the index.
    fn write_bundle(&self, folder: &Path, bundle: u64, bundles: u64) -> io::Result<String> {
        let batch = batch(bundle);
        let file = File::create(folder.join(format!("{batch}.zip")))?;
        let mut zip = ZipWriter::new(BufWriter::with_capacity(1 << 20, file));
        let is_zip64 = bundle + 1 == bundles;
        let options = SimpleFileOptions::default()
            .compression_level(Some(1))
            .large_file(is_zip64);
        if is_zip64 {
            // Any content of this field makes the archive a ZIP64 archive.
            zip.set_raw_zip64_extensible_data_sector(Box::new([]));
        }
        let mut generator = ReturnGenerator::new();
        let mut rows = String::new();
        let first = bundle * BUNDLE_SIZE;
        for number in first..(first + BUNDLE_SIZE).min(self.count) {
            let filing = generator.generate(self, number);
            zip.start_file(format!("{batch}/{}_public.xml", filing.object_id), options)?;
            zip.write_all(&generator.xml.as_bytes()[..generator.length])?;
            let name = generator.name.replace(['"', ','], " ");
            let Filing {
                ein,
                period,
                form,
                object_id,
                ..
            } = &filing;
            let _ = write!(
                rows,
                "{number},EFILE,{ein:09},{period},2024,{name},{form},{}{number:09},{object_id},{batch}\r\n",
                &object_id[8..13]
            );
        }
        zip.finish()?.flush()?;
        Ok(rows)
    }
}

/// Returns the name of a bundle: a month and a letter.
fn batch(bundle: u64) -> String {
    let letter = char::from(b'A' + (bundle / 12 % 26) as u8);
    format!("2024_TEOS_XML_{:02}{letter}", bundle % 12 + 1)
}

/// What identifies a return.
struct Filing {
    ein: u64,
    /// The month in which the period ends, as YYYYMM.
    period: u64,
    year: u64,
    form: &'static str,
    object_id: String,
    is_amended: bool,
}

/// Generates returns, and reuses its buffers.
struct ReturnGenerator {
    rows: RowGenerator,
    row: String,
    name: String,
    xml: String,
    /// How much of the XML is written. A damaged return ends early.
    length: usize,
}

impl ReturnGenerator {
    fn new() -> ReturnGenerator {
        ReturnGenerator {
            rows: RowGenerator::new(),
            row: String::new(),
            name: String::new(),
            xml: String::new(),
            length: 0,
        }
    }

    fn generate(&mut self, returns: &Returns, number: u64) -> Filing {
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

fn website(rng: &mut Rng) -> String {
    match rng.below(10) {
        0 => "N/A".to_owned(),
        1 => format!("HTTP://WWW.EXAMPLE{}.ORG/About", rng.below(1 << 20)),
        _ => format!("WWW.EXAMPLE{}.ORG", rng.below(1 << 20)),
    }
}

/// Returns some sentences, most of them in capitals.
fn text(rng: &mut Rng, sentences: u64) -> String {
    let mut out = String::new();
    for sentence in 0..=rng.below(sentences) {
        if sentence > 0 {
            out.push(' ');
        }
        let _ = write!(
            out,
            "{} {} FOR {} IN {} THROUGH {} AND {}.",
            rng.choose(&VERBS),
            rng.choose(&SERVICES),
            rng.choose(&PEOPLE),
            rng.choose(&PLACES),
            rng.choose(&SERVICES),
            rng.choose(&SERVICES),
        );
    }
    if rng.chance(2_500) {
        let first = out.remove(0);
        out.make_ascii_lowercase();
        out.insert(0, first);
    }
    out
}

const VERBS: [&str; 8] = [
    "TO PROVIDE",
    "WE OFFER",
    "THE ORGANIZATION SUPPORTS",
    "PROMOTING",
    "TO ADVANCE",
    "WE BUILD",
    "IT ORGANIZES",
    "TO EXPAND",
];
const SERVICES: [&str; 16] = [
    "FOOD AND CLOTHING",
    "HEALTH CARE",
    "LEGAL AID",
    "AFTER-SCHOOL PROGRAMS",
    "AFFORDABLE HOUSING",
    "MUSIC EDUCATION",
    "JOB TRAINING",
    "SCHOLARSHIPS",
    "COUNSELING",
    "EMERGENCY RELIEF",
    "ANIMAL RESCUE",
    "COMMUNITY GARDENS",
    "YOUTH SPORTS",
    "MENTORING",
    "PUBLIC CONCERTS",
    "RESEARCH GRANTS",
];
const PEOPLE: [&str; 10] = [
    "LOW-INCOME FAMILIES",
    "VETERANS",
    "CHILDREN",
    "OLDER ADULTS",
    "IMMIGRANTS AND REFUGEES",
    "STUDENTS",
    "WOMEN AND GIRLS",
    "PEOPLE WITH DISABILITIES",
    "NEIGHBORS IN NEED",
    "ARTISTS",
];
const PLACES: [&str; 10] = [
    "OUR COUNTY",
    "NEW YORK",
    "RURAL COMMUNITIES",
    "THE UNITED STATES",
    "EL PASO",
    "CENTRAL AMERICA",
    "CHICAGO",
    "OUR SCHOOLS",
    "THE PACIFIC NORTHWEST",
    "TEXAS AND NEW MEXICO",
];
const GIVEN_NAMES: [&str; 8] = [
    "ALEX", "SAM", "JORDAN", "TAYLOR", "MORGAN", "CASEY", "RILEY", "ROBIN",
];
const FAMILY_NAMES: [&str; 8] = [
    "EXAMPLE", "SAMPLE", "SPECIMEN", "PATTERN", "MODEL", "INSTANCE", "CASE", "DUMMY",
];
const TITLES: [&str; 6] = [
    "DIRECTOR",
    "TREASURER",
    "SECRETARY",
    "CHAIR",
    "EXECUTIVE DIRECTOR",
    "TRUSTEE",
];
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

/// The names of elements in one era of the schemas.
struct Names {
    form_type: &'static str,
    begin: &'static str,
    end: &'static str,
    filed: &'static str,
    filer: &'static str,
    amended: &'static str,
    website: &'static str,
    gross_receipts: &'static str,
    formed: &'static str,
    summary: &'static str,
    mission: &'static str,
    employees: &'static str,
    volunteers: &'static str,
    contributions: &'static str,
    revenue: &'static str,
    expenses: &'static str,
    assets: &'static str,
    liabilities: &'static str,
    net_assets: &'static str,
    program_groups: [&'static str; 4],
    program_expenses: &'static str,
    program_grants: &'static str,
    program_text: &'static str,
    functional_expenses: &'static str,
    functional_parts: [&'static str; 4],
    short_contributions: &'static str,
    short_revenue: &'static str,
    short_expenses: &'static str,
    short_assets: &'static str,
    short_assets_end: &'static str,
    short_mission: &'static str,
    short_program: &'static str,
    short_program_text: &'static str,
    short_program_expenses: &'static str,
    foundation_contributions: &'static str,
    foundation_revenue: &'static str,
    foundation_expenses: &'static str,
    foundation_charitable: &'static str,
    foundation_balance: &'static str,
    foundation_activities: &'static str,
    foundation_activity: &'static str,
    officer: &'static str,
    explanation: &'static str,
    explanation_reference: &'static str,
    explanation_text: &'static str,
}

/// Up to 2012.
const OLD: Names = Names {
    form_type: "ReturnType",
    begin: "TaxPeriodBeginDate",
    end: "TaxPeriodEndDate",
    filed: "Timestamp",
    filer: "Name",
    amended: "AmendedReturn",
    website: "WebSite",
    gross_receipts: "GrossReceipts",
    formed: "YearFormation",
    summary: "ActivityOrMissionDescription",
    mission: "MissionDescription",
    employees: "TotalNbrEmployees",
    volunteers: "TotalNbrVolunteers",
    contributions: "ContributionsGrantsCurrentYear",
    revenue: "TotalRevenueCurrentYear",
    expenses: "TotalExpensesCurrentYear",
    assets: "TotalAssetsEOY",
    liabilities: "TotalLiabilitiesEOY",
    net_assets: "NetAssetsOrFundBalancesEOY",
    program_groups: ["", "Activity2", "Activity3", "ActivityOther"],
    program_expenses: "Expense",
    program_grants: "Grants",
    program_text: "Description",
    functional_expenses: "TotalFunctionalExpenses",
    functional_parts: ["Total", "ProgramServices", "ManagementAndGeneral", "Fundraising"],
    short_contributions: "ContributionsGiftsGrantsEtc",
    short_revenue: "TotalRevenue",
    short_expenses: "TotalExpenses",
    short_assets: "TotalAssets",
    short_assets_end: "EOY",
    short_mission: "PrimaryExemptPurpose",
    short_program: "ProgramServiceAccomplishment",
    short_program_text: "DescriptionProgramServiceAccom",
    short_program_expenses: "ProgramServiceExpenses",
    foundation_contributions: "ContriReceivedRevAndExpnss",
    foundation_revenue: "TotalRevenueAndExpenses",
    foundation_expenses: "TotalExpensesRevAndExpnss",
    foundation_charitable: "TotalExpensesDsbrsChrtblPrps",
    foundation_balance: "BalanceSheets",
    foundation_activities: "SummaryOfDirectCharitableActy",
    foundation_activity: "Description1",
    officer: "Form990PartVIISectionA",
    explanation: "GeneralExplanation",
    explanation_reference: "ReturnReference",
    explanation_text: "Explanation",
};

/// Since 2013.
const NEW: Names = Names {
    form_type: "ReturnTypeCd",
    begin: "TaxPeriodBeginDt",
    end: "TaxPeriodEndDt",
    filed: "ReturnTs",
    filer: "BusinessName",
    amended: "AmendedReturnInd",
    website: "WebsiteAddressTxt",
    gross_receipts: "GrossReceiptsAmt",
    formed: "FormationYr",
    summary: "ActivityOrMissionDesc",
    mission: "MissionDesc",
    employees: "TotalEmployeeCnt",
    volunteers: "TotalVolunteersCnt",
    contributions: "CYContributionsGrantsAmt",
    revenue: "CYTotalRevenueAmt",
    expenses: "CYTotalExpensesAmt",
    assets: "TotalAssetsEOYAmt",
    liabilities: "TotalLiabilitiesEOYAmt",
    net_assets: "NetAssetsOrFundBalancesEOYAmt",
    program_groups: [
        "",
        "ProgSrvcAccomActy2Grp",
        "ProgSrvcAccomActy3Grp",
        "ProgSrvcAccomActyOtherGrp",
    ],
    program_expenses: "ExpenseAmt",
    program_grants: "GrantAmt",
    program_text: "Desc",
    functional_expenses: "TotalFunctionalExpensesGrp",
    functional_parts: [
        "TotalAmt",
        "ProgramServicesAmt",
        "ManagementAndGeneralAmt",
        "FundraisingAmt",
    ],
    short_contributions: "ContributionsGiftsGrantsEtcAmt",
    short_revenue: "TotalRevenueAmt",
    short_expenses: "TotalExpensesAmt",
    short_assets: "Form990TotalAssetsGrp",
    short_assets_end: "EOYAmt",
    short_mission: "PrimaryExemptPurposeTxt",
    short_program: "ProgramSrvcAccomplishmentGrp",
    short_program_text: "DescriptionProgramSrvcAccomTxt",
    short_program_expenses: "ProgramServiceExpensesAmt",
    foundation_contributions: "ContriRcvdRevAndExpnssAmt",
    foundation_revenue: "TotalRevAndExpnssAmt",
    foundation_expenses: "TotalExpensesRevAndExpnssAmt",
    foundation_charitable: "TotalExpensesDsbrsChrtblAmt",
    foundation_balance: "Form990PFBalanceSheetsGrp",
    foundation_activities: "SummaryOfDirectChrtblActyGrp",
    foundation_activity: "Description1Txt",
    officer: "Form990PartVIISectionAGrp",
    explanation: "SupplementalInformationDetail",
    explanation_reference: "FormAndLineReferenceDesc",
    explanation_text: "ExplanationTxt",
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::form990::files::read_files;
    use crate::import::form990::reader::Document;
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::PathBuf;

    fn write(returns: Returns) -> (tempfile::TempDir, Vec<PathBuf>) {
        let folder = tempfile::tempdir().unwrap();
        returns.write(folder.path()).unwrap();
        let mut paths: Vec<PathBuf> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        paths.sort();
        (folder, paths)
    }

    const SOME: Returns = Returns {
        count: 300,
        nonprofits: 100,
        seed: 7,
        damaged: false,
    };

    #[test]
    fn generated_returns_are_read_and_belong_to_generated_nonprofits() {
        let (folder, paths) = write(SOME);
        let mut eo = Vec::new();
        crate::generate::generate(100, 7, &mut eo).unwrap();
        let eo = String::from_utf8(eo).unwrap();
        let known: BTreeSet<u32> = eo
            .lines()
            .skip(1)
            .map(|line| line[..9].parse().unwrap())
            .collect();
        let (mut forms, mut versions, mut newest) = (BTreeMap::new(), BTreeSet::new(), BTreeMap::new());
        let (mut amended, mut size) = (0, 0);
        let files = read_files(&paths, |found| {
            let Document::Return(each) = found.result.unwrap() else {
                panic!()
            };
            assert!(known.contains(&each.ein.value()));
            assert!(each.amounts.revenue.is_some() && each.amounts.assets.is_some() && each.name.is_some());
            *forms.entry(each.form).or_insert(0) += 1;
            versions.insert(each.version.clone());
            let key = (each.ein, each.period_end);
            let previous = newest.insert(key, found.object_id.clone());
            assert_eq!(previous.is_some(), each.is_amended);
            assert!(previous.is_none_or(|previous| previous < found.object_id));
            amended += usize::from(each.is_amended);
            Ok(())
        })
        .unwrap();
        for path in &paths {
            size += std::fs::metadata(path).unwrap().len();
        }
        assert_eq!((files.len(), files[0].lines, files[1].lines), (2, 300, 300));
        assert!(
            forms.len() == 3 && versions.len() >= 5 && amended > 0,
            "{forms:?} {versions:?} {amended}"
        );
        assert!(size / 300 > 2_000, "{size}");
        let zip = std::fs::read(folder.path().join("2024_TEOS_XML_01A.zip")).unwrap();
        assert!(
            memchr::memmem::find(&zip, b"PK\x06\x06").is_some(),
            "the last bundle is ZIP64"
        );
    }

    #[test]
    fn the_same_seed_writes_the_same_returns_and_damage_is_only_made_on_request() {
        let read = |returns: Returns| {
            let (_folder, paths) = write(returns);
            let (mut all, mut refused) = (Vec::new(), 0);
            read_files(&paths, |found| {
                refused += usize::from(found.result.is_err());
                all.push(found);
                Ok(())
            })
            .unwrap();
            (all, refused)
        };
        assert_eq!(read(SOME), read(SOME));
        let (all, refused) = read(Returns {
            damaged: true,
            ..SOME
        });
        assert!(all.len() == 300 && refused > 0 && refused < 20, "{refused}");
    }
}

//! E-file returns for imports.

use std::fmt::Write;

/// A return of Form 990 in the element names since 2013.
#[derive(Clone)]
pub struct Return {
    ein: String,
    period_end: String,
    filed_at: String,
    header: String,
    form: String,
}

/// A return for the year to `period_end`, such as `2022-12-31`, of a nonprofit that is in no other way described.
pub fn filed_return(ein: &str, period_end: &str) -> Return {
    Return {
        ein: ein.to_owned(),
        period_end: period_end.to_owned(),
        filed_at: format!("{period_end}T10:00:00-05:00"),
        header: String::new(),
        form: String::new(),
    }
}

impl Return {
    /// Adds an element to the form.
    pub fn with(mut self, element: &str, value: &str) -> Return {
        let _ = write!(self.form, "<{element}>{value}</{element}>");
        self
    }

    pub fn named(mut self, name: &str) -> Return {
        let _ = write!(
            self.header,
            "<BusinessName><BusinessNameLine1Txt>{name}</BusinessNameLine1Txt></BusinessName>"
        );
        self
    }

    pub fn filed_at(mut self, time: &str) -> Return {
        time.clone_into(&mut self.filed_at);
        self
    }

    pub fn revenue(self, dollars: i64) -> Return {
        self.with("CYTotalRevenueAmt", &dollars.to_string())
    }

    pub fn xml(&self) -> String {
        self.xml_of("990", "IRS990")
    }

    /// A return of another form with the same header.
    pub fn xml_of(&self, form: &str, element: &str) -> String {
        format!(
            r#"<?xml version="1.0" encoding="utf-8"?>
<Return xmlns="http://www.irs.gov/efile" returnVersion="2022v5.0"><ReturnHeader>
<ReturnTs>{}</ReturnTs><TaxPeriodEndDt>{}</TaxPeriodEndDt><ReturnTypeCd>{form}</ReturnTypeCd>
<Filer><EIN>{}</EIN>{}</Filer></ReturnHeader>
<ReturnData><{element}>{}</{element}></ReturnData></Return>"#,
            self.filed_at, self.period_end, self.ein, self.header, self.form
        )
    }
}

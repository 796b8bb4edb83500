//! The nonprofit or fundraiser that a donation is for.

use crate::app::App;
use crate::http::error::{Error, Result};
use crate::site::find::find as find_nonprofit;
use crate::site::fundraiser_links;
use crate::web::{Layout, Section};
use directory::NonprofitRef;
use directory::nonprofits::identifier::Identifier;
use giving::checkout::Donation;
use giving::fundraisers::{Fundraiser, store as fundraiser_store};
use giving::providers::Provider;
use platform::ids::{FundraiserId, NonprofitId};

/// The recipient of a donation: a nonprofit or a fundraiser.
#[derive(Debug)]
pub struct Target {
    pub nonprofit: NonprofitId,
    pub fundraiser: Option<FundraiserId>,
    pub name: String,
    /// The path of its page.
    pub path: String,
    /// Why it cannot receive donations.
    pub refusal: Option<&'static str>,
}

impl Target {
    pub async fn nonprofit(app: &App, text: &str) -> Result<Target> {
        let found = find_nonprofit(&app.directory, text).await?;
        Target::of_nonprofit(app, &found)
    }

    fn of_nonprofit(app: &App, found: &NonprofitRef) -> Result<Target> {
        let nonprofit = found.nonprofit().ok_or(Error::Internal)?;
        let texts = &Layout::new(Section::Other).p.give;
        Ok(Target {
            nonprofit: nonprofit.id,
            fundraiser: None,
            name: nonprofit.name.to_owned(),
            path: format!("/{}", nonprofit.slug),
            refusal: if app.config.giving == Provider::Off {
                Some(texts.off)
            } else {
                (!nonprofit.is_disbursable()).then_some(texts.not_possible)
            },
        })
    }

    pub async fn fundraiser(app: &App, nonprofit: &str, name: &str) -> Result<Target> {
        let shown = fundraiser_links::find(&app.directory, &app.giving.fundraisers, nonprofit, name).await?;
        Target::of_fundraiser(app, &shown.fundraiser).await
    }

    async fn of_fundraiser(app: &App, fundraiser: &Fundraiser) -> Result<Target> {
        let texts = &Layout::new(Section::Other).p.give;
        Ok(Target {
            nonprofit: fundraiser.nonprofit,
            fundraiser: Some(fundraiser.id),
            name: fundraiser.title.clone(),
            path: fundraiser_links::path_of(&app.directory, fundraiser).await?,
            refusal: if app.config.giving == Provider::Off {
                Some(texts.off)
            } else {
                (!fundraiser.is_active(app.clock.millis())).then_some(texts.not_open)
            },
        })
    }

    /// Returns the recipient of a donation that was started.
    pub async fn of(app: &App, donation: &Donation) -> Result<Target> {
        match donation.fundraiser {
            None => {
                let found = app.directory.find(&Identifier::Id(donation.nonprofit)).await?;
                Target::of_nonprofit(app, &found.ok_or(Error::NotFound)?)
            }
            Some(id) => {
                let found = fundraiser_store::find(&app.db, id).await?;
                let fundraiser = found.ok_or(Error::NotFound)?;
                // Also if it was hidden since: the donor can still open the receipt.
                Target::of_fundraiser(app, &fundraiser).await
            }
        }
    }
}

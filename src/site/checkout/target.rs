//! The nonprofit or fundraiser that a donation is for.

use crate::app::App;
use crate::http::error::{Error, Result};
use crate::site::find::find as find_nonprofit;
use crate::site::fundraiser_links;
use crate::web::{Layout, Section};
use directory::NonprofitRef;
use directory::nonprofits::identifier::Identifier;
use directory::nonprofits::store as nonprofits;
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
    /// Whether donations to it are deductible: to all of them, if a fundraiser is for several.
    pub is_deductible: bool,
    /// Why it cannot receive donations.
    pub refusal: Option<&'static str>,
    /// The nonprofit's own account at Stripe, which is charged. None if it is the operator's.
    pub account: Option<String>,
}

impl Target {
    pub async fn nonprofit(app: &App, text: &str) -> Result<Target> {
        let found = find_nonprofit(&app.directory, text).await?;
        Target::of_nonprofit(app, &found).await
    }

    async fn of_nonprofit(app: &App, found: &NonprofitRef) -> Result<Target> {
        let nonprofit = found.nonprofit().ok_or(Error::Internal)?;
        let texts = &Layout::new(Section::Other).p.give;
        let account = find_account(app, nonprofit.id).await?;
        Ok(Target {
            nonprofit: nonprofit.id,
            fundraiser: None,
            name: nonprofit.name.to_owned(),
            path: format!("/{}", nonprofit.slug),
            is_deductible: nonprofit.is_deductible(),
            refusal: if app.config.giving == Provider::Off {
                Some(texts.off)
            } else {
                (!app.directory.may_receive(&nonprofit) || has_no_donee(app, account.as_deref()))
                    .then_some(texts.not_possible)
            },
            account,
        })
    }

    pub async fn fundraiser(app: &App, nonprofit: &str, name: &str) -> Result<Target> {
        let shown = fundraiser_links::find(&app.directory, &app.giving.fundraisers, nonprofit, name).await?;
        Target::of_fundraiser(app, &shown.fundraiser).await
    }

    async fn of_fundraiser(app: &App, fundraiser: &Fundraiser) -> Result<Target> {
        let texts = &Layout::new(Section::Other).p.give;
        // One charge has one account.
        let account = if fundraiser.is_multiple() {
            None
        } else {
            find_account(app, fundraiser.nonprofit).await?
        };
        Ok(Target {
            nonprofit: fundraiser.nonprofit,
            fundraiser: Some(fundraiser.id),
            name: fundraiser.title.clone(),
            path: fundraiser_links::path_of(&app.directory, fundraiser).await?,
            is_deductible: are_deductible(app, fundraiser).await?,
            refusal: if app.config.giving == Provider::Off {
                Some(texts.off)
            } else if has_no_donee(app, account.as_deref()) {
                Some(texts.not_possible)
            } else if !may_all_receive(app, fundraiser).await? {
                Some(texts.fundraiser_stopped)
            } else {
                (!fundraiser.is_active(app.clock.millis())).then_some(texts.not_open)
            },
            account,
        })
    }

    /// Returns the recipient of a donation that was started.
    pub async fn of(app: &App, donation: &Donation) -> Result<Target> {
        match donation.fundraiser {
            None => {
                let found = app.directory.find(&Identifier::Id(donation.nonprofit)).await?;
                Target::of_nonprofit(app, &found.ok_or(Error::NotFound)?).await
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

/// Returns whether donations to all nonprofits of a fundraiser are deductible.
async fn are_deductible(app: &App, fundraiser: &Fundraiser) -> Result<bool> {
    for (id, _) in &fundraiser.supported {
        let found = app.directory.find(&Identifier::Id(*id)).await?;
        let nonprofit = found.as_ref().and_then(NonprofitRef::nonprofit);
        if !nonprofit.is_some_and(|nonprofit| nonprofit.is_deductible()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns whether all nonprofits of a fundraiser can receive donations.
async fn may_all_receive(app: &App, fundraiser: &Fundraiser) -> Result<bool> {
    for (id, _) in &fundraiser.supported {
        let found = app.directory.find(&Identifier::Id(*id)).await?;
        let nonprofit = found.as_ref().and_then(NonprofitRef::nonprofit);
        if nonprofit.is_none_or(|nonprofit| !app.directory.may_receive(&nonprofit)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the nonprofit's own account at Stripe, if that is charged.
pub async fn find_account(app: &App, nonprofit: NonprofitId) -> Result<Option<String>> {
    if app.payment_page().is_none() || !app.config.stripe.is_connect() {
        return Ok(None);
    }
    Ok(nonprofits::find_stripe_account(&app.db, nonprofit).await?)
}

/// Returns whether nobody could receive a donation: neither the nonprofit itself, nor the one that runs this site.
pub fn has_no_donee(app: &App, account: Option<&str>) -> bool {
    app.payment_page().is_some() && account.is_none() && app.config.recipient.is_none()
}

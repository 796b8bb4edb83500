//! Whom a gift is for, as the pages of giving need it.

use crate::app::App;
use crate::http::error::{Error, Result};
use crate::site::find::find as find_nonprofit;
use crate::site::fundraiser_links;
use crate::web::{Frame, Place};
use giving::fundraisers::store as fundraiser_store;
use giving::payments::Donation;
use platform::ids::{FundraiserId, NonprofitId};

/// A nonprofit or a fundraiser.
#[derive(Debug)]
pub struct Target {
    pub nonprofit: NonprofitId,
    pub fundraiser: Option<FundraiserId>,
    pub name: String,
    /// The path of its page.
    pub address: String,
    /// Why nothing can be given to it.
    pub refusal: Option<&'static str>,
}

impl Target {
    pub async fn nonprofit(app: &App, text: &str) -> Result<Target> {
        let found = find_nonprofit(&app.directory, text).await?;
        let nonprofit = found.nonprofit().ok_or(Error::Internal)?;
        let texts = &Frame::new(Place::Elsewhere).p.give;
        Ok(Target {
            nonprofit: nonprofit.id,
            fundraiser: None,
            name: nonprofit.name.to_owned(),
            address: format!("/{}", nonprofit.slug),
            refusal: (!nonprofit.is_disbursable()).then_some(texts.not_possible),
        })
    }

    pub async fn fundraiser(app: &App, nonprofit: &str, name: &str) -> Result<Target> {
        let shown = fundraiser_links::find(&app.directory, &app.fundraisers, nonprofit, name).await?;
        let fundraiser = &shown.fundraiser;
        let texts = &Frame::new(Place::Elsewhere).p.give;
        Ok(Target {
            nonprofit: fundraiser.nonprofit,
            fundraiser: Some(fundraiser.id),
            name: fundraiser.title.clone(),
            address: fundraiser_links::address(&app.directory, fundraiser).await?,
            refusal: (!fundraiser.is_active(app.clock.millis())).then_some(texts.not_open),
        })
    }

    /// Whom a gift that was started is for.
    pub async fn of(app: &App, gift: &Donation) -> Result<Target> {
        match gift.fundraiser {
            None => Target::nonprofit(app, &gift.nonprofit.to_string()).await,
            Some(id) => {
                let found = fundraiser_store::find(&app.db, id).await?;
                let fundraiser = found.ok_or(Error::NotFound)?;
                let nonprofit = fundraiser.nonprofit.to_string();
                Target::fundraiser(app, &nonprofit, &fundraiser.slug).await
            }
        }
    }
}

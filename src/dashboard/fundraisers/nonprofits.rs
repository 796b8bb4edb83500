//! The nonprofits of a form: finds those that it names, or those that a name may mean.

use crate::app::App;
use crate::http::error::Result;
use crate::web::form::picker::{NonprofitMatch, NonprofitPicker, PickerRow};
use crate::web::texts::{PickerTexts, fill};
use directory::nonprofits::Nonprofit;
use directory::{NonprofitRef, ResolveError};
use giving::fundraisers::input::SupportedInput;
use giving::fundraisers::rules::is_weight;
use platform::ids::NonprofitId;

/// The matches of a name to choose from.
const MAX_MATCHES: usize = 6;
/// The matches that are looked at. Some cannot receive donations.
const MAX_SEARCHED: usize = 24;

/// Finds the nonprofits of a form, with their shares. Adds an error to each field that does not name one.
pub(super) async fn resolve(
    app: &App,
    picker: &mut NonprofitPicker,
    t: &PickerTexts,
) -> Result<Vec<(NonprofitId, f64)>> {
    let mut found: Vec<(NonprofitId, f64)> = Vec::new();
    for row in picker.rows.iter_mut().filter(|row| !row.text.is_empty()) {
        let Some(id) = resolve_row(app, row, t).await? else {
            continue;
        };
        let share = match row.share.as_str() {
            "" => Some(1.0),
            text => text.parse().ok().filter(|share| is_weight(*share)),
        };
        if share.is_none() {
            row.share_error = Some(t.invalid_share.to_owned());
        }
        if found.iter().any(|(other, _)| *other == id) {
            row.error = Some(t.twice.to_owned());
        } else if let Some(share) = share {
            found.push((id, share));
        }
    }
    Ok(found)
}

async fn resolve_row(app: &App, row: &mut PickerRow, t: &PickerTexts) -> Result<Option<NonprofitId>> {
    let text = row.chosen_id.as_deref().unwrap_or(&row.text);
    let found = match app.directory.resolve_lenient(text).await {
        Err(ResolveError::Store(error)) => return Err(error.into()),
        found => found.ok(),
    };
    if let Some(nonprofit) = found.as_ref().and_then(NonprofitRef::nonprofit) {
        if !nonprofit.is_disbursable() {
            row.error = Some(t.not_disbursable.to_owned());
            return Ok(None);
        }
        row.chosen = Some(to_match(&nonprofit, t));
        nonprofit.name.clone_into(&mut row.text);
        return Ok(Some(nonprofit.id));
    }
    let view = app.directory.view();
    let matches = view.search(&row.text, MAX_SEARCHED);
    let matches = matches.iter().map(|hit| &hit.nonprofit);
    row.matches = matches
        .filter(|nonprofit| nonprofit.is_disbursable())
        .take(MAX_MATCHES)
        .map(|nonprofit| to_match(nonprofit, t))
        .collect();
    row.error = Some(
        if row.matches.is_empty() {
            t.unknown
        } else {
            t.which_error
        }
        .to_owned(),
    );
    Ok(None)
}

/// Finds the nonprofit that a link to the form names, if it can receive donations.
pub(super) async fn find(app: &App, text: &str, t: &PickerTexts) -> Result<Option<NonprofitMatch>> {
    let found = match app.directory.resolve_lenient(text).await {
        Err(ResolveError::Store(error)) => return Err(error.into()),
        found => found.ok(),
    };
    let nonprofit = found.as_ref().and_then(NonprofitRef::nonprofit);
    let nonprofit = nonprofit.filter(Nonprofit::is_disbursable);
    Ok(nonprofit.map(|nonprofit| to_match(&nonprofit, t)))
}

fn to_match(nonprofit: &Nonprofit<'_>, t: &PickerTexts) -> NonprofitMatch {
    let ein = nonprofit.ein.map(|ein| {
        let digits = ein.to_string();
        let (prefix, rest) = digits.split_at(2.min(digits.len()));
        fill(t.ein, &[("ein", &format!("{prefix}-{rest}"))])
    });
    let location = Some(nonprofit.location()).filter(|location| !location.is_empty());
    let chapter = nonprofit.distinguishing_chapter().map(str::to_owned);
    let details: Vec<String> = [chapter, location, ein].into_iter().flatten().collect();
    NonprofitMatch {
        slug: nonprofit.slug.to_owned(),
        name: nonprofit.name.to_owned(),
        details: details.join(" · "),
    }
}

/// Converts the nonprofits of a form. A fundraiser for one nonprofit has no shares.
pub(super) fn to_input(nonprofits: Vec<(NonprofitId, f64)>) -> SupportedInput {
    match nonprofits.as_slice() {
        [(id, _)] => SupportedInput::One(*id),
        _ => SupportedInput::Several(nonprofits),
    }
}

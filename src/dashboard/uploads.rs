//! Pictures that people upload on the dashboard.
//!
//! A picture is stored at once, and the form then has a token that stands for it. The token is signed: otherwise anyone
//! who knows the ID of a picture could use it, also one that an operator has hidden.

use crate::app::App;
use crate::dashboard::standing::refuse_to_create;
use crate::http::body;
use crate::http::error::{Error, Result};
use crate::web::form::picture::TOKEN;
use crate::web::layout::Tab;
use crate::web::texts::PictureTexts;
use crate::web::{Form, FormData, Layout};
use access::sessions::SignedIn;
use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use pictures::error::PictureError;
use platform::hosted::is_hosted_id;
use platform::ids::AccountId;
use platform::secret::StoreSecret;
use serde_json::json;

/// Where scripts send a picture.
pub const PATH: &str = "/dashboard/pictures";
/// The purpose of the signature of a token.
const PURPOSE: &str = "uploaded picture";

/// `POST /dashboard/pictures`: stores the picture that is the body, and returns its token and URL, or the `error` to show
/// to the person.
pub async fn upload(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    request: Request,
) -> Result<Response> {
    if let Some(refusal) = refuse_to_create(&app, &user, &layout, Tab::Fundraisers).await? {
        return Ok(refusal);
    }
    let bytes = match body::read(request).await {
        Err(Error::TooLarge(_)) => return Err(Error::PictureTooLarge),
        read => read?,
    };
    Ok(match store(&app, &user, bytes, &layout.f.picture).await? {
        Ok(id) => {
            let token = token(&app.secret, user.account, &id);
            Json(json!({"token": token, "url": format!("/media/{id}?w=1024")})).into_response()
        }
        Err(error) => Json(json!({"error": error})).into_response(),
    })
}

/// Takes the picture of a form: one that was just sent, or one that was stored before. Adds an error to the form if it
/// cannot be used. The data then has the token of the picture.
pub async fn take(
    app: &App,
    user: &SignedIn,
    form: &mut Form,
    data: &mut FormData,
    file: Option<Vec<u8>>,
    t: &PictureTexts,
) -> Result<Option<String>> {
    let stored = data.text(TOKEN);
    let id = match file {
        Some(bytes) => match store(app, user, bytes, t).await? {
            Ok(id) => id,
            Err(error) => {
                form.add_error("image", error);
                return Ok(None);
            }
        },
        None if stored.is_empty() => return Ok(None),
        None => {
            let id = parse(&app.secret, user.account, stored);
            // A picture that was not used for a day is removed.
            match id {
                Some(id) if app.pictures.reuse(id).await? => {
                    if let Err(error) = to_message(app.pictures.charge(user.account, id).await)? {
                        form.add_error("image", error);
                        return Ok(None);
                    }
                    id.to_owned()
                }
                _ => {
                    form.add_error("image", t.expired);
                    return Ok(None);
                }
            }
        }
    };
    let token = token(&app.secret, user.account, &id);
    if let Some(picture) = form.picture_mut() {
        picture.show_sent(&id, token.clone());
    }
    data.set(TOKEN, token);
    Ok(Some(id))
}

/// Stores a picture and returns its ID, or an error for the person.
async fn store(
    app: &App,
    user: &SignedIn,
    bytes: Vec<u8>,
    t: &PictureTexts,
) -> Result<Result<String, String>> {
    if app
        .access
        .attempts
        .picture(&user.username, app.clock.instant())
        .await
        .is_err()
    {
        return Ok(Err(t.too_often.to_owned()));
    }
    let picture = app.pictures.upload(user.account, bytes).await;
    to_message(picture.map(|picture| picture.id))
}

/// Turns the reason for which a picture is refused into an error for the person.
fn to_message<T>(result: std::result::Result<T, PictureError>) -> Result<Result<T, String>> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(error) if error.is_unavailable() => Err(Error::Unavailable),
        Err(error) => Ok(Err(error.to_string())),
    }
}

fn token(secret: &StoreSecret, account: AccountId, id: &str) -> String {
    format!("{id}.{}", secret.sign(PURPOSE, &message(account, id)))
}

fn message(account: AccountId, id: &str) -> Vec<u8> {
    [account.0.as_bytes(), id.as_bytes()].concat()
}

/// Returns the ID of the picture that a token of this account stands for.
fn parse<'a>(secret: &StoreSecret, account: AccountId, text: &'a str) -> Option<&'a str> {
    let (id, signature) = text.split_once('.')?;
    let is_valid = is_hosted_id(id) && secret.is_signed(PURPOSE, &message(account, id), signature);
    is_valid.then_some(id)
}

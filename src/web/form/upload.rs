//! Forms that can contain a file.

use super::data::{FormData, MAX_FORM_SIZE};
use super::multipart;
use crate::app::App;
use crate::http::body;
use crate::http::error::Error;
use axum::extract::{FromRequest, Request};
use axum::http::header::CONTENT_TYPE;

/// The fields of a submitted form, and its file.
#[derive(Debug)]
pub struct UploadForm {
    pub data: FormData,
    /// The content of the file, if one was chosen.
    pub file: Option<Vec<u8>>,
}

impl FromRequest<App> for UploadForm {
    type Rejection = Error;

    async fn from_request(request: Request, app: &App) -> Result<UploadForm, Error> {
        let media_type = request.headers().get(CONTENT_TYPE);
        let boundary = media_type.and_then(|media_type| media_type.to_str().ok());
        let Some(boundary) = boundary.and_then(multipart::boundary) else {
            return Ok(UploadForm {
                data: FormData::from_request(request, app).await?,
                file: None,
            });
        };
        let bytes = match body::read(request).await {
            Err(Error::TooLarge(_)) => return Err(Error::PictureTooLarge),
            read => read?,
        };
        let parts = multipart::parse(&boundary, &bytes).ok_or(Error::NotAForm)?;
        let mut fields = Vec::with_capacity(parts.len());
        let (mut file, mut size) = (None, 0);
        for part in parts {
            if part.is_file {
                if part.has_file_name && file.is_none() {
                    file = Some(part.content.to_vec());
                }
                continue;
            }
            size += part.content.len();
            if size > MAX_FORM_SIZE {
                return Err(Error::TooLarge(MAX_FORM_SIZE));
            }
            fields.push((part.name, String::from_utf8_lossy(part.content).into_owned()));
        }
        Ok(UploadForm {
            data: FormData::new(fields),
            file,
        })
    }
}

//! Flash messages: messages that the next page shows once. The cookie contains the name of a message and not its text,
//! so that a forged cookie cannot put text on our pages.

use super::texts::Texts;
use axum::extract::Request;
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderMap, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use axum_extra::extract::cookie::{Cookie, CookieJar, SameSite};
use platform::public_url::PublicUrl;

const COOKIE: &str = "causeway_flash";

macro_rules! flashes {
    ($($flash:ident = $name:ident,)*) => {
        /// A message about what was just done.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Flash {
            $($flash,)*
        }

        impl Flash {
            const ALL: &[Flash] = &[$(Flash::$flash,)*];

            const fn name(self) -> &'static str {
                match self {
                    $(Flash::$flash => stringify!($name),)*
                }
            }

            /// Returns the text to show.
            pub fn text(self, t: &Texts) -> &'static str {
                match self {
                    $(Flash::$flash => t.flash.$name,)*
                }
            }
        }
    };
}

flashes! {
    SignedIn = signed_in,
    SignedOut = signed_out,
    Welcome = welcome,
    PasswordChanged = password_changed,
    SessionEnded = session_ended,
    SessionsEnded = sessions_ended,
    EmailsChanged = emails_changed,
    WebhookChanged = webhook_changed,
    WebhookTested = webhook_tested,
    WebhookIsDisabled = webhook_is_disabled,
    WebhookEnabled = webhook_enabled,
    WebhookDisabled = webhook_disabled,
    WebhookDeleted = webhook_deleted,
    WebhookReplayed = webhook_replayed,
    WebhookResent = webhook_resent,
    AccountDeleted = account_deleted,
    EmailConfirmed = email_confirmed,
    ProfileChanged = profile_changed,
    EmailChanged = email_changed,
    TwoFactorOff = two_factor_off,
    TwoFactorReset = two_factor_reset,
    FundraiserCreated = fundraiser_created,
    FundraiserChanged = fundraiser_changed,
    FundraiserClosed = fundraiser_closed,
    FundraiserReopened = fundraiser_reopened,
    ThanksAccepted = thanks_accepted,
    OriginAdded = origin_added,
    OriginProven = origin_proven,
    OriginAllowed = origin_allowed,
    OriginRemoved = origin_removed,
    KeyRevoked = key_revoked,
    KeyBlocked = key_blocked,
    KeyUnblocked = key_unblocked,
    LimitsSet = limits_set,
    AccountSuspended = account_suspended,
    AccountRestored = account_restored,
    NameRemoved = name_removed,
    PictureRemoved = picture_removed,
    FundraiserHidden = fundraiser_hidden,
    FundraiserShown = fundraiser_shown,
    CommentRemoved = comment_removed,
    ReportClosed = report_closed,
    EligibilityDecided = eligibility_decided,
    EligibilityUndone = eligibility_undone,
    DifferenceExplained = difference_explained,
    RefundDone = refund_done,
    RefundAsked = refund_asked,
    BatchPrepared = batch_prepared,
    BatchApproved = batch_approved,
    LineMarked = line_marked,
    Reassigned = reassigned,
    PayeeSaved = payee_saved,
    PayeeChanged = payee_changed,
    ClaimProven = claim_proven,
    ClaimApproved = claim_approved,
    ClaimWithdrawn = claim_withdrawn,
    ClaimDecided = claim_decided,
    LinkSent = link_sent,
    InvitationSent = invitation_sent,
    InvitationWithdrawn = invitation_withdrawn,
    FundraiserDecided = fundraiser_decided,
    PageChanged = page_changed,
    AlreadyDone = already_done,
}

impl Flash {
    /// Redirects to a page that shows the message.
    pub fn redirect(self, public_url: &PublicUrl, path: &str) -> Response {
        (self.cookie(public_url), Redirect::to(path)).into_response()
    }

    /// Returns the cookie that shows the message on the next page, for a response that needs more than [`Flash::redirect`].
    pub fn cookie(self, public_url: &PublicUrl) -> CookieJar {
        let cookie = Cookie::build((COOKIE, self.name()))
            .path("/")
            .http_only(true)
            .same_site(SameSite::Lax)
            .secure(public_url.is_https());
        CookieJar::new().add(cookie)
    }

    /// Returns the message that the cookie of a request names.
    pub fn find(headers: &HeaderMap) -> Option<Flash> {
        let jar = CookieJar::from_headers(headers);
        let name = jar.get(COOKIE)?.value().to_owned();
        Flash::ALL.iter().copied().find(|flash| flash.name() == name)
    }
}

/// Removes the cookie once a page has shown its message. A redirect shows nothing, so it keeps the cookie.
pub async fn clear_shown(request: Request, next: Next) -> Response {
    let shown = Flash::find(request.headers()).is_some();
    let mut response = next.run(request).await;
    if shown && !response.status().is_redirection() {
        let mut cookie = Cookie::build((COOKIE, "")).path("/").build();
        cookie.make_removal();
        let cookie = HeaderValue::try_from(cookie.to_string()).expect("a cookie is ASCII");
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}

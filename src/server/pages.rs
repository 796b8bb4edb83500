//! The routes of all pages, in one list.

use crate::app::App;
use crate::app::admission::Cost;
use crate::dashboard::fundraisers as own_fundraisers;
use crate::dashboard::nonprofits::{
    claim, consent, donations as own_donations, edit as own_edit, fundraisers as nonprofit_fundraisers,
    invitations, members,
};
use crate::dashboard::operator::claims as operator_claims;
use crate::dashboard::operator::{account as operator_account, key as operator_key, pages as operator_lists};
use crate::dashboard::operator::{
    design as operator_design, disburse as operator_disburse, disburse_batch as operator_batch,
    donation as operator_donation, donations as operator_donations, eligibility as operator_eligibility,
    fundraisers as operator_fundraisers, home as operator_home, money as operator_money,
    monthly as operator_monthly, nonprofit as operator_nonprofit, origins as operator_origins,
    payees as operator_payees, reports as operator_reports, search as operator_search,
    webhooks as operator_webhooks,
};
use crate::dashboard::origins;
use crate::dashboard::{email_change, email_choices, reset, settings, sign_in, sign_in_code, two_factor};
use crate::dashboard::{first_steps, keys};
use crate::dashboard::{public_profile, uploads, usage, webhooks, welcome};
use crate::http::routing::{form, get, heavy_get, post, upload_form};
use crate::site::checkout::{self, former_urls};
use crate::site::embed::pages as embed;
use crate::site::{
    causes, crawlers, developers, feeds, home, legal, profile, report, results, search, sitemaps,
};
use crate::site::{
    correct, disbursement, eligibility, fundraiser, fundraiser_proof, fundraisers, monthly, receipts,
    statement, thanks,
};
use crate::web::{flash, guard};
use axum::Router;
use axum::middleware::from_fn;
use utoipa::openapi::OpenApi;

/// Returns the routes of all pages. Form submissions from other origins are rejected.
pub fn pages(app: &App, description: &'static OpenApi) -> Router<App> {
    Router::new()
        .merge(public())
        .merge(account())
        .merge(operator())
        .merge(developers::routes(app, description))
        .route("/dashboard", get(keys::keys))
        .route("/dashboard/keys/new", form(keys::new_page, keys::create))
        .route("/dashboard/keys/{id}", get(keys::key))
        .route(
            "/dashboard/keys/{id}/limits",
            form(keys::key, keys::set_address_limit),
        )
        .route(
            "/dashboard/keys/{id}/rotate",
            form(keys::rotate_page, keys::rotate),
        )
        .route("/dashboard/fundraisers", get(own_fundraisers::list))
        .route(
            "/dashboard/fundraisers/new",
            upload_form(own_fundraisers::new_page, own_fundraisers::create),
        )
        .route(
            "/dashboard/fundraisers/donations.csv",
            heavy_get(own_fundraisers::export::all),
        )
        .route("/dashboard/fundraisers/{id}", get(own_fundraisers::fundraiser))
        .route(
            "/dashboard/fundraisers/{id}/thank",
            form(own_fundraisers::thank::page, own_fundraisers::thank::send),
        )
        .route("/dashboard/fundraisers/{id}/poster", get(own_fundraisers::poster))
        .route(
            "/dashboard/fundraisers/{id}/donations.csv",
            heavy_get(own_fundraisers::export::of_one),
        )
        .route(
            "/dashboard/fundraisers/{id}/edit",
            upload_form(own_fundraisers::edit_page, own_fundraisers::edit),
        )
        .route(
            "/dashboard/fundraisers/{id}/close",
            form(own_fundraisers::close_page, own_fundraisers::close),
        )
        .route(
            "/dashboard/fundraisers/{id}/reopen",
            form(own_fundraisers::reopen_page, own_fundraisers::reopen),
        )
        .route("/dashboard/pictures", post(Cost::LARGE, uploads::upload))
        .merge(own_nonprofits())
        .route("/dashboard/webhooks", get(webhooks::list))
        .route(
            "/dashboard/webhooks/new",
            form(webhooks::new_page, webhooks::create),
        )
        .route("/dashboard/webhooks/{id}", get(webhooks::endpoint))
        .route(
            "/dashboard/webhooks/{id}/edit",
            form(webhooks::edit_page, webhooks::edit),
        )
        .route(
            "/dashboard/webhooks/{id}/test",
            form(webhooks::endpoint, webhooks::test),
        )
        .route(
            "/dashboard/webhooks/{id}/enable",
            form(webhooks::endpoint, webhooks::enable),
        )
        .route(
            "/dashboard/webhooks/{id}/disable",
            form(webhooks::endpoint, webhooks::disable),
        )
        .route(
            "/dashboard/webhooks/{id}/rotate",
            form(webhooks::rotate_page, webhooks::rotate),
        )
        .route(
            "/dashboard/webhooks/{id}/replay",
            form(webhooks::endpoint, webhooks::replay),
        )
        .route(
            "/dashboard/webhooks/{id}/delete",
            form(webhooks::delete_page, webhooks::delete),
        )
        .route(
            "/dashboard/webhooks/{id}/deliveries/{delivery}",
            get(webhooks::delivery),
        )
        .route(
            "/dashboard/webhooks/{id}/deliveries/{delivery}/retry",
            form(webhooks::delivery, webhooks::retry),
        )
        .route("/dashboard/usage", get(usage::usage))
        .route("/dashboard/usage.csv", heavy_get(usage::export))
        .route(
            "/dashboard/keys/{id}/revoke",
            form(keys::revoke_page, keys::revoke),
        )
        .layer(from_fn(flash::clear_shown))
        .layer(guard::csrf_layer(&app.config.public_url))
}

/// Returns the routes of the people who claim or run the page of a nonprofit.
fn own_nonprofits() -> Router<App> {
    Router::new()
        .route("/{slug}/claim", upload_form(claim::new_page, claim::request))
        .route("/dashboard/nonprofits", get(members::list))
        .route(
            "/dashboard/nonprofits/prove",
            form(claim::prove_page, claim::prove),
        )
        .route(
            "/dashboard/nonprofits/join",
            form(invitations::page, invitations::accept),
        )
        .route("/dashboard/nonprofits/claims/{id}", get(claim::claim))
        .route(
            "/dashboard/nonprofits/claims/{id}/check",
            form(claim::claim, claim::check),
        )
        .route(
            "/dashboard/nonprofits/claims/{id}/resend",
            form(claim::claim, claim::resend),
        )
        .route(
            "/dashboard/nonprofits/claims/{id}/withdraw",
            form(claim::claim, claim::withdraw),
        )
        .route("/dashboard/nonprofits/{id}", get(members::manage))
        .route(
            "/dashboard/nonprofits/{id}/edit",
            form(own_edit::page, own_edit::save),
        )
        .route("/dashboard/nonprofits/{id}/donations", get(own_donations::list))
        .route(
            "/dashboard/nonprofits/{id}/fundraisers",
            form(nonprofit_fundraisers::list, nonprofit_fundraisers::decide),
        )
        .route(
            "/dashboard/nonprofits/{id}/logo",
            upload_form(own_edit::logo_page, own_edit::save_logo),
        )
        .route(
            "/dashboard/nonprofits/{id}/cover",
            upload_form(own_edit::cover_page, own_edit::save_cover),
        )
        .route(
            "/dashboard/nonprofits/{id}/consent",
            form(consent::consent_page, consent::consent),
        )
        .route(
            "/dashboard/nonprofits/{id}/close",
            form(consent::close_page, consent::close),
        )
        .route(
            "/dashboard/nonprofits/{id}/invite",
            form(members::manage, invitations::send),
        )
        .route(
            "/dashboard/nonprofits/{id}/withdraw-invitation",
            form(members::manage, invitations::withdraw),
        )
}

/// Returns the routes of signing in and of the settings of an account.
fn account() -> Router<App> {
    Router::new()
        .route("/dashboard/first-steps", get(first_steps::first_steps))
        .route("/dashboard/welcome", get(welcome::welcome))
        .route(
            "/dashboard/sign-up",
            form(sign_in::sign_up_page, sign_in::sign_up),
        )
        .route(
            "/dashboard/sign-in",
            form(sign_in::sign_in_page, sign_in::sign_in),
        )
        .route(
            "/dashboard/sign-in/code",
            form(sign_in_code::page, sign_in_code::sign_in),
        )
        .route(
            "/dashboard/sign-out",
            form(sign_in::sign_out_page, sign_in::sign_out),
        )
        .route("/dashboard/reset", form(reset::request_page, reset::request))
        .route("/dashboard/reset/set", form(reset::set_page, reset::set))
        .route("/dashboard/confirm", form(reset::confirm_page, reset::confirm))
        .route("/dashboard/settings", get(settings::settings))
        .route(
            "/dashboard/settings/profile",
            upload_form(public_profile::profile_page, public_profile::change),
        )
        .route(
            "/dashboard/settings/password",
            form(settings::settings, settings::change_password),
        )
        .route(
            "/dashboard/settings/email",
            form(settings::settings, email_change::request),
        )
        .route(
            "/dashboard/settings/email/confirm",
            form(email_change::confirm_page, email_change::confirm),
        )
        .route(
            "/dashboard/settings/two-factor",
            form(two_factor::page, two_factor::begin),
        )
        .route(
            "/dashboard/settings/two-factor/setup",
            form(two_factor::setup_page, two_factor::confirm),
        )
        .route(
            "/dashboard/settings/two-factor/codes",
            form(two_factor::page, two_factor::replace_codes),
        )
        .route(
            "/dashboard/settings/two-factor/off",
            form(two_factor::page, two_factor::turn_off),
        )
        .route(
            "/dashboard/settings/sessions",
            form(settings::settings, settings::end_sessions),
        )
        .route(
            "/dashboard/settings/emails",
            form(settings::settings, email_choices::change),
        )
        .route(
            "/dashboard/emails/stop",
            form(email_choices::stop_page, email_choices::stop),
        )
        .route(
            "/dashboard/settings/origins",
            form(settings::settings, origins::add),
        )
        .route(
            "/dashboard/settings/origins/check",
            form(settings::settings, origins::check),
        )
        .route(
            "/dashboard/settings/origins/remove",
            form(settings::settings, origins::remove),
        )
        .route(
            "/dashboard/settings/delete",
            form(settings::delete_page, settings::delete),
        )
}

/// Returns the routes of the operator pages.
fn operator() -> Router<App> {
    Router::new()
        .route("/dashboard/operator", get(operator_home::home))
        .route("/dashboard/operator/search", get(operator_search::search))
        .route(
            "/dashboard/operator/nonprofits/{id}",
            get(operator_nonprofit::nonprofit),
        )
        .route("/dashboard/operator/accounts", get(operator_lists::accounts))
        .route(
            "/dashboard/operator/accounts/{username}",
            get(operator_account::account),
        )
        .route(
            "/dashboard/operator/accounts/{username}/suspend",
            form(operator_account::account, operator_account::suspend),
        )
        .route(
            "/dashboard/operator/accounts/{username}/restore",
            form(operator_account::account, operator_account::restore),
        )
        .route(
            "/dashboard/operator/accounts/{username}/reset-two-factor",
            form(operator_account::account, operator_account::reset_two_factor),
        )
        .route(
            "/dashboard/operator/accounts/{username}/remove-name",
            form(operator_account::remove_name_page, operator_account::remove_name),
        )
        .route(
            "/dashboard/operator/accounts/{username}/remove-picture",
            form(
                operator_account::remove_picture_page,
                operator_account::remove_picture,
            ),
        )
        .route("/dashboard/operator/webhooks", get(operator_webhooks::list))
        .route(
            "/dashboard/operator/webhooks/{id}/disable",
            form(operator_webhooks::disable_page, operator_webhooks::disable),
        )
        .route("/dashboard/operator/fundraisers", get(operator_fundraisers::list))
        .route(
            "/dashboard/operator/fundraisers/{id}",
            get(operator_fundraisers::fundraiser),
        )
        .route(
            "/dashboard/operator/fundraisers/{id}/hide",
            form(operator_fundraisers::fundraiser, operator_fundraisers::hide),
        )
        .route(
            "/dashboard/operator/fundraisers/{id}/show",
            form(operator_fundraisers::fundraiser, operator_fundraisers::show_again),
        )
        .route(
            "/dashboard/operator/fundraisers/{id}/comments/remove",
            form(
                operator_fundraisers::fundraiser,
                operator_fundraisers::remove_comment,
            ),
        )
        .route("/dashboard/operator/reports", get(operator_reports::list))
        .route(
            "/dashboard/operator/reports/{id}/close",
            form(operator_reports::list, operator_reports::close),
        )
        .route(
            "/dashboard/operator/reports/{id}/hide",
            form(operator_reports::list, operator_reports::hide),
        )
        .route(
            "/dashboard/operator/origins",
            form(operator_origins::list, operator_origins::allow),
        )
        .route("/dashboard/operator/keys", get(operator_lists::all_keys))
        .route("/dashboard/operator/keys/{id}", get(operator_key::key))
        .route(
            "/dashboard/operator/keys/{id}/block",
            form(operator_key::key, operator_key::block),
        )
        .route(
            "/dashboard/operator/keys/{id}/unblock",
            form(operator_key::key, operator_key::unblock),
        )
        .route(
            "/dashboard/operator/keys/{id}/limits",
            form(operator_key::key, operator_key::set_limits),
        )
        .route("/dashboard/operator/imports", get(operator_lists::all_imports))
        .route("/dashboard/operator/design", get(operator_design::design))
        .route("/dashboard/operator/errors", get(operator_lists::recent_errors))
        .route("/dashboard/operator/audit", get(operator_lists::audit_log))
        .merge(eligibility_to_decide())
        .merge(claims_to_decide())
        .merge(operator_money())
}

/// Returns the routes of the operator pages about eligibility.
fn eligibility_to_decide() -> Router<App> {
    Router::new()
        .route("/dashboard/operator/eligibility", get(operator_eligibility::list))
        .route(
            "/dashboard/operator/eligibility/decide",
            form(operator_eligibility::list, operator_eligibility::decide),
        )
        .route(
            "/dashboard/operator/eligibility/undo",
            form(operator_eligibility::list, operator_eligibility::undo),
        )
}

/// Returns the routes of the operator pages about claims of nonprofits.
fn claims_to_decide() -> Router<App> {
    Router::new()
        .route("/dashboard/operator/claims", get(operator_claims::list))
        .route(
            "/dashboard/operator/claims/consents.csv",
            heavy_get(operator_claims::consents),
        )
        .route(
            "/dashboard/operator/claims/open-again",
            form(operator_claims::list, operator_claims::open_again),
        )
        .route(
            "/dashboard/operator/claims/{id}/approve",
            form(operator_claims::list, operator_claims::approve),
        )
        .route(
            "/dashboard/operator/claims/{id}/end",
            form(operator_claims::list, operator_claims::end),
        )
        .route(
            "/dashboard/operator/claims/{id}/document",
            get(operator_claims::document),
        )
}

/// Returns the routes of the operator pages about donations and money.
fn operator_money() -> Router<App> {
    Router::new()
        .route("/dashboard/operator/donations", get(operator_donations::list))
        .route(
            "/dashboard/operator/donations/{id}",
            get(operator_donation::donation),
        )
        .route(
            "/dashboard/operator/donations/{id}/refund",
            form(operator_donation::donation, operator_donation::refund),
        )
        .route("/dashboard/operator/disburse", get(operator_disburse::overview))
        .route(
            "/dashboard/operator/disburse/prepare",
            form(operator_disburse::overview, operator_disburse::prepare),
        )
        .route(
            "/dashboard/operator/disburse/reassign",
            form(operator_disburse::reassign_page, operator_disburse::reassign),
        )
        .route("/dashboard/operator/disburse/{batch}", get(operator_batch::batch))
        .route(
            "/dashboard/operator/disburse/{batch}/approve",
            form(operator_batch::batch, operator_batch::approve),
        )
        .route(
            "/dashboard/operator/disburse/{batch}/export",
            form(operator_batch::batch, operator_batch::export),
        )
        .route(
            "/dashboard/operator/disburse/{batch}/{line}",
            form(operator_batch::line, operator_batch::mark),
        )
        .route("/dashboard/operator/payees", get(operator_payees::list))
        .route(
            "/dashboard/operator/payees/edit",
            form(operator_payees::edit_page, operator_payees::edit),
        )
        .route("/dashboard/operator/monthly", get(operator_monthly::list))
        .route("/dashboard/operator/money", get(operator_money::overview))
        .route(
            "/dashboard/operator/money/{id}/explain",
            form(operator_money::overview, operator_money::explain),
        )
}

/// Returns the routes of the public pages.
fn public() -> Router<App> {
    Router::new()
        .route("/", get(home::home))
        .route("/search", get(results::results))
        .route("/search.json", get(search::live))
        .route("/developers/embed", get(embed::embed))
        .route("/robots.txt", get(crawlers::robots))
        .route("/sitemap.xml", get(sitemaps::index))
        .route("/sitemaps/{file}", get(sitemaps::sitemap))
        .route("/opensearch.xml", get(crawlers::opensearch))
        .route("/.well-known/security.txt", get(crawlers::security))
        .route(feeds::PATH, get(feeds::all))
        .route("/fundraisers", heavy_get(fundraisers::list))
        .route("/about", get(legal::about))
        .route("/contact", get(legal::contact))
        .route("/privacy", get(legal::privacy))
        .route("/terms", get(legal::terms))
        .route("/accessibility", get(legal::accessibility))
        .route("/causes", get(causes::causes))
        .route("/causes/{cause}", get(causes::cause))
        .route("/{slug}", get(profile::profile))
        .route("/{slug}/fundraisers.xml", get(feeds::of_nonprofit))
        .route("/{slug}/f/{fundraiser}", get(fundraiser::fundraiser))
        .route("/{slug}/f/{fundraiser}/proof", get(fundraiser_proof::proof))
        .route("/{slug}/eligibility", get(eligibility::page))
        .route("/{slug}/correct", form(correct::form_page, correct::send))
        .route(
            "/{slug}/report",
            form(report::of_nonprofit, report::send_of_nonprofit),
        )
        .route(
            "/{slug}/f/{fundraiser}/report",
            form(report::of_fundraiser, report::send_of_fundraiser),
        )
        .route(
            "/{slug}/give",
            form(checkout::form::to_nonprofit, checkout::form::start_for_nonprofit),
        )
        .route(
            "/{slug}/f/{fundraiser}/give",
            form(
                checkout::form::to_fundraiser,
                checkout::form::start_for_fundraiser,
            ),
        )
        .route("/{slug}/donate", get(former_urls::donate))
        .route("/{slug}/donate/{method}", get(former_urls::donate_by_method))
        .route("/ein/{ein}/donate", get(former_urls::donate_by_ein))
        .route(
            "/{slug}/f/{fundraiser}/donate",
            get(former_urls::donate_to_fundraiser),
        )
        .route("/{slug}/fundraiser", get(former_urls::start_fundraiser))
        .route("/donations/receipts", form(receipts::receipts, receipts::send))
        .route("/donations/emails/stop", form(thanks::stop_page, thanks::stop))
        .route("/donations/statement", get(statement::statement))
        .route("/disbursements/{batch}/{line}", get(disbursement::statement))
        .route("/donations/monthly", form(monthly::gift, monthly::change))
        .route(
            "/donations/{id}",
            form(checkout::pay::donation, checkout::pay::pay),
        )
        .route("/gifts/{id}", get(checkout::pay::former_url))
}

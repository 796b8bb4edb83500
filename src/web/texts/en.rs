//! The texts in English.

use super::texts;

texts! {
    site: Site {
        language: "en",
        name: "Causeway",
        tagline: "A directory of nonprofits",
        skip: "Skip to content",
        menu: "Site",
        search: "Search",
        causes: "Causes",
        developers: "Developers",
        dashboard: "Dashboard",
        footer: "Facts from the public files of the IRS and from people who care for this directory.",
        form_errors: "Please look at this again:",
        optional: "optional",
    }
    errors: Errors {
        not_found: "We could not find that page",
        not_found_detail: "The address may be mistyped, or the page may have moved. The search finds every nonprofit we know.",
        forbidden: "That was not allowed",
        too_large: "That was too much at once",
        too_often: "That was too often",
        unavailable: "We will be back in a moment",
        internal: "Something went wrong on our side",
        bad_request: "We could not read that",
        home: "Go to the search",
        dashboard: "Go to the dashboard",
        request: "If you write to us, name this request:",
    }
    flash: Flashes {
        signed_in: "You are signed in.",
        signed_out: "You are signed out.",
        welcome: "Welcome. Your account is ready.",
        password_changed: "Your password is changed. Other sessions were ended.",
        session_ended: "The session was ended.",
        sessions_ended: "All other sessions were ended.",
        account_deleted: "Your account is deleted and its keys no longer work.",
        email_confirmed: "Your e-mail address is confirmed. You can sign in now.",
        key_revoked: "The key is revoked and no longer works.",
        key_blocked: "The key is blocked. Its owner sees the reason.",
        key_unblocked: "The key works again.",
        limits_set: "The limits are set.",
        already_done: "That was already done; nothing was changed.",
    }
}

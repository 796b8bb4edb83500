//! The English text of the pages about the site: about, contact, privacy, terms and accessibility. The long ones are Markdown.

use super::texts;

texts! {
    LegalTexts, LEGAL_EN;
    pages: LegalPageTexts {
        about: "About {name}",
        about_description: "What {name} is, who runs it, and where its information comes from.",
        contact: "Contact",
        contact_description: "How to reach the people who run {name}.",
        privacy: "Privacy",
        privacy_description: "What {name} stores about you, why, and for how long.",
        terms: "Terms of use",
        terms_description: "The rules for using {name} and for donations made here.",
        accessibility: "Accessibility",
        accessibility_description: "How {name} was checked for accessibility, and how to report a problem.",
        operator_known: "{operator} runs this site and is responsible for it.",
        operator_unknown: "The operator of this site has not published a name here.",
        contact_known: "Write to [{email}](mailto:{email}).",
        contact_unknown: "The operator has not published an email address. Use \"Report this\" on the page of a nonprofit or fundraiser. Operators read every report.",
        contact_link_known: "Write to [{email}](mailto:{email}), or see [how to reach us](/contact).",
        contact_link_unknown: "See [how to reach us](/contact).",
        security_contact: "To report a security problem, use [{url}]({url}).",
        giving_off: "This site does not accept donations. It links to the websites of nonprofits, which have their own terms and privacy policies.",
        giving_test: "This site is in test mode: you can try out giving, but no money is charged and no nonprofit receives anything.",
        giving_stripe: "Donations are made to {recipient}, a nonprofit that passes them on to the nonprofits you choose. You pay on a page of Stripe, which has its own terms and privacy policy. This site does not see your card.",
        giving_link: "You choose an amount here and pay on another website, which has its own terms and privacy policy. This site does not see your card.",
    }
}

/// The default text of the page about the site.
pub const ABOUT: &str = include_str!("legal/about.md");
/// The text of the page on accessibility.
pub const ACCESSIBILITY: &str = include_str!("legal/accessibility.md");
/// The text of the contact page.
pub const CONTACT: &str = include_str!("legal/contact.md");
/// The default text of the page on privacy.
pub const PRIVACY: &str = include_str!("legal/privacy.md");
/// The default terms of use.
pub const TERMS: &str = include_str!("legal/terms.md");

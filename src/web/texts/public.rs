//! The texts of the public site in English.

use super::texts;

texts! {
    PublicTexts, PUBLIC_EN;
    home: HomeTexts {
        title: "Find a nonprofit to give to",
        lead: "Search {count} nonprofits by name, place, cause or EIN.",
        about: "Search nonprofits of the United States by name, place, cause or EIN, read what the IRS says of them, and give.",
        causes: "Browse by cause",
        all_causes: "All causes",
        featured: "Well known",
    }
    search: SearchTexts {
        label: "Name, place, cause or EIN",
        placeholder: "red cross, food bank austin, 53-0196605",
        submit: "Search",
        list: "Nonprofits",
        none: "No nonprofit found",
        one: "1 nonprofit found; arrow down to reach it",
        many: "{count} nonprofits found; arrow down to reach them",
        title: "Nonprofits for “{typed}”",
        title_empty: "Search nonprofits",
        cause: "Cause",
        any_cause: "Any cause",
        state: "State",
        any_state: "Any state",
        meant: "Did you mean",
        nothing_typed: "What are you looking for?",
        nothing_typed_help: "Type a name, a place or an EIN above, or choose a cause.",
        nothing_found: "Nothing found",
        help_spelling: "Try fewer or other words: a name and a city are enough.",
        help_ein: "An EIN works too, with or without its dash.",
        help_filters: "Search in all causes and all states",
    }
    list: ListTexts {
        pages: "Pages",
        page: "Page {page} of {pages}",
        previous: "Previous",
        next: "Next",
    }
    causes: CausesTexts {
        title: "Causes",
        lead: "What nonprofits stand for. A nonprofit may stand for several causes.",
        lead_of_one: "{count} nonprofits, the most prominent first. Cause: {title}.",
        within: "Search within this cause",
        nonprofits: "Nonprofits",
        none_here: "There is nothing on this page",
        first_page: "To the first page",
        animals: "Animals",
        education: "Education and culture",
        environment: "Environment",
        health: "Health",
        rights: "Human and civil rights",
        services: "People and communities",
        research: "Research and public policy",
    }
    profile: ProfileTexts {
        facts: "At a glance",
        ein: "EIN",
        filed_name: "Name on file",
        chapter: "Second name on file",
        place: "Place",
        field: "Field of work",
        gone: "This organization is no longer in the files of the IRS. Gifts cannot be made to it here.",
        irs: "What the IRS says",
        irs_nothing: "No file of the IRS that was read here names this organization.",
        paragraph: "Exempt under section {paragraph}: a {kind}.",
        deductible: "Gifts to it are tax-deductible.",
        not_deductible: "Gifts to it are not tax-deductible.",
        by_treaty: "Gifts to it are deductible by treaty.",
        ruling: "Recognized in {year}.",
        subordinate: "It stands under the exemption of a parent organization.",
        last_return: "Last return",
        revenue: "Revenue",
        income: "Gross receipts",
        assets: "Assets",
        million: "million",
        billion: "billion",
        source: "From the exempt organizations master file of the IRS ({files}), read here on {day}.",
    }
    share: ShareTexts {
        title: "Share",
        copy: "Copy the address",
        mail: "Send by mail",
    }
}

//! The input of the builder.

/// A document to be indexed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Document<'a> {
    /// The display name.
    pub name: &'a str,
    /// Names that people use instead and that rank like the display name: "ACLU", "Doctors Without Borders". A
    /// display name that is among them ranks so without its article, too.
    pub aliases: &'a [&'a str],
    /// Names that rank lower: a chapter, a trade name, a legal name.
    pub secondary_names: &'a [&'a str],
    /// The location, such as city and state.
    pub location: &'a [&'a str],
    /// A postal code of five digits, possibly followed by a hyphen and more.
    pub postal_code: Option<&'a str>,
    /// What the organization is, as the kinds of the [`Thesaurus`](crate::Thesaurus) that the index was built
    /// with.
    pub kinds: &'a [&'a str],
    /// A registration number of nine digits.
    pub registration_number: Option<&'a str>,
    /// The domain of the website, or its URL.
    pub domain: Option<&'a str>,
    /// The domain or the URL of a website that is only filed with an authority. It is
    /// found after all of `domain`.
    pub filed_domain: Option<&'a str>,
    /// What the organization does, in sentences. Found below everything else.
    pub mission: &'a [&'a str],
    /// A static score from 0 to 63, about the decimal logarithm of dollars. It must not be higher than that
    /// of the document before.
    pub prominence: f32,
    /// Labels to filter by and to browse.
    pub labels: &'a [&'a str],
}

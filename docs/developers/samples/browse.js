// Yields every nonprofit of a cause, the most prominent first.
async function* browse(cause) {
  for (let page = 1, pages = 1; page <= pages; page++) {
    const query = new URLSearchParams({ take: 100, page, apiKey: 'PUBLIC_KEY' });
    const response = await fetch(`https://causeway.example/v0.2/browse/${cause}?${query}`);
    const { nonprofits, pagination } = await response.json();
    pages = pagination.pages;
    yield* nonprofits;
  }
}

for await (const { name, ein } of browse('animals')) console.log(ein, name);

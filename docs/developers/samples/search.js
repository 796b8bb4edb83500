const term = 'docters without bor';
const query = new URLSearchParams({ take: 5, apiKey: 'PUBLIC_KEY' });
const response = await fetch(`https://causeway.example/v0.2/search/${encodeURIComponent(term)}?${query}`);
const { nonprofits } = await response.json();
for (const { name, location } of nonprofits) console.log(name, '·', location);

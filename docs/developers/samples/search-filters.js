const query = new URLSearchParams({
  causes: 'food-security,humans', // at least one of them
  near: '97201',
  radius: 200, // miles
  disbursable: 1, // only nonprofits that can receive donations
  apiKey: 'PUBLIC_KEY',
});
const response = await fetch(`https://causeway.example/v0.2/search/food%20bank?${query}`);
const { nonprofits } = await response.json();
for (const { name, distanceMiles } of nonprofits) console.log(`${name}: ${distanceMiles} miles`);

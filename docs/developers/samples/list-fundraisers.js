const response = await fetch('https://causeway.example/v0.2/fundraisers?take=20', {
  headers: { Authorization: `Basic ${btoa('PUBLIC_KEY:PRIVATE_KEY')}` },
});
const { fundraisers } = await response.json();
if (fundraisers.length === 0) console.log('You have no fundraisers yet.');
for (const { nonprofitId, slug, title, type } of fundraisers) {
  const nonprofit = type === 'MULTIPLE_NONPROFITS' ? 'special-fundraiser' : nonprofitId;
  const url = `https://causeway.example/v0.2/nonprofit/${nonprofit}/fundraiser/${slug}/raised?apiKey=PUBLIC_KEY`;
  const { raised, goalAmount } = await (await fetch(url)).json();
  console.log(`${title}: $${raised / 100} of $${goalAmount / 100}`);
}

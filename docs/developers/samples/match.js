const response = await fetch('https://causeway.example/v0.2/match', {
  method: 'POST',
  headers: {
    Authorization: `Basic ${btoa('PUBLIC_KEY:PRIVATE_KEY')}`,
    'Content-Type': 'application/json',
  },
  body: JSON.stringify({
    rows: [
      { id: '1', name: 'Amercan Red Cross', city: 'Washington', state: 'DC' },
      { id: '2', ein: '13-1788491' },
    ],
  }),
});
const { rows } = await response.json();
for (const { id, match, candidates } of rows) {
  const best = candidates[0]?.name ?? 'nothing similar';
  console.log(`row ${id}: ${best}${match ? '' : ' (please check)'}`);
}

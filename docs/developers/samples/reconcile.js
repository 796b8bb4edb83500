const queries = {
  q0: { query: 'Amercan Red Cross', properties: [{ pid: 'city', v: 'Washington' }] },
  q1: { query: '13-1788491' },
};
const response = await fetch('https://causeway.example/reconcile?apiKey=PUBLIC_KEY', {
  method: 'POST',
  body: new URLSearchParams({ queries: JSON.stringify(queries) }),
});
for (const [id, { result }] of Object.entries(await response.json())) {
  for (const { name, score, match } of result) console.log(id, name, score, match);
}

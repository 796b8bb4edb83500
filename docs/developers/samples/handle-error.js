const response = await fetch('https://causeway.example/v0.2/nonprofit/no-such-nonprofit?apiKey=PUBLIC_KEY');
const body = await response.json();
if (response.ok) {
  console.log(body.data.nonprofit.name);
} else if (body.code === 'nonprofit_not_found') {
  console.log('Not in the directory:', body.detail);
} else {
  throw new Error(`${body.code}: ${body.detail} (request ${body.requestId})`);
}

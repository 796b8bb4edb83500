// On a server only: never put a private key into a web page.
const response = await fetch('https://causeway.example/v0.2/fundraiser', {
  method: 'POST',
  headers: {
    Authorization: `Basic ${btoa('PUBLIC_KEY:PRIVATE_KEY')}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': crypto.randomUUID(), // send the same one again when you retry
  },
  body: JSON.stringify({
    nonprofitId: 'd9017b27-edb0-54b2-b0c1-533033c82832',
    title: 'Spring run',
    description: 'We run along the river.',
    goal: 500000, // cents
  }),
});
const body = await response.json();
if (!response.ok) throw new Error(`${body.code}: ${body.detail}`);
console.log(body.data.fundraiser.url);

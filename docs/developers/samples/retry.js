// Tries a request up to five times and waits as long as the server asks.
async function get(url) {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(url);
    if (![429, 503].includes(response.status) || attempt === 5) return response;
    const seconds = Number(response.headers.get('Retry-After') ?? 1);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}

const response = await get('https://causeway.example/v0.2/causes?apiKey=PUBLIC_KEY');
const { causes } = await response.json();
console.log(causes.length, 'causes');

const response = await fetch('https://causeway.example/v0.2/search/museum?apiKey=PUBLIC_KEY');
const [, left, seconds] = /r=(\d+);t=(\d+)/.exec(response.headers.get('RateLimit'));
console.log(`${left} requests left; the oldest one stops counting in ${seconds} seconds`);

const url = 'https://causeway.example/v0.2/nonprofit/530196605?apiKey=PUBLIC_KEY';
const first = await fetch(url);
const second = await fetch(url, { headers: { 'If-None-Match': first.headers.get('ETag') } });
console.log(first.status, second.status); // 200 304

const headers = { Authorization: `Basic ${btoa('PUBLIC_KEY:PRIVATE_KEY')}` };
let url = 'https://causeway.example/v0.2/export?take=50000';
let count = 0;
let cursor;
while (url) {
  const response = await fetch(url, { headers });
  if (!response.ok) throw new Error((await response.json()).detail);
  const lines = (await response.text()).trimEnd().split('\n');
  count += lines.map((line) => JSON.parse(line)).length; // store each nonprofit by its id
  cursor = response.headers.get('changes-cursor');
  url = response.headers.get('link')?.match(/<(.*)>; rel="next"/)?.[1]; // the last part has none
}
console.log(`${count} nonprofits; continue with the changes since ${cursor}`);

const url = 'https://causeway.example/v0.2/nonprofit/530196605?apiKey=PUBLIC_KEY';
const response = await fetch(url);
const { data } = await response.json();
console.log(data.nonprofit.name, data.nonprofit.profileUrl);

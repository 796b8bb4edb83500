const headers = { Authorization: `Basic ${btoa('PUBLIC_KEY:PRIVATE_KEY')}` };
let since = ''; // the cursor that you stored: of an export, or of the last page
let page;
do {
  const response = await fetch(`https://causeway.example/v0.2/changes?take=1000&since=${since}`, { headers });
  if (response.status === 410) throw new Error('Export the directory again');
  page = await response.json();
  for (const { type, nonprofit } of page.changes) {
    console.log(type, nonprofit.id, nonprofit.name);
  }
  since = page.cursor;
} while (page.hasMore);
console.log(`store this cursor for the next time: ${since}`);

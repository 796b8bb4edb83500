// Writes each message that it gets to standard output, as one line of JSON with the headers and the body.
import { createServer } from 'node:http';

const server = createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => {
    const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => name.startsWith('webhook-')));
    process.stdout.write(JSON.stringify({ headers, body: Buffer.concat(parts).toString() }) + '\n');
    response.writeHead(204).end();
  });
});
server.listen(0, '127.0.0.1', () => process.stderr.write(server.address().port + '\n'));

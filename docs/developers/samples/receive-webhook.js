import { createServer } from 'node:http';
import { verifyWebhook } from 'causeway-client';

createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray());
  try {
    const event = await verifyWebhook(body, request.headers, process.env.WEBHOOK_SECRET);
    console.log(event.type, event.id);
    response.writeHead(204).end();
  } catch {
    response.writeHead(400).end();
  }
}).listen(process.env.PORT ?? 8000);

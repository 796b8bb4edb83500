import os
from http.server import BaseHTTPRequestHandler, HTTPServer

from causeway_client import WebhookVerificationError, verify_webhook


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            event = verify_webhook(body, self.headers, os.environ["WEBHOOK_SECRET"])
            print(event.type, event.id, flush=True)
            self.send_response(204)
        except WebhookVerificationError:
            self.send_response(400)
        self.end_headers()


HTTPServer(("", int(os.environ.get("PORT", 8000))), Receiver).serve_forever()

import { type IncomingMessage, ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionError } from 'fastify';

const NAME = 'X-Content-Type-Options';
const VALUE = 'nosniff';

/** Sets the header on every answer, even Node's own: a browser must not render stored text as a page. */
class Answer<Request extends IncomingMessage> extends ServerResponse<Request> {
  constructor(...args: ConstructorParameters<typeof ServerResponse<Request>>) {
    super(...args);
    this.setHeader(NAME, VALUE);
  }
}

const STATUSES: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
};

/** Answers what is no request, in the form of the framework, which would leave the header out. */
function clientErrorHandler(error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const status = STATUSES[error.code] ?? 400;
  const label = STATUS_CODES[status];
  const body = JSON.stringify({ error: label, message: label, statusCode: status });
  if (socket.writable) {
    socket.write(
      `HTTP/1.1 ${status} ${label}\r\nContent-Length: ${body.length}\r\nContent-Type: application/json\r\n${NAME}: ${VALUE}\r\n\r\n${body}`,
    );
  }
  socket.destroy(error);
}

/** Options of a server. */
export const WITHOUT_SNIFFING = { http: { ServerResponse: Answer }, clientErrorHandler };

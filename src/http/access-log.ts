import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';

const PATH_LIMIT = 512;
/** Looks like an API token or an access token that somebody put in the wrong place. */
const CREDENTIAL = /\d{1,15}(?:[_$]|%24)[^/]{16,}|eyJ[\w-]{8,}[^/]*/g;
/** Logged instead of a status if the client disconnected before the answer. */
const CLIENT_GONE = 499;

/** Notes the start of a request, which is logged when it has ended. */
export type AccessLog = (request: FastifyRequest, reply: FastifyReply) => void;

/** Logs one line per request. Query and headers are left out, since they may contain secrets. */
export function createAccessLog(log: FastifyBaseLogger): AccessLog {
  return (request, reply) => {
    // Doesn't use the onResponse hook, which is not called for aborted requests.
    reply.raw.once('close', () => log.info(lineOf(request, reply), 'request'));
  };
}

function lineOf(request: FastifyRequest, reply: FastifyReply): object {
  const { principal, url, ignored } = request;
  const end = url.indexOf('?');
  const path = end === -1 ? url : url.slice(0, end);
  return {
    reqId: request.id,
    method: request.method,
    path: path.slice(0, PATH_LIMIT).replace(CREDENTIAL, '***'),
    status: reply.raw.writableFinished ? reply.statusCode : CLIENT_GONE,
    ms: Math.round(reply.elapsedTime * 10) / 10,
    bytes: Number(reply.getHeader('content-length') ?? 0),
    address: request.ip,
    ...(ignored?.length && { ignored: ignored.map(({ field }) => field.replace(CREDENTIAL, '***')) }),
    // Public routes and refused credentials have no principal.
    ...(principal && { client: principal.clientId, user: principal.userId, token_id: principal.tokenId }),
  };
}

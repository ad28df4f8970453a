import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';

const PATH_LIMIT = 512;
/** What looks like an API token or an access token: somebody put it in the wrong place. */
const CREDENTIAL = /\d{1,15}(?:[_$]|%24)[^/]{16,}|eyJ[\w-]{8,}[^/]*/g;
/** In place of a status where the client went before there was one. */
const CLIENT_GONE = 499;

/** Takes note of a request that begins: it is in the log when it has ended. */
export type AccessLog = (request: FastifyRequest, reply: FastifyReply) => void;

/** One line for each request. Query and headers stay out of it: secrets may be in their values. */
export function createAccessLog(log: FastifyBaseLogger): AccessLog {
  return (request, reply) => {
    // Not the hook onResponse, which an aborted request never meets.
    reply.raw.once('close', () => log.info(lineOf(request, reply), 'request'));
  };
}

function lineOf(request: FastifyRequest, reply: FastifyReply): object {
  const { principal, url } = request;
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
    // Public routes and refused credentials have none.
    ...(principal && { client: principal.clientId, user: principal.userId, token_id: principal.tokenId }),
  };
}

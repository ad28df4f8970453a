import type { FastifyReply, FastifyRequest } from 'fastify';
import { HttpError } from './errors.ts';

/** Refuses a body that would have to be decoded first, and says what is accepted (RFC 9110, 8.4 and 15.5.16). */
export function refuseEncodedBody({ headers }: FastifyRequest, reply: FastifyReply): void {
  const encoding = headers['content-encoding']?.trim() ?? '';
  const empty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
  if (empty || encoding === '' || encoding.toLowerCase() === 'identity') return;
  void reply.header('accept-encoding', 'identity');
  throw new HttpError(
    415,
    `The body must be sent without Content-Encoding, not in ${encoding.slice(0, 100)}`,
  );
}

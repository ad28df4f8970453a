import { STATUS_CODES } from 'node:http';
import type { FastifyBaseLogger, FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import {
  DomainError,
  InvalidError,
  ProductInUseError,
  QuotaExceededError,
  SecondFactorNeededError,
  TooManyRequestsError,
  UnauthenticatedError,
  UnavailableError,
} from '../lib/errors.ts';
import { type Area, areaOf } from './dialect.ts';
import { MalformedJsonError } from './json-body.ts';
import { accepts } from './streamed.ts';

/** Whether the client asks for errors in the form of RFC 9457, instead of the area's own. */
export const wantsProblemDetails = (accept: string | undefined): boolean => accepts(accept, 'application/problem+json');

/** Returns an error as RFC 9457 problem details; `errors` names the invalid fields of a request. */
export function problemDetails(error: Error, status: number, requestId: string): object {
  return {
    type: 'about:blank',
    title: STATUS_CODES[status],
    status,
    detail: error.message,
    request_id: requestId,
    ...(error instanceof DomainError && { code: error.kind, hint: error.hint }),
    ...(error instanceof QuotaExceededError && { quota: error.info }),
    ...(error instanceof SecondFactorNeededError && error.next),
    ...(error instanceof InvalidError && {
      errors: Object.entries(error.fields).flatMap(([field, texts]) => texts.map((detail) => ({ field, detail }))),
    }),
  };
}

const STATUS = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  conflict: 409,
  'quota-exceeded': 403,
  'queue-full': 400,
  'precondition-failed': 412,
  unprocessable: 422,
  'feature-missing': 422,
  'too-many-requests': 429,
  unavailable: 503,
} as const;

/** One challenge for each way to authenticate (RFC 9110, 11.6.1); RFC 6750 requires a parameter for Bearer. */
const CHALLENGES = 'apikey, Bearer realm="Tradewind"';

export const NOT_JSON = 'The body must be sent as application/json';
export const TOO_LARGE = 'The body is larger than the limit of 1 MiB';
export const NO_SUCH_PART = 'The file has no such part';
export const INTERNAL =
  'The request failed because of an internal error; the log of the server has the cause under the request ID';

/** An error of HTTP itself (method, media type, size), before any domain rule is checked. */
export class HttpError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The only place where an error becomes a status and a body, in the form of the called area. */
export function sendError(error: Error, request: FastifyRequest, reply: FastifyReply): void {
  const known = knownError(error);
  const status = known instanceof DomainError ? STATUS[known.kind] : known.status;
  if (status === 503) {
    warnOnce(request, error);
    const seconds = known instanceof UnavailableError ? known.retryAfterSeconds : 1;
    if (!reply.hasHeader('retry-after')) void reply.header('retry-after', String(seconds));
  } else if (status >= 500)
    request.log.error(
      { reqId: request.id, err: error, url: request.url },
      'The request failed because of an internal error',
    );
  if (known instanceof TooManyRequestsError) void reply.header('retry-after', String(known.retryAfterSeconds));
  if (status === 401) void reply.header('www-authenticate', CHALLENGES);
  // The framework closes the connection after a body that it could not parse. For our own errors, it has read
  // the whole body.
  if (known instanceof DomainError) void reply.removeHeader('connection');
  const area = areaOf(request.url);
  const details = area === 'tradewind' || wantsProblemDetails(request.headers.accept);
  const body = details
    ? problemDetails(known, status, request.id)
    : { ...bodyOf(area, known, status, request), ...hintOf(known) };
  void reply
    .code(status)
    .type(`application/${details ? 'problem+json' : 'json'}; charset=utf-8`)
    .send(JSON.stringify(body));
}

const WARN_MS = 10_000;
const MOST_WARNINGS = 100;
/** What was logged lately, by its text, and how many requests have failed alike since. */
const warnings = new WeakMap<FastifyBaseLogger, Map<string, { at: number; alike: number }>>();

/**
 * Every request fails during an outage, and one client can send thousands into an overload: the same is logged once in
 * ten seconds, without the stack.
 */
function warnOnce({ id, log }: FastifyRequest, { message, cause }: Error): void {
  const known = warnings.get(log) ?? new Map<string, { at: number; alike: number }>();
  warnings.set(log, known);
  const last = known.get(message);
  const now = performance.now();
  if (last && now - last.at < WARN_MS) {
    last.alike++;
    return;
  }
  if (known.size >= MOST_WARNINGS) known.clear();
  known.set(message, { at: now, alike: 0 });
  const alike = last && last.alike > 0 ? { alike: last.alike } : undefined;
  log.warn({ reqId: id, cause: (cause as Error | undefined)?.message, ...alike }, message);
}

function knownError(error: Error): DomainError | HttpError {
  if (error instanceof DomainError || error instanceof HttpError) return error;
  const { statusCode, code } = error as FastifyError;
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new HttpError(415, NOT_JSON);
  }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new HttpError(413, TOO_LARGE);
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return new HttpError(statusCode, error.message);
  return new HttpError(500, INTERNAL);
}

export function bodyOf(
  area: Area,
  error: DomainError | HttpError,
  status: number,
  request: Pick<FastifyRequest, 'id' | 'method'>,
): object {
  switch (area) {
    case 'cloud':
      return {
        exception_class: exceptionClass(error),
        message: error.message,
        request_id: request.id,
        ...(error instanceof QuotaExceededError && { info: error.info }),
        ...(error instanceof InvalidError && { invalid_fields: error.fields }),
      };
    case 'logging':
      return { code: status, message: error.message };
    case 'streaming':
      // Reading one task or the list also shows the status; cancelling doesn't.
      return status === 404 && request.method === 'GET' ? { status, error: error.message } : { error: error.message };
    case 'iam':
      return error instanceof InvalidError && !(error instanceof MalformedJsonError)
        ? { errors: error.fields }
        : {
            message: error.message,
            ...(error instanceof ProductInUseError && error.products),
            ...(error instanceof SecondFactorNeededError && error.next),
          };
    case 'tradewind':
      return problemDetails(error, status, request.id);
  }
}

/** Added to the contract's text in every area. */
export function hintOf(error: Error): { hint?: string } {
  return error instanceof DomainError && error.hint !== undefined ? { hint: error.hint } : {};
}

function exceptionClass(error: DomainError | HttpError): string {
  if (error instanceof UnauthenticatedError) return error.given ? 'token_not_valid' : 'not_authenticated';
  if (error instanceof InvalidError) return 'ValidationError';
  if (error instanceof QuotaExceededError) return 'QuotaLimitExceed';
  return error instanceof DomainError ? error.name : 'HTTPError';
}

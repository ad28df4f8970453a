import { STATUS_CODES } from 'node:http';
import { accepts } from '../lib/accepts.ts';
import { DomainError, InvalidError, QuotaExceededError } from '../lib/errors.ts';

/** Whether the client asks for errors in the form of RFC 9457, instead of the area's own. */
export const wantsProblemDetails = (accept: string | undefined): boolean =>
  accepts(accept, 'application/problem+json');

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
    ...(error instanceof InvalidError && {
      errors: Object.entries(error.fields).flatMap(([field, texts]) =>
        texts.map((detail) => ({ field, detail })),
      ),
    }),
  };
}

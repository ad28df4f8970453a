import { RefusedError, UnavailableError } from '../errors.ts';

interface Problem {
  detail?: string;
  title?: string;
  hint?: string;
  request_id?: string;
  errors?: { field: string; detail: string }[];
}

/** Returns the error for an answer that is none of success. */
export function errorOf(status: number, body: unknown, text: string): RefusedError | UnavailableError {
  const problem: Problem = typeof body === 'object' && body !== null ? body : {};
  const message = messageOf(status, problem, text);
  // Whoever is refused for a while, or meets a broken server, should try again.
  return status >= 500 || status === 429
    ? new UnavailableError(message, body)
    : new RefusedError(message, body ?? text);
}

function messageOf(status: number, { detail, title, hint, request_id, errors }: Problem, text: string) {
  const said = detail ?? title ?? text.slice(0, 500);
  return [
    `${status >= 500 ? 'The server failed' : 'Refused'} (${status}): ${said}`,
    ...(errors ?? []).map(({ field, detail }) => `  ${field}: ${detail}`),
    ...(hint === undefined ? [] : [hint]),
    ...(status === 401
      ? ['"tradewind token create", on the machine of the server, makes another token.']
      : []),
    ...(status >= 500 && request_id !== undefined
      ? [`The server's log has the cause under the request ID ${request_id}.`]
      : []),
  ].join('\n');
}

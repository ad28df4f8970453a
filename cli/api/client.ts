import { RefusedError, UnavailableError, UsageError } from '../errors.ts';
import type { Connection } from './connection.ts';
import { type Field, type OperationId, operationOf } from './operations.ts';

interface Problem {
  detail?: string;
  title?: string;
  hint?: string;
  request_id?: string;
  errors?: { field: string; detail: string }[];
}

/** Returns the error for an answer that isn't 2xx. */
export function errorOf(status: number, body: unknown, text: string): RefusedError | UnavailableError {
  const problem: Problem = typeof body === 'object' && body !== null ? body : {};
  const message = messageOf(status, problem, text);
  // The caller should try again after a temporary refusal or a server error.
  return status >= 500 || status === 429
    ? new UnavailableError(message, body)
    : new RefusedError(message, body ?? text);
}

function messageOf(status: number, { detail, title, hint, request_id, errors }: Problem, text: string) {
  // The detail repeats what is wrong with each field.
  const said = (errors?.length ? title : detail) ?? title ?? text.slice(0, 500);
  return [
    `${status === 503 ? 'Not now' : status >= 500 ? 'The server failed' : 'Refused'} (${status}): ${said}`,
    ...(errors ?? []).map(({ field, detail }) => `  ${field}: ${detail}`),
    ...(hint === undefined ? [] : [hint]),
    ...(status === 401 ? ['"tradewind token create", on the machine of the server, makes another token.'] : []),
    ...(status >= 500 && status !== 503 && request_id !== undefined
      ? [`The server's log has the cause under the request ID ${request_id}.`]
      : []),
  ].join('\n');
}

/** No answer takes longer, but streams and what is asked to wait. */
const PATIENCE_MS = 60_000;

export interface Input {
  /** Values of parameters in the path and of the query, by name. */
  parameters?: Readonly<Record<string, unknown>>;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  dryRun?: boolean;
}

export interface Api {
  /**
   * Calls an operation and returns its answer: what its JSON says, a text if it is something else, undefined if there is
   * none.
   * @throws RefusedError, UnavailableError
   */
  call(id: OperationId, input?: Input): Promise<unknown>;
  /** Returns the pieces of an answer that is a file. */
  file(id: OperationId, input: Input): Promise<AsyncIterable<Uint8Array>>;
  /** Returns the pieces of an answer that may have no end. */
  stream(id: OperationId, input: Input): Promise<AsyncIterable<string>>;
}

export function createApi(connection: Connection, { agent, stop }: { agent: string; stop: AbortSignal }) {
  const { url, token } = connection;
  const authorization = `${token.split('.').length === 3 ? 'Bearer' : 'apikey'} ${token}`;

  async function send(id: OperationId, input: Input, signal: AbortSignal): Promise<Response> {
    const { method } = operationOf(id);
    const { body, headers, dryRun } = input;
    const request = {
      method,
      headers: {
        accept: 'application/json, application/problem+json',
        ...(token !== '' && { authorization }),
        'user-agent': agent,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(dryRun && { 'tradewind-dry-run': 'true' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      // The token is for this server alone.
      redirect: 'error' as const,
      signal,
    };
    const address = url + addressOf(id, input.parameters ?? {});
    const response = await fetch(address, request).catch((error: unknown) => {
      throw lost(error, connection, stop);
    });
    if (response.ok) return response;
    const text = await textOf(response);
    throw errorOf(response.status, parsed(text), text);
  }

  /** The connection may be lost after the head of an answer. */
  const textOf = (response: Response): Promise<string> =>
    response.text().catch((error: unknown) => {
      throw lost(error, connection, stop);
    });

  return {
    async call(id, input = {}) {
      const response = await send(id, input, AbortSignal.any([stop, AbortSignal.timeout(PATIENCE_MS)]));
      const text = await textOf(response);
      if (text === '') return undefined;
      return /json/.test(response.headers.get('content-type') ?? '') ? parsed(text) : text;
    },
    async file(id, input) {
      const { body } = await send(id, input, stop);
      return piecesOf(body ?? [], connection, stop);
    },
    async stream(id, input) {
      return textsOf(await this.file(id, input));
    },
  } satisfies Api;
}

async function* textsOf(pieces: AsyncIterable<Uint8Array>) {
  const decoder = new TextDecoder();
  for await (const chunk of pieces) yield decoder.decode(chunk, { stream: true });
}

async function* piecesOf(body: AsyncIterable<Uint8Array> | [], connection: Connection, stop: AbortSignal) {
  try {
    for await (const chunk of body) yield chunk;
  } catch (error) {
    throw lost(error, connection, stop);
  }
}

function lost(error: unknown, { url, source }: Connection, stop: AbortSignal): unknown {
  if (stop.aborted) return stop.reason;
  const { name, message, cause } = error as Error;
  if (name === 'TimeoutError') return new UnavailableError(`${url} has not answered for ${PATIENCE_MS / 1_000} s`);
  const { code, message: because } = (cause ?? {}) as { code?: string; message?: string };
  return new UnavailableError(
    `${url} can't be reached: ${because || code || message}. This address is ${source === 'the default' ? source : `from ${source}`}; "export TRADEWIND_URL=http://host:8080", or --url, sets another`,
  );
}

/** The path of an operation with its parameters and query. */
function addressOf(id: OperationId, values: Readonly<Record<string, unknown>>): string {
  const { path, parameters, query } = operationOf(id);
  const filled = parameters.reduce((text, { name }) => {
    if (values[name] === undefined) throw new UsageError(`${id} needs ${name}`);
    return text.replace(`{${name}}`, encodeURIComponent(asText(values[name])));
  }, path);
  const asked = new URLSearchParams(query.flatMap((field) => pairsOf(field, values[field.name])));
  return asked.size === 0 ? filled : `${filled}?${asked}`;
}

function pairsOf({ name }: Field, value: unknown): [string, string][] {
  if (value === undefined) return [];
  return [value].flat().map((each) => [name, asText(each)]);
}

/** Numbers and booleans are the same in JSON. */
const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

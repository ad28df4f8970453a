import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, HttpClient } from '../../support/http-client.ts';
import { type Query, queryString } from './query.ts';

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;
const LONGEST_ASKED_MS = 60_000;

export interface Call {
  method: string;
  path: string;
  query?: Query | undefined;
  /** Undefined: no body at all. Inside it undefined is left out and null is sent. */
  body?: unknown;
  accept?: string;
  headers?: Record<string, string>;
}

/** The last answer to a call, when it is a refusal. */
export class StatusError extends Error {
  override readonly name = 'StatusError';
  readonly status: number;
  readonly body: unknown;

  constructor({ method, path }: Call, { status, body, text }: Answer) {
    super(`${method} ${path} answered ${status}: ${text}`);
    this.status = status;
    this.body = body;
  }
}

export interface Transport {
  send(call: Call): Promise<Answer>;
  /** Statuses that made it repeat a call, in the order in which they came. */
  repeated: number[];
}

/** Sends the headers that official clients send, and repeats what they repeat: POST as well, with nothing to tell it by. */
export function createTransport(
  request: HttpClient['request'],
  { authorization, retries }: { authorization: string; retries: number },
): Transport {
  const repeated: number[] = [];
  const once = ({ method, path, query, body, accept, headers }: Call, attempt: number) =>
    request(method, path + queryString(query), {
      body,
      headers: {
        accept: accept ?? 'application/json',
        authorization,
        'content-type': 'application/json',
        'user-agent': 'Client/TypeScript 1.0.0',
        'x-client-language': 'typescript',
        'x-client-read-timeout': '120',
        'x-client-retry-count': String(attempt),
        ...headers,
      },
    });

  return {
    repeated,
    async send(call) {
      for (let attempt = 0; ; attempt++) {
        const answer = await once(call, attempt);
        if (answer.status < 300) return answer;
        if (attempt >= retries || !asksForAnother(answer)) throw new StatusError(call, answer);
        repeated.push(answer.status);
        await sleep(waitMs(attempt, answer.headers));
      }
    },
  };
}

function asksForAnother({ status, headers }: Answer): boolean {
  const told = headers.get('x-should-retry');
  if (told === 'true' || told === 'false') return told === 'true';
  return [408, 409, 429].includes(status) || status >= 500;
}

/** What the server asks for, else longer each time. */
function waitMs(attempt: number, headers: Headers): number {
  const asked = Number(headers.get('retry-after-ms') ?? Number(headers.get('retry-after')) * 1000);
  if (asked > 0 && asked <= LONGEST_ASKED_MS) return asked;
  return Math.min(FIRST_WAIT_MS * 2 ** attempt, LONGEST_WAIT_MS);
}

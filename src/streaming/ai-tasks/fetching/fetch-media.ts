import fs from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { attempt } from '../../../lib/errors.ts';
import { type AllowedHosts, requestOutside } from '../../../lib/outside-request.ts';

export type MediaErrorCode =
  | 'unreachable'
  | 'private_address'
  | 'http_status'
  | 'redirects'
  | 'too_large'
  | 'too_slow'
  | 'encoding'
  | 'empty';

/** A file is not available, through no fault of ours; retrying won't help. The message tells its owner why. */
export class MediaError extends Error {
  readonly code: MediaErrorCode;
  override get name(): string {
    return 'MediaError';
  }

  constructor(code: MediaErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

export function privateAddress(): MediaError {
  return new MediaError(
    'private_address',
    'The host of the address (or of a redirect) is not on the public internet, and files are only fetched from there. The operator of this service can allow a host by TRADEWIND_MEDIA_ALLOW_HOSTS.',
  );
}

export interface AskOptions {
  /** The host is allowed whatever its address. */
  open: boolean;
  signal: AbortSignal;
  idleMs: number;
  /** Called when nothing was sent for that long, including while connecting. */
  onIdle: () => void;
}

/** Requests a file from a stranger's server. */
export function ask(url: URL, { open, signal, idleMs, onIdle }: AskOptions): Promise<IncomingMessage> {
  const target = new URL(url);
  target.username = '';
  target.password = '';
  return new Promise((resolve, reject) => {
    const request = requestOutside(target, {
      open,
      refusal: privateAddress,
      signal,
      timeout: idleMs,
      headers: {
        accept: '*/*',
        'accept-encoding': 'identity',
        'user-agent': 'tradewind',
        ...credentialsOf(url),
      },
    });
    request.on('timeout', onIdle);
    request.on('error', reject);
    // Not every end is an error event: an answer that switches protocols has none.
    request.once('close', () => reject(Object.assign(new Error('No answer'), { code: 'ECONNRESET' })));
    request.once('response', (response) => {
      // Errors always need a listener, whatever happens to the answer.
      response.on('error', () => {});
      resolve(response);
    });
    request.end();
  });
}

function credentialsOf({ username, password }: URL): { authorization?: string } {
  if (username === '') return {};
  const decoded = (text: string) => attempt(() => decodeURIComponent(text)) ?? text;
  const credentials = `${decoded(username)}:${decoded(password)}`;
  return { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
}

/** Node's codes for unreachable machines, in words for the owner of the address. */
const UNREACHABLE: Readonly<Record<string, string>> = {
  ENOTFOUND: 'its host name is not known',
  EAI_AGAIN: 'its host name could not be looked up',
  EAI_FAIL: 'its host name could not be looked up',
  EBADNAME: 'its host name could not be looked up',
  EBADRESP: 'its host name could not be looked up',
  EREFUSED: 'its host name could not be looked up',
  ESERVFAIL: 'its host name could not be looked up',
  ETIMEOUT: 'its host name could not be looked up',
  ENODATA: 'its host name has no address',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was lost',
  EPIPE: 'the connection was lost',
  ERR_STREAM_PREMATURE_CLOSE: 'the connection was lost',
  ETIMEDOUT: 'it did not answer in time',
  EHOSTUNREACH: 'its network is unreachable',
  ENETUNREACH: 'its network is unreachable',
  EADDRNOTAVAIL: 'its network is unreachable',
  EACCES: 'its network is unreachable',
  EPROTO: 'it does not speak HTTPS properly',
};

/** Returns the reason for the owner of an address if the other side is at fault; other errors unchanged. */
export function faultOf(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof MediaError) return error;
  // Several addresses were tried, and all failed.
  const cause = error instanceof AggregateError ? error.errors[0] : error;
  const { code = '', syscall } = cause as NodeJS.ErrnoException;
  // Files share some error codes with sockets.
  if (syscall === 'open' || syscall === 'write') return error;
  const why = UNREACHABLE[code] ?? protocolFault(code);
  return why === undefined ? error : new MediaError('unreachable', `The file can't be reached: ${why}`);
}

function protocolFault(code: string): string | undefined {
  if (code.startsWith('HPE_')) return 'its server does not speak HTTP properly';
  if (/CERT|SSL|TLS|SELF_SIGNED|ISSUER|UNABLE_TO/.test(code)) return `its certificate can't be trusted (${code})`;
  return undefined;
}

const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export interface FetchLimits {
  maxBytes: number;
  /** The longest time without a byte, and for the head of an answer. */
  idleMs: number;
  /** The minimum rate, measured over `idleMs`. */
  bytesPerSecond: number;
  /** For the whole fetch, including redirects. */
  totalMs: number;
}

export interface FetchOptions {
  limits: FetchLimits;
  allowedHosts: AllowedHosts;
  /** Aborts the fetch; the returned promise rejects with its reason. */
  signal: AbortSignal;
  /** Receives the share that has arrived, from 0 to 1, if the server states the size. */
  onShare?: (share: number) => void;
}

/**
 * Fetches a stranger's address into a file. Returns its size.
 * @throws MediaError with the reason for its owner; other errors are faults of this machine
 */
export async function fetchMedia(address: string, file: string, options: FetchOptions): Promise<number> {
  const { limits, allowedHosts, signal } = options;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(tooSlow(limits)), limits.totalMs);
  const ended = AbortSignal.any([signal, late.signal]);
  const onIdle = () => late.abort(silent(limits));
  try {
    let url = new URL(address);
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const open = allowedHosts.allows(url);
      const answer = await answerOf(url, { open, signal: ended, idleMs: limits.idleMs, onIdle });
      try {
        const next = redirectOf(answer, url);
        const onCrawl = () => late.abort(crawling(limits));
        if (!next) return await save(answer, file, { ...options, signal: ended, onCrawl });
        url = next;
      } finally {
        answer.destroy();
      }
    }
    throw new MediaError('redirects', `The address redirects more than ${MAX_REDIRECTS} times`);
  } catch (error) {
    signal.throwIfAborted();
    late.signal.throwIfAborted();
    throw faultOf(error);
  } finally {
    clearTimeout(timer);
  }
}

/** The head of an answer must arrive in time, even if its server keeps sending single bytes of it. */
async function answerOf(url: URL, options: AskOptions): Promise<IncomingMessage> {
  const timer = setTimeout(options.onIdle, options.idleMs);
  try {
    return await ask(url, options);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the target of a redirect; undefined if the answer is the file. @throws MediaError if it is neither */
function redirectOf({ statusCode = 0, headers }: IncomingMessage, url: URL): URL | undefined {
  if (statusCode === 200) return undefined;
  if (!REDIRECTS.has(statusCode)) {
    throw new MediaError('http_status', `The server of the file answered HTTP ${statusCode} instead of the file`);
  }
  const { location } = headers;
  if (location === undefined || !URL.canParse(location, url.href)) {
    throw new MediaError('redirects', 'The address redirects to nowhere');
  }
  const next = new URL(location, url);
  if (next.protocol === 'http:' || next.protocol === 'https:') return next;
  throw new MediaError('redirects', 'The address redirects to something other than HTTP or HTTPS');
}

async function save(
  answer: IncomingMessage,
  file: string,
  { limits: { maxBytes, idleMs, bytesPerSecond }, signal, onShare, onCrawl }: FetchOptions & { onCrawl: () => void },
): Promise<number> {
  const encoding = answer.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new MediaError(
      'encoding',
      'The server sends the file compressed (Content-Encoding), though it was asked for the file as it is',
    );
  }
  const expected = Number(answer.headers['content-length']);
  if (expected > maxBytes) throw tooLarge(maxBytes);
  let bytes = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > maxBytes) return done(tooLarge(maxBytes));
      if (expected > 0) onShare?.(Math.min(1, bytes / expected));
      done(null, chunk);
    },
  });
  let before = 0;
  const pace = setInterval(() => {
    if (bytes - before < (bytesPerSecond * idleMs) / 1_000) onCrawl();
    before = bytes;
  }, idleMs);
  try {
    await pipeline(answer, counted, fs.createWriteStream(file, { mode: 0o600 }), { signal });
  } finally {
    clearInterval(pace);
  }
  if (bytes === 0) throw new MediaError('empty', 'The file is empty: it has 0 bytes');
  return bytes;
}

function tooLarge(maxBytes: number): MediaError {
  return new MediaError(
    'too_large',
    `The file is larger than the ${Math.floor(maxBytes / 1_000_000)} MB that this service accepts`,
  );
}

function tooSlow({ totalMs }: FetchLimits): MediaError {
  return new MediaError(
    'too_slow',
    `The file did not arrive within ${totalMs / 1000} seconds, the longest that this service waits`,
  );
}

function crawling({ idleMs, bytesPerSecond }: FetchLimits): MediaError {
  return new MediaError(
    'too_slow',
    `The server of the file sent less than ${bytesPerSecond / 1_000} kB a second for ${idleMs / 1_000} seconds, which is too slow for this service`,
  );
}

function silent({ idleMs }: FetchLimits): MediaError {
  return new MediaError(
    'too_slow',
    `The server of the file did not answer, or sent nothing, for ${idleMs / 1000} seconds`,
  );
}

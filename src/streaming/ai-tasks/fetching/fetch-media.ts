import fs from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
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
  range?: string | undefined;
}

/** Requests a file from a stranger's server. */
export function ask(url: URL, { open, signal, idleMs, onIdle, range }: AskOptions): Promise<IncomingMessage> {
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
        ...(range !== undefined && { range }),
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
const PART = /^bytes \d+-\d+\/(\d+|\*)$/;
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

export interface OpenOptions {
  limits: FetchLimits;
  allowedHosts: AllowedHosts;
  /** Ends the connection. What waits for it rejects with its reason. */
  signal: AbortSignal;
  /** The part to ask for, such as `bytes=0-499`. A server may send the whole file all the same. */
  range?: string | undefined;
}

export interface OpenMedia {
  /** 200; 206 or 416 only if a part was asked for. */
  status: number;
  headers: IncomingHttpHeaders;
  /** Throws what `openMedia` throws. The connection closes when the reader stops or the signal aborts. */
  bytes: Readable;
}

/**
 * Asks a stranger's server for a file, and follows redirects.
 * @throws MediaError with the reason for the owner of the address; other errors are faults of this machine
 */
export async function openMedia(address: string, options: OpenOptions): Promise<OpenMedia> {
  const { limits, allowedHosts, signal, range } = options;
  const source = watchSource(limits);
  const ended = AbortSignal.any([signal, source.late]);
  const reasonOf = (error: unknown) => [signal, source.late].find(({ aborted }) => aborted)?.reason ?? faultOf(error);
  let answer: IncomingMessage | undefined;
  try {
    let url = new URL(address);
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const open = allowedHosts.allows(url);
      answer = await answerOf(url, { open, signal: ended, idleMs: limits.idleMs, onIdle: source.onIdle, range });
      const next = redirectOf(answer, url, range);
      if (!next) {
        const { statusCode: status = 200, headers } = refusingUnusable(answer, limits);
        const bytes = Readable.from(bytesOf(answer, { limits, source, reasonOf }), { objectMode: false });
        bytes.once('close', () => answer?.destroy());
        answer.once('close', source.leave);
        return { status, headers, bytes };
      }
      answer.destroy();
      url = next;
    }
    throw new MediaError('redirects', `The address redirects more than ${MAX_REDIRECTS} times`);
  } catch (error) {
    answer?.destroy();
    source.leave();
    throw reasonOf(error);
  }
}

/** Says when a source is too slow. The time in which nobody takes what it sent doesn't count. */
function watchSource(limits: FetchLimits) {
  const { totalMs, idleMs, bytesPerSecond } = limits;
  const late = new AbortController();
  let waitedMs = 0;
  let waitsSince: number | undefined = performance.now();
  const waited = () => waitedMs + (waitsSince === undefined ? 0 : performance.now() - waitsSince);

  function lookAtTotal(): void {
    const left = totalMs - waited();
    if (left <= 0) late.abort(tooSlow(limits));
    else total = setTimeout(lookAtTotal, Math.max(left, 100));
  }
  let total = setTimeout(lookAtTotal, totalMs);
  let pace: NodeJS.Timeout | undefined;
  let bytes = 0;
  return {
    late: late.signal,
    onIdle() {
      if (waitsSince !== undefined) late.abort(silent(limits));
    },
    /** From the first byte on, they must come fast enough. */
    begin() {
      let before = { bytes, waited: waited() };
      pace = setInterval(() => {
        const now = { bytes, waited: waited() };
        const least = (bytesPerSecond * (now.waited - before.waited)) / 1_000;
        if (now.bytes - before.bytes < least) late.abort(crawling(limits));
        before = now;
      }, idleMs);
    },
    /** How many have come, with these. */
    came(more: number) {
      bytes += more;
      waitedMs = waited();
      waitsSince = undefined;
      return bytes;
    },
    taken() {
      waitsSince = performance.now();
    },
    leave() {
      clearTimeout(total);
      clearInterval(pace);
    },
  };
}

async function* bytesOf(
  answer: IncomingMessage,
  {
    limits: { maxBytes },
    source,
    reasonOf,
  }: Pick<OpenOptions, 'limits'> & { source: ReturnType<typeof watchSource>; reasonOf: (error: unknown) => unknown },
): AsyncGenerator<Buffer> {
  source.begin();
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      if (source.came(chunk.length) > maxBytes) throw tooLarge(maxBytes);
      yield chunk;
      source.taken();
    }
  } catch (error) {
    throw reasonOf(error);
  } finally {
    source.leave();
  }
}

export interface FetchOptions extends Omit<OpenOptions, 'range'> {
  /** Receives the share that has arrived, from 0 to 1, if the server states the size. */
  onShare?: (share: number) => void;
}

/** Fetches a stranger's address into a file. Returns its size. @throws like `openMedia` */
export async function fetchMedia(address: string, file: string, options: FetchOptions): Promise<number> {
  const { headers, bytes } = await openMedia(address, options);
  const expected = Number(headers['content-length']);
  let size = 0;
  bytes.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (expected > 0) options.onShare?.(Math.min(1, size / expected));
  });
  await pipeline(bytes, fs.createWriteStream(file, { mode: 0o600 }));
  if (size === 0) throw new MediaError('empty', 'The file is empty: it has 0 bytes');
  return size;
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
function redirectOf(
  { statusCode = 0, headers }: IncomingMessage,
  url: URL,
  range: string | undefined,
): URL | undefined {
  if (statusCode === 200 || (range !== undefined && (statusCode === 206 || statusCode === 416))) return undefined;
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

/** Returns the answer if its head promises a file as it is, and not too large. @throws MediaError */
function refusingUnusable(answer: IncomingMessage, { maxBytes }: FetchLimits): IncomingMessage {
  const { 'content-encoding': encoding, 'content-length': length, 'content-range': part } = answer.headers;
  if (encoding !== undefined && encoding !== 'identity') {
    throw new MediaError(
      'encoding',
      'The server sends the file compressed (Content-Encoding), though it was asked for the file as it is',
    );
  }
  if (answer.statusCode === 206 && !PART.test(part ?? '')) {
    throw new MediaError('http_status', 'The server of the file sent a part of it, and not the one that was asked for');
  }
  const whole = answer.statusCode === 200 ? length : part?.split('/')[1];
  if (Number(whole) > maxBytes) throw tooLarge(maxBytes);
  return answer;
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

import type { LookupAddress } from 'node:dns';
import dns from 'node:dns';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import http from 'node:http';
import https from 'node:https';
import net, { isIP, type LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import { isPublicAddress } from './ip-addresses.ts';

/** Asks the servers of names. `resolve4` and `resolve6` reject if there is no such address. */
export type Resolver = Pick<dns.promises.Resolver, 'resolve4' | 'resolve6'>;

const WITHIN = { timeout: 2_000, tries: 2 };
/** The servers have answered, or there are none: a name may still be known to this machine. */
const NOT_THERE = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED']);

/**
 * Returns a DNS look-up for connections to strangers' hosts: it finds only public addresses, and fails with `refusal`
 * if there are none. The connection itself uses it, so the address that was checked is the one that is used.
 *
 * It asks the servers itself. `dns.lookup` waits in one of four threads that the whole process has, so that four names
 * whose servers are silent would hold up all others, and files as well.
 */
export function lookUpPublic(
  refusal: () => Error,
  resolver: Resolver = new dns.promises.Resolver(WITHIN),
): LookupFunction {
  return (hostname, options, callback) => {
    find(hostname, resolver, (error, found) => {
      if (error) return callback(error, '', 0);
      const wanted = found.filter(({ family }) => !options.family || family === options.family);
      const addresses = wanted.filter(({ address }) => isPublicAddress(address));
      const [first] = addresses;
      if (!first) return callback(refusal(), '', 0);
      if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

const find = callbackify(addressesOf);

async function addressesOf(hostname: string, resolver: Resolver): Promise<LookupAddress[]> {
  const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const found = answers.flatMap((answer, index) =>
    answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family: index === 0 ? 4 : 6 })) : [],
  );
  if (found.length > 0) return found;
  const failed = answers.find((one) => one.status === 'rejected' && !NOT_THERE.has(one.reason?.code));
  if (failed?.status === 'rejected') throw failed.reason;
  return dns.promises.lookup(hostname, { all: true });
}

export interface OutsideOptions extends RequestOptions {
  /** The host is allowed whatever its address. */
  open: boolean;
  /** Makes the error for a host that is not on the public internet. */
  refusal: () => Error;
}

/**
 * Begins a request to a stranger's server, on a new connection and without any proxy. Unless `open` is set, it only
 * connects to public addresses. The connection's own look-up checks them, so that a name can't give one address to the
 * check and another to the connection. Redirects are answers like all others.
 *
 * Uses node:http and not undici: only version 8 of undici survives a server that hangs up while its answer
 * waits to be written (nodejs/undici#5360), and that version requires Node 22.
 * @throws the error of `refusal`
 */
export function requestOutside(url: URL, { open, refusal, ...options }: OutsideOptions): ClientRequest {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // There is no look-up for an IP address.
  if (!open && net.isIP(host) !== 0 && !isPublicAddress(host)) throw refusal();
  const { request, Agent } = url.protocol === 'https:' ? https : http;
  return request(url, {
    ...options,
    agent: new Agent({ keepAlive: false }),
    ...(!open && { lookup: lookUpPublic(refusal) }),
  });
}

/** RFC 6761: always this machine, with or without the dot at the end. */
const LOCAL_NAMES = /(^|\.)localhost\.?$/;

/**
 * Says why a text is no URL that something may be sent to, if so. The addresses of other names are checked when
 * something is sent.
 */
export function receiverProblem(text: string, allowed: AllowedHosts): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // The parser repairs a lot (spaces, backslashes, missing slashes). What it repaired is refused.
  if (!url || !/^https?:\/\/[^\s\\/?#@]+([/?#][^\s\\]*)?$/i.test(text)) {
    return 'Must be a URL such as https://hooks.example.com/in, without user name and password.';
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isInside = isIP(host) === 0 ? LOCAL_NAMES.test(host) : !isPublicAddress(host);
  if (isInside && !allowed.allows(url)) {
    return 'Is not on the public internet. The operator of this service can allow the host with TRADEWIND_WEBHOOK_ALLOW_HOSTS.';
  }
  return undefined;
}

export interface Posting {
  headers: Record<string, string>;
  body: string;
  /** Whether the host is allowed whatever its address is. */
  open: boolean;
  signal: AbortSignal;
  /** Bytes of the answer's body to read; none by default. */
  most?: number;
}

export interface Posted {
  status: number;
  headers: IncomingMessage['headers'];
  /** The beginning of the answer's body. */
  text: string;
}

/** Sends a text to a stranger's server. Once the answer has begun, it counts, even if its body breaks off. */
export async function post(url: URL, { headers, body, open, signal, most = 0 }: Posting): Promise<Posted> {
  const response = await answerTo(url, { headers, body, open, signal });
  const text = await beginningOf(response, most);
  // The rest of the answer doesn't matter.
  response.destroy();
  return { status: response.statusCode ?? 0, headers: response.headers, text };
}

function answerTo(url: URL, { headers, body, open, signal }: Posting): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sending = requestOutside(url, {
      method: 'POST',
      signal,
      open,
      refusal: () => new Error('The host is not on the public internet'),
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    });
    sending.on('error', reject);
    // A request may end without an answer and without an error, for example if the server wants to switch protocols.
    sending.once('close', () => reject(new Error('No response')));
    sending.once('response', (response) => {
      // Errors always need a listener, whatever happens to the answer.
      response.on('error', () => {});
      resolve(response);
    });
    sending.end(body);
  });
}

async function beginningOf(response: IncomingMessage, most: number): Promise<string> {
  if (most === 0) return '';
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= most) break;
    }
  } catch {
    // What has arrived is enough.
  }
  return Buffer.concat(chunks).subarray(0, most).toString();
}

/** Hosts that may be contacted although their addresses are not public. */
export interface AllowedHosts {
  allows(url: URL): boolean;
}

export const NO_HOSTS: AllowedHosts = { allows: () => false };

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/**
 * Parses a list such as `media.internal, 10.0.0.7:8080, [fd00::1]:80`. A host without a port is allowed with
 * every port. Returns undefined if an entry is not a host.
 */
export function parseAllowedHosts(text: string): AllowedHosts | undefined {
  const entries = new Set<string>();
  for (const entry of text.split(',').map((part) => part.trim())) {
    if (entry === '') continue;
    const parsed = hostAndPort(entry);
    if (parsed === undefined) return undefined;
    entries.add(parsed);
  }
  return {
    allows(url) {
      const host = url.hostname;
      const port = url.port || DEFAULT_PORTS[url.protocol];
      return entries.has(host) || entries.has(`${host}:${port}`);
    },
  };
}

/** Normalizes a host as the URL parser does, so that `0x7f.1` and `127.0.0.1` are the same. */
function hostAndPort(entry: string): string | undefined {
  if (/[/?#@\s\\]/.test(entry) || !URL.canParse(`http://${entry}`)) return undefined;
  const { hostname, port } = new URL(`http://${entry}`);
  if (port !== '') return `${hostname}:${port}`;
  return /:0*80$/.test(entry) ? `${hostname}:80` : hostname;
}

import {
  type ApiRequest,
  type ApiResponse,
  bodyText,
  type Credentials,
  type Progress,
  type Session,
  type Who,
} from './messages.ts';

const BASE = '/iam/auth/console';
/** Before the end of an access token, which is an hour after its beginning. */
const REFRESH_EARLY_MS = 60_000;
export const AGAIN_MS = 1_000;
export const LONGEST_AGAIN_MS = 10_000;

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Access {
  token: string;
  expiresAt: number;
  who: Who;
}

/** How somebody follows an answer that may be large. */
export interface Watch {
  most: number;
  signal: AbortSignal;
  tell(progress: Progress): void;
}

/** Why an answer didn’t come to its end, for people. */
export class BrokenOff extends Error {}

/** Holds the access token, and asks for the next one when it is needed. The refresh token is in a cookie that no script can read. */
export class SessionKeeper {
  #own: Access | undefined;
  /** While somebody acts for a client. It isn't refreshed: an hour later, they have to begin again. */
  #acting: Access | undefined;
  #known = false;
  #changes = 0;
  #refreshing: Promise<Access | undefined> | undefined;
  readonly #changed: (session: Session) => void;

  constructor(changed: (session: Session) => void) {
    this.#changed = changed;
  }

  get session(): Session {
    return this.#known ? { who: (this.#acting ?? this.#own)?.who } : undefined;
  }

  /** Goes on with what the cookie has, if it has anything. A server that is away is asked until it is there. */
  async begin(): Promise<void> {
    for (let pause = AGAIN_MS; ; pause = Math.min(pause * 2, LONGEST_AGAIN_MS)) {
      await this.#refresh().catch(() => undefined);
      if (this.#known) return;
      await sleep(pause);
    }
  }

  async signIn(credentials: Credentials): Promise<ApiResponse> {
    // What was asked for before must not end what begins now.
    await this.#refreshing?.catch(() => undefined);
    const first = 'username' in credentials ? 'login' : 'exchange';
    const way = 'challenge' in credentials ? 'second_factor' : first;
    const response = await send({ method: 'POST', path: `${BASE}/${way}`, body: JSON.stringify(credentials) });
    if (response.status === 200) this.#set(await accessOf(response));
    return response;
  }

  /** If the server refuses, the person stays signed in. */
  async signOut(): Promise<ApiResponse> {
    const response = await send({ method: 'POST', path: `${BASE}/logout`, body: '{}' });
    if (response.status < 300) this.#set(undefined);
    return response;
  }

  /** Acts as the administrator of a client, or as oneself again. */
  async actAs(clientId: number | undefined): Promise<ApiResponse> {
    if (clientId === undefined) {
      this.#acting = undefined;
      this.#tell();
      return { status: 204, headers: {}, body: null };
    }
    const response = await this.call({ method: 'GET', path: `/iam/auth/jwt/clients/${clientId}/admin_token` });
    if (response.status === 200) {
      const access = await accessOf(response);
      this.#acting = { ...access, who: { ...access.who, acting: true } };
      this.#tell();
    }
    return response;
  }

  /** Sends a request with the access token, and once more with the next one if it has ended. */
  async call(request: ApiRequest, watch?: Watch): Promise<ApiResponse> {
    const access = await this.access();
    const response = await send(request, access, watch);
    if (response.status !== 401) return response;
    if (this.#acting) {
      this.#acting = undefined;
      this.#tell();
      return response;
    }
    const next = await this.#refresh();
    return next ? send(request, next.token, watch) : response;
  }

  /** The access token to send; undefined if nobody is signed in. */
  async access(): Promise<string | undefined> {
    if (this.#acting) return this.#acting.token;
    const own = this.#own;
    if (own && own.expiresAt - Date.now() < REFRESH_EARLY_MS) return (await this.#refresh())?.token;
    return own?.token;
  }

  /** However many requests need it, there is one refresh at a time. */
  #refresh(): Promise<Access | undefined> {
    this.#refreshing ??= this.#askForNext().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #askForNext(): Promise<Access | undefined> {
    const before = this.#changes;
    const response = await send({ method: 'POST', path: `${BASE}/refresh`, body: '{}' });
    // Somebody has signed in or out meanwhile, which counts more. And a server that is away or busy ends no session.
    const isFinal = response.status === 200 || response.status === 401 || (response.status === 403 && !this.#known);
    if (this.#changes !== before || !isFinal) return this.#own;
    const next = response.status === 200 ? await accessOf(response) : undefined;
    this.#set(next);
    return next;
  }

  #set(access: Access | undefined): void {
    this.#changes++;
    this.#own = access;
    this.#acting = undefined;
    this.#tell();
  }

  #tell(): void {
    this.#known = true;
    this.#changed(this.session);
  }
}

async function accessOf(response: ApiResponse): Promise<Access> {
  const { access: token } = JSON.parse(await bodyText(response)) as { access: string };
  const [, claims = ''] = token.split('.');
  const bytes = Uint8Array.from(atob(claims.replaceAll('-', '+').replaceAll('_', '/')), (letter) =>
    letter.charCodeAt(0),
  );
  const { exp, iat, user_id, client_id, client_name, email, user_groups } = JSON.parse(new TextDecoder().decode(bytes));
  const who = {
    userId: user_id,
    clientId: client_id,
    clientName: client_name,
    email,
    role: user_groups[0],
    acting: false,
  };
  // By this machine's clock, which may not be right.
  return { token, expiresAt: Date.now() + (exp - iat) * 1_000, who };
}

/** @throws TypeError if the server can't be reached, BrokenOff for an answer that is watched */
async function send(
  { method, path, headers = {}, body }: ApiRequest,
  token?: string,
  watch?: Watch,
): Promise<ApiResponse> {
  const response = await fetch(path, {
    method,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body !== undefined && { body }),
    cache: 'no-store',
    ...(watch && { signal: watch.signal }),
  });
  const { status, ok } = response;
  // A page has a text at once, and has to ask the browser for what is in a blob.
  const isJson = /^application\/(.+\+)?json\b/.test(response.headers.get('content-type') ?? '');
  const read = () => (watch && ok ? watched(response, watch) : isJson ? response.text() : response.blob());
  return { status, headers: Object.fromEntries(response.headers), body: status === 204 ? null : await read() };
}

const TELL_MS = 100;
/** A browser may put the bytes of a blob on its disk. */
const INTO_BLOB_BYTES = 16_000_000;

async function watched({ body, headers }: Response, { most, tell }: Watch): Promise<Blob> {
  const length = headers.get('content-length');
  const of = length === null ? undefined : Number(length);
  const reader = (body as ReadableStream<Uint8Array<ArrayBuffer>>).getReader();
  let parts: BlobPart[] = [];
  let [bytes, inBlob] = [0, 0];
  const telling = setInterval(() => tell({ bytes, of }), TELL_MS);
  try {
    while (Math.max(bytes, of ?? 0) <= most) {
      const { done, value } = await reader.read().catch(() => {
        throw new BrokenOff('The file broke off. Try again.');
      });
      if (done) return new Blob(parts);
      parts.push(value);
      bytes += value.length;
      if (bytes - inBlob <= INTO_BLOB_BYTES) continue;
      parts = [new Blob(parts)];
      inBlob = bytes;
    }
  } finally {
    clearInterval(telling);
  }
  await reader.cancel();
  throw new BrokenOff(`The file is larger than ${most / 1_000_000} MB, too much for a page.`);
}

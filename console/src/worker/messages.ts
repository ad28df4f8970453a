/** What pages and the hub of the browser say to each other. Each page has a port; the hub is in a worker that all pages share. */

export interface ApiRequest {
  method: string;
  /** With the query, such as `/cloud/v1/projects?limit=10`. */
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

export interface ApiResponse {
  status: number;
  headers: Record<string, string>;
  /** A text if it is JSON. */
  body: Blob | string | null;
}

export const bodyText = async ({ body }: ApiResponse): Promise<string> =>
  (typeof body === 'string' ? body : await body?.text()) ?? '';

/** How many bytes of an answer have come, and of how many, if that is known. */
export interface Progress {
  bytes: number;
  of: number | undefined;
}

/** Ways to sign in. */
export type Credentials =
  | { code: string }
  | { token: string }
  | { username: string; password: string }
  /** What comes after the password, if that isn't enough. */
  | ({ challenge: string } & ({ code: string } | { recovery_code: string } | { passkey: unknown }));

/** What a signed-in person is told by their token. */
export interface Who {
  userId: number;
  clientId: number;
  clientName: string;
  email: string;
  role: string;
  /** Signed in as somebody else's administrator: goes back to the person's own account. */
  acting: boolean;
}

/** Undefined until it is known whether a former session goes on. */
export type Session = { who: Who | undefined } | undefined;

/** Who is signed in, as whom; undefined for nobody. */
export const identityOf = (session: Session): string | undefined =>
  session?.who && `${session.who.userId} ${session.who.clientId}`;

/** `polling`: something between browser and server holds streams back. */
export type Live = 'connecting' | 'streaming' | 'polling' | 'off';

/** An event of the API, by CloudEvents. */
export interface Told {
  id: string;
  type: string;
  subject?: string;
  time: string;
  data: unknown;
  [attribute: string]: unknown;
}

export type Asked =
  /** With the most bytes that may come, it is told how many have. */
  | { ask: 'call'; id: number; request: ApiRequest; most?: number | undefined }
  | { ask: 'cancel'; id: number }
  | { ask: 'sign-in'; id: number; credentials: Credentials }
  | { ask: 'act-as'; id: number; clientId: number | undefined }
  | { ask: 'sign-out'; id: number }
  | { ask: 'leave' };

export type Said =
  | { say: 'answer'; id: number; response: ApiResponse }
  | { say: 'progress'; id: number; progress: Progress }
  | { say: 'failed'; id: number; message: string }
  | { say: 'session'; session: Session }
  | { say: 'live'; live: Live }
  | { say: 'events'; events: Told[] }
  /** Events may have been missed: everything has to be read again. */
  | { say: 'read-again' };

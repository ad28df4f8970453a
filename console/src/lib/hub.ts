import type {
  ApiRequest,
  ApiResponse,
  Asked,
  Credentials,
  Live,
  Progress,
  Said,
  Session,
  Told,
} from '../worker/messages.ts';

/** The address of the built worker, which the build fills in. */
declare const WORKER: string;

interface Policy {
  createScriptURL(address: string): string;
}
interface WithPolicies {
  trustedTypes?: { createPolicy(name: string, rules: Policy): Policy };
}

/** How a page follows an answer that may be large, and can end it. */
export interface Watch {
  /** More bytes are refused. */
  most: number;
  signal: AbortSignal;
  onProgress: Listener<Progress>;
}

type Listener<Value> = (value: Value) => void;

/** A value that changes elsewhere, as React reads such values. */
class Observed<Value> {
  #value: Value;
  readonly #listeners = new Set<() => void>();
  constructor(value: Value) {
    this.#value = value;
  }
  readonly get = (): Value => this.#value;
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  set(value: Value): void {
    this.#value = value;
    for (const listener of this.#listeners) listener();
  }
}

export const session = new Observed<Session>(undefined);
export const live = new Observed<Live>('off');
/** By how many milliseconds the server's clock is ahead of this machine's. */
export const clockAhead = new Observed(0);
export const serverNow = (): number => Date.now() + clockAhead.get();

/** An answer says the server's time in whole seconds, from between being asked and answered. */
function learnTime({ headers: { date } }: ApiResponse, asked: number): void {
  const time = Date.parse(date ?? '');
  if (Number.isNaN(time)) return;
  const ahead = Math.min(Math.max(clockAhead.get(), time - Date.now()), time + 1_000 - asked);
  if (ahead !== clockAhead.get()) clockAhead.set(ahead);
}

const told = new Set<Listener<Told[]>>();
const missed = new Set<() => void>();
interface Waiting {
  resolve(response: ApiResponse): void;
  reject(error: Error): void;
  watch: Watch | undefined;
}
const waiting = new Map<number, Waiting>();
let last = 0;

/** A worker that is ending, as after a reload, takes a port and never answers. */
const ANSWERS_WITHIN_MS = 1_000;

/** Connects this page with the worker that all pages of the browser share. A browser without such workers gets a hub of its own in each page. */
export function connect(): void {
  port ??= typeof SharedWorker === 'undefined' ? portOfOwnHub() : portOfSharedHub();
}
let port: Promise<MessagePort> | undefined;

async function portOfOwnHub(): Promise<MessagePort> {
  const { createHub } = await import('../worker/hub.ts');
  const channel = new MessageChannel();
  createHub()(channel.port1);
  channel.port2.onmessage = ({ data }: MessageEvent<Said>) => hear(data);
  return channel.port2;
}

async function portOfSharedHub(): Promise<MessagePort> {
  const policy = (globalThis as WithPolicies).trustedTypes?.createPolicy('tradewind', {
    createScriptURL: (address) => address,
  });
  const address = policy?.createScriptURL(WORKER) ?? WORKER;
  for (let patience = ANSWERS_WITHIN_MS; ; patience += ANSWERS_WITHIN_MS) {
    const { port } = new SharedWorker(address, { type: 'module', name: 'tradewind' });
    const leave = () => port.postMessage({ ask: 'leave' } satisfies Asked);
    if (await answers(port, patience)) {
      addEventListener('pagehide', ({ persisted }) => persisted || leave());
      return port;
    }
    leave();
    port.close();
  }
}

/** The hub says who is signed in as soon as a page connects. */
function answers(port: MessagePort, withinMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), withinMs);
    port.onmessage = ({ data }: MessageEvent<Said>) => {
      clearTimeout(timer);
      resolve(true);
      hear(data);
    };
  });
}

function hear(said: Said): void {
  switch (said.say) {
    case 'session':
      session.set(said.session);
      break;
    case 'live':
      live.set(said.live);
      break;
    case 'events':
      for (const listener of told) listener(said.events);
      break;
    case 'read-again':
      for (const listener of missed) listener();
      break;
    case 'answer':
      waiting.get(said.id)?.resolve(said.response);
      waiting.delete(said.id);
      break;
    case 'progress':
      waiting.get(said.id)?.watch?.onProgress(said.progress);
      break;
    case 'failed':
      waiting.get(said.id)?.reject(new Error(said.message));
      waiting.delete(said.id);
  }
}

type WithoutId<One> = One extends { id: number } ? Omit<One, 'id'> : never;

async function ask(asked: WithoutId<Asked>, watch?: Watch): Promise<ApiResponse> {
  const id = ++last;
  const hub = await port;
  watch?.signal.throwIfAborted();
  const begun = Date.now();
  const response = await new Promise<ApiResponse>((resolve, reject) => {
    waiting.set(id, { resolve, reject, watch });
    hub?.postMessage({ ...asked, id });
    watch?.signal.addEventListener('abort', () => hub?.postMessage({ ask: 'cancel', id } satisfies Asked));
  });
  learnTime(response, begun);
  return response;
}

export const call = (request: ApiRequest, watch?: Watch): Promise<ApiResponse> =>
  ask({ ask: 'call', request, most: watch?.most }, watch);
export const signIn = (credentials: Credentials): Promise<ApiResponse> => ask({ ask: 'sign-in', credentials });
export const signOut = (): Promise<ApiResponse> => ask({ ask: 'sign-out' });
export const actAs = (clientId: number | undefined): Promise<ApiResponse> => ask({ ask: 'act-as', clientId });

/** Calls back with the events that come, and when some were missed. Returns what ends that. */
export function onEvents(listener: Listener<Told[]>, whenMissed: () => void): () => void {
  told.add(listener);
  missed.add(whenMissed);
  return () => {
    told.delete(listener);
    missed.delete(whenMissed);
  };
}

import type { Logger } from 'pino';
import type { FieldProblem } from '../../lib/errors.ts';
import type { Observations, Specs } from './specs.ts';

/** Every kind of thing that infrastructure can be asked for. */
export type Kind = keyof Specs;

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** One thing, by the name that we have for it, and by the one that its backend has (`handle`), once that is known. */
export interface Ref<K extends Kind = Kind> {
  kind: K;
  id: string;
  regionId: number;
  projectId: number;
  handle: Json;
}

/** What goes with each call to a backend. */
export interface Call {
  /** Fires when the answer isn't wanted any more: the process stops, or something else is wanted by now. */
  signal: AbortSignal;
  /** Rises with each change of what is wanted. */
  generation: number;
  /**
   * It was there as wanted once. What isn't found any more of a kind that holds data is not made a second time, which
   * would be empty: throw `Refused`.
   */
  wasThere: boolean;
  /** A secret that belongs to the thing, such as a password; undefined where it has none of that name. */
  secret(name: string): Promise<string | undefined>;
  log: Logger;
}

/** How far a thing has come on its way to what is wanted. */
export type Convergence<Observed> =
  | { state: 'settled'; observed: Observed; handle?: Json }
  | { state: 'progressing'; doing: string; askAgainMs: number; handle?: Json };

/**
 * Infrastructure of some kinds. It is told what is wanted, never what to do, and may be told any number of times, by any
 * process, also by two at once: it reads what is there and does the next thing.
 * What it throws says how to go on: `Refused` and `Unsupported` are final, `Unavailable` and every fault of a connection
 * are tried again.
 */
export interface Backend {
  /** What of it can't be done here, by field. Asked before a request is accepted, without a look at what is there. */
  problems<K extends Kind>(kind: K, spec: Specs[K]): FieldProblem[];
  /** Brings the thing one step nearer to the spec; null says that it must not exist. */
  converge<K extends Kind>(
    ref: Ref<K>,
    spec: Specs[K] | null,
    call: Call,
  ): Promise<Convergence<Observations[K] | null>>;
  /** What is there, without changing it; null where it isn't there. */
  observe<K extends Kind>(ref: Ref<K>, call: Call): Promise<Observations[K] | null>;
  /** Everything that is marked as ours, with its region where the backend tells them apart. */
  list(
    call: Pick<Call, 'log' | 'signal'>,
  ): AsyncIterable<Pick<Ref, 'kind' | 'id' | 'handle'> & { regionId?: number }>;
  /**
   * Tells of things that changed by themselves, until the signal fires; left out where it can't. They are looked at at once.
   * Every worker listens. What nobody heard is found by looking, only later.
   */
  watch?(call: Pick<Call, 'log' | 'signal'>): AsyncIterable<Pick<Ref, 'kind' | 'id'>>;
  /** What is wrong with it, for an operator; left out where nothing can be. Whoever asks waits a few seconds at most. */
  health?(call: Pick<Call, 'log' | 'signal'>): Promise<string | undefined>;
}

/** The infrastructure won't do it, however often it is asked. `message` is for the task's reader. */
export class Refused extends Error {
  override readonly name: string = 'Refused';
}

/** The infrastructure can't do it without something that an operator has to install or configure. */
export class Unsupported extends Refused {
  override readonly name = 'Unsupported';
}

/** Another attempt may succeed. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: { retryAfterMs?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.retryAfterMs = options.retryAfterMs;
  }
}

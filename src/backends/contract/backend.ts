import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import type { FieldProblem } from '../../lib/errors.ts';
import type { ClusterObservation, Observations, Specs } from './specs.ts';

/** Every kind of infrastructure that a backend can be asked for. */
export type Kind = keyof Specs;

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/**
 * Names one thing: by our id, and by the name that the backend gave it (`handle`), once that is known. A handle may be an object with a
 * member `seen`, which stands for the state of the thing: one that is listed with another `seen` than it settled with is looked at again.
 */
export interface Ref<K extends Kind = Kind> {
  kind: K;
  id: string;
  regionId: number;
  projectId: number;
  handle: Json;
}

/** Passed along with each call to a backend. */
export interface Call {
  /** Fires when the answer is no longer needed: the process stops, or the want has changed. */
  signal: AbortSignal;
  /** Rises with each change of what is wanted. */
  generation: number;
  /**
   * True if the thing once existed as wanted. If a backend then can't find a thing that holds data, it must
   * not make a new, empty one: throw `Refused`.
   */
  wasThere: boolean;
  /** Returns a secret of the thing, such as a password; undefined if it has no secret with that name. */
  secret(name: string): Promise<string | undefined>;
  /**
   * Saves a handle at once. Use it before an order whose answer may be lost: the next call for the thing gets the handle.
   * @throws Overtaken if something else is wanted by now, or another worker has the want
   */
  remember?(handle: Json): Promise<void>;
  log: Logger;
}

/** How close a thing is to what is wanted. */
export type Convergence<Observed> =
  | { state: 'settled'; observed: Observed; handle?: Json }
  | { state: 'progressing'; doing: string; askAgainMs: number; handle?: Json };

/**
 * Infrastructure of some kinds. A backend is told what is wanted, never what to do. It may be called any number of
 * times, by any process, even by two at once: it reads the current state and does the next thing. Its exceptions say
 * how to continue: `Refused` and `Unsupported` are final; `Unavailable` and all connection errors are retried.
 */
export interface Backend {
  /**
   * Returns what of the spec is impossible here, by field. Called before a request is accepted, without
   * looking at what exists.
   */
  problems<K extends Kind>(kind: K, spec: Specs[K]): FieldProblem[];
  /** Brings the thing one step closer to the spec; null says that the thing must not exist. */
  converge<K extends Kind>(
    ref: Ref<K>,
    spec: Specs[K] | null,
    call: Call,
  ): Promise<Convergence<Observations[K] | null>>;
  /** Returns the current state without changing anything; null if the thing does not exist. */
  observe<K extends Kind>(ref: Ref<K>, call: Call): Promise<Observations[K] | null>;
  /**
   * Lists everything that is marked as ours, with its region if the backend distinguishes regions. What is listed twice is there
   * twice, and `converge` is called to remove one.
   */
  list(call: Pick<Call, 'log' | 'signal'>): AsyncIterable<Pick<Ref, 'kind' | 'id' | 'handle'> & { regionId?: number }>;
  /**
   * Reports things that changed by themselves, until the signal fires; omit it if the backend can't. Every worker
   * listens and looks at the reported things at once, but not at those that it settled with the same `seen`. A change that is
   * not reported is found later, by comparing.
   */
  watch?(call: Pick<Call, 'log' | 'signal'>): AsyncIterable<Pick<Ref, 'kind' | 'id'> & { seen?: string }>;
  /** Returns the versions of Kubernetes, with the leading `v`, that a cluster may get; omit it for all of the catalogue's. */
  clusterVersions?(): readonly string[];
  /** Returns what the backend has, such as programs and their versions, for an operator; omit it if that is nothing. */
  about?(): string;
  /**
   * Returns the load of a machine, oldest first; omit it if the backend measures none. `ref` is the machine, or the
   * cluster whose node it is. Processes of the API call it, and somebody waits for the answer.
   */
  loadOf?(
    ref: Ref<'cluster' | 'machine'>,
    question: LoadQuestion,
    call: Pick<Call, 'log' | 'signal'>,
  ): Promise<MachineLoad[]>;
  /** The same for a load balancer: the traffic that goes through it, and the load of what balances it. */
  trafficOf?(ref: Ref<'load_balancer'>, times: Times, call: Pick<Call, 'log' | 'signal'>): Promise<Load[]>;
  /**
   * Returns how many bytes each of the ports sent out of the region in that time, by the IDs of the ports; leaves out what sent
   * nothing and what it doesn't know, such as machines that are still built. Omit it if the backend doesn't count. Workers
   * call it for up to 200 machines and a day of whole hours that are over, and bill what it says. An error stands for all of
   * them: they are asked about again.
   */
  sentBy?(
    machines: readonly SendingMachine[],
    time: { from: Date; to: Date },
    call: Pick<Call, 'log' | 'signal'>,
  ): Promise<ReadonlyMap<string, number>>;
  /**
   * Returns the console of a machine; undefined if it has none of that type. Omit it if the backend has no consoles. `ref`
   * is the machine, or the cluster whose node it is. Processes of the API call it, and somebody waits for the answer.
   */
  consoleOf?(
    ref: Ref<'cluster' | 'machine'>,
    question: ConsoleQuestion,
    call: Pick<Call, 'log' | 'signal'>,
  ): Promise<MachineConsole | undefined>;
  /**
   * Returns a cluster's credentials with `secret`, null if it has none; for clusters that keep their keys. Processes of
   * the API call it, and somebody waits for the answer.
   */
  credentialsOf?(ref: Ref<'cluster'>, call: Pick<Call, 'log' | 'signal'>): Promise<ClusterObservation | null>;
  /**
   * Returns what is wrong with the backend, for an operator; omit it if nothing can be. Callers wait a few
   * seconds at most.
   */
  health?(call: Pick<Call, 'log' | 'signal'>): Promise<string | undefined>;
  /**
   * Compares the infrastructure with what the catalogue offers there, for an operator; omit it if `health` says all. `tradewind
   * doctor` calls it where `health` finds nothing, and waits ten seconds.
   */
  inspect?(offered: Offered, call: Pick<Call, 'log' | 'signal'>): Promise<Inspection>;
}

/** What the catalogue offers in the regions of a backend, by the IDs there. */
export interface Offered {
  flavors: readonly string[];
  images: readonly string[];
  /** Those that lead outside. */
  networks: readonly string[];
  volumeTypes: readonly string[];
}

export interface Inspection {
  /** What the infrastructure is, such as its services and their versions. */
  has: string;
  /** What is offered and can't be had, and what is too old: a sentence for each. */
  lacks: string[];
}

/** The infrastructure will not do it, however often it is asked. `message` is shown to the reader of the task. */
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

/** `from`, and every `stepMs` from there up to `to`. */
export interface Times {
  from: Date;
  to: Date;
  stepMs: number;
}

/** What is asked of a machine's load. */
export interface LoadQuestion extends Times {
  /** The machine, which may be a node of a cluster. */
  machineId: string;
  /** Names of its disks, such as `vda`. */
  disks: readonly string[];
}

/** The load of something at a time. What is not known is left out; rates are per second. */
export interface Load {
  time: Date;
  cpuPercent?: number;
  memoryPercent?: number;
  network?: { bytesIn: number; bytesOut: number; packetsIn: number; packetsOut: number };
}

export interface MachineLoad extends Load {
  /** By the names in the question. */
  disks?: Record<string, { bytesRead: number; bytesWritten: number; reads: number; writes: number }>;
}

/** A machine, and those of its ports that have a way out. */
export interface SendingMachine {
  /** The machine, or the cluster whose node it is. */
  ref: Ref<'cluster' | 'machine'>;
  machineId: string;
  createdAt: Date;
  ports: readonly { id: string; macAddress: string }[];
}

export interface ConsoleQuestion {
  /** The machine, which may be a node of a cluster. */
  machineId: string;
  /** Such as `novnc`, `spice-html5` or `serial`; any will do if it is absent. */
  type?: string;
}

/**
 * A console at an address of the infrastructure's own, or one that the API passes on. `open` is called for each viewer; its
 * signal is about opening alone. The stream ends when the machine stops, and is destroyed when the viewer leaves.
 */
export type MachineConsole = { protocol: string; type: string } & (
  | { url: string }
  | { open(call: Pick<Call, 'log' | 'signal'>): Promise<Duplex> }
);

/** Says what the backends of regions have of what the catalogue offers. */
export interface Offer {
  /** Returns those of the versions of Kubernetes that the region's backend has. */
  clusterVersions(regionId: number, offered: readonly string[]): string[];
}

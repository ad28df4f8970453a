/** A part of a trace that has ended. */
export interface Span {
  name: string;
  kind: 'client' | 'internal' | 'server';
  /**
   * The ID of the request that it belongs to, which is that of the trace as well: so each process knows it, and logs and
   * answers name it. Undefined for what nobody asked for.
   */
  request: string | undefined;
  /** Names it for its children. Made up if it has none. */
  id?: string;
  /** The `id` of its parent, which may belong to another process. */
  parent?: string;
  /** In milliseconds since 1970. */
  begunAt: number;
  endedAt: number;
  attributes: Record<string, boolean | number | string>;
  /** Why it failed, if it did. */
  error?: string | undefined;
  /** What a client sent as `traceparent`. */
  calledBy?: string | undefined;
}

/** Sends traces elsewhere. */
export interface Tracing {
  /** Hands over a span. Never throws. */
  record(span: Span): void;
  /** Sends what is left, for at most so long. */
  stop(withinMs: number): Promise<void>;
}

/** How traces are sent. Where to, and with what headers, the exporter reads from the environment by itself. */
export interface TracingSettings {
  protocol: 'http/protobuf' | 'http/json';
  /** The share of traces that is sent, from 0 to 1. */
  ratio: number;
}

import type { Principal } from './principal.ts';

/** A request as it came, after it was found who makes it. */
export interface IncomingRequest {
  id: string;
  method: string;
  /** With the query. */
  url: string;
  /** Of the route, without the prefix of a dialect. */
  route: string;
  operation: string;
  /** The status of its answer when all is well. */
  success: number;
  params: Record<string, string | number>;
  /** What was sent, once it was read. */
  body: () => unknown;
  ip: string;
  userAgent: string | undefined;
  principal: Principal;
}

import type { Sql } from '../db/database.ts';
import type { Principal } from './principal.ts';

/** A request after authentication, before its work begins. */
export interface IncomingRequest {
  id: string;
  method: string;
  /** Includes the query. */
  url: string;
  /** The route's path, without the prefix of a dialect. */
  route: string;
  operation: string;
  /** The status of a successful answer. */
  success: number;
  params: Record<string, string | number>;
  /** Returns the body, once it was read. */
  body: () => unknown;
  ip: string;
  userAgent: string | undefined;
  principal: Principal;
  /**
   * To be called before a change, since the body may have come slowly. `within` is the transaction of the change, which
   * must not wait for a second connection.
   * @throws UnauthenticatedError, ForbiddenError if the caller has lost its rights since
   */
  stillAdmitted(within: Sql): Promise<void>;
}

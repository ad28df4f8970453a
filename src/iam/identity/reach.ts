import { allows, type Principal } from './principal.ts';

/** The accounts whose users the caller looks after, for a query. */
export interface Reach {
  all: boolean;
  clientId: number | undefined;
  resellerId: number | undefined;
}

export function reachOf(principal: Principal): Reach {
  return {
    all: principal.platformAdministrator,
    clientId: allows(principal, 'administer') ? principal.clientId : undefined,
    resellerId: allows(principal, 'resell') ? principal.resellerId : undefined,
  };
}

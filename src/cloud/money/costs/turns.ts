import { UnavailableError } from '../../../lib/errors.ts';
import { accountNow, onOwnBehalf } from '../../../lib/request-context.ts';
import { createTurns } from '../../../lib/turns.ts';

/** Reports of very large accounts take seconds, and a connection each. Others need connections as well. */
const MOST_AT_ONCE = 4;
const MOST_WAITING = { each: 30, all: 120 };

/**
 * Makes reports, some at a time, so that the account can read other things meanwhile. One that has `begun` to be answered waits however many wait before it.
 * @throws UnavailableError if too many of the account wait
 */
export type InTurn = <Answer>(make: () => Promise<Answer>, options?: { begun?: boolean }) => Promise<Answer>;

export function createReportTurns(): InTurn {
  const turns = createTurns(MOST_AT_ONCE);
  return async (make, { begun = false } = {}) => {
    const account = accountNow();
    if (begun || turns.hasRoom(account, MOST_WAITING)) return turns.run(account, () => onOwnBehalf(make));
    throw new UnavailableError('Too many reports of your account are waiting; try again in a second');
  };
}

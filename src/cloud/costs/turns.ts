import pLimit from 'p-limit';
import { UnavailableError } from '../../lib/errors.ts';

/** Reports of very large accounts take seconds, and a connection each. Others need connections as well. */
const MOST_AT_ONCE = 3;
const MOST_WAITING = 30;

/**
 * Makes reports, some at a time. One that has `begun` to be answered waits however many wait before it.
 * @throws UnavailableError if too many wait
 */
export type InTurn = <Answer>(make: () => Promise<Answer>, options?: { begun?: boolean }) => Promise<Answer>;

export function createTurns(): InTurn {
  const turns = pLimit(MOST_AT_ONCE);
  return (make, { begun = false } = {}) => {
    if (begun || turns.pendingCount < MOST_WAITING) return turns(make);
    throw new UnavailableError('Too many reports are waiting at the moment; try again in a second');
  };
}

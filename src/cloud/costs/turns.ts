import pLimit from 'p-limit';
import { UnavailableError } from '../../lib/errors.ts';

/** Reports of very large accounts take seconds, and a connection each. Others need connections as well. */
const MOST_AT_ONCE = 3;
const MOST_WAITING = 30;

/** Makes reports, some at a time. @throws UnavailableError if too many wait */
export type InTurn = <Answer>(make: () => Promise<Answer>) => Promise<Answer>;

export function createTurns(): InTurn {
  const turns = pLimit(MOST_AT_ONCE);
  return (make) => {
    if (turns.pendingCount < MOST_WAITING) return turns(make);
    throw new UnavailableError('Too many reports are waiting at the moment; try again in a second');
  };
}

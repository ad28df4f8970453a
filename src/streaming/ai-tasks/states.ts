/**
 * The states of an AI task and their transitions. They are Celery's (celery states.py, events/state.py), but
 * all three ready states are final: a late worker can't revive a cancelled task.
 */
export const STATUSES = ['FAILURE', 'PENDING', 'RECEIVED', 'RETRY', 'REVOKED', 'STARTED', 'SUCCESS'] as const;
export type Status = (typeof STATUSES)[number];

/** The states that may follow each state. */
export const TRANSITIONS: Readonly<Record<Status, readonly Status[]>> = {
  // Waits for resources: before the first stage, and between stages.
  PENDING: ['RECEIVED', 'STARTED', 'REVOKED', 'FAILURE'],
  // Taken by an engine that hasn't begun yet, and may release it.
  RECEIVED: ['PENDING', 'STARTED', 'RETRY', 'REVOKED', 'FAILURE'],
  STARTED: ['PENDING', 'SUCCESS', 'FAILURE', 'RETRY', 'REVOKED'],
  // Failed with an internal error and queued again.
  RETRY: ['PENDING', 'RECEIVED', 'STARTED', 'FAILURE', 'REVOKED'],
  SUCCESS: [],
  FAILURE: [],
  REVOKED: [],
};

export const UNFINISHED: readonly Status[] = STATUSES.filter((status) => TRANSITIONS[status].length > 0);

/** How often a task may go to RETRY. */
export const MAX_RETRIES = 3;

/** Returns the states from which a task may go to `next`. */
export function sourcesOf(next: Status): Status[] {
  return STATUSES.filter((status) => TRANSITIONS[status].includes(next));
}

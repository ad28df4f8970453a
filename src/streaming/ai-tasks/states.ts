/**
 * The states of an AI task and the ways between them. They are Celery's (celery states.py, events/state.py),
 * with all three ready states final: a late worker can't bring a cancelled task back.
 */
export const STATUSES = ['FAILURE', 'PENDING', 'RECEIVED', 'RETRY', 'REVOKED', 'STARTED', 'SUCCESS'] as const;
export type Status = (typeof STATUSES)[number];

/** What a task may become next. */
export const TRANSITIONS: Readonly<Record<Status, readonly Status[]>> = {
  // Waits for resources: before the first stage, and between stages.
  PENDING: ['RECEIVED', 'STARTED', 'REVOKED', 'FAILURE'],
  // Taken by an engine that hasn't begun yet, and may give it back.
  RECEIVED: ['PENDING', 'STARTED', 'RETRY', 'REVOKED', 'FAILURE'],
  STARTED: ['PENDING', 'SUCCESS', 'FAILURE', 'RETRY', 'REVOKED'],
  // Failed inside and queued again.
  RETRY: ['PENDING', 'RECEIVED', 'STARTED', 'FAILURE', 'REVOKED'],
  SUCCESS: [],
  FAILURE: [],
  REVOKED: [],
};

export const UNFINISHED: readonly Status[] = STATUSES.filter((status) => TRANSITIONS[status].length > 0);

/** How often a task may go to RETRY (contract 8.4). */
export const MAX_RETRIES = 3;

/** The states from which a task may go to `next`. */
export function sourcesOf(next: Status): Status[] {
  return STATUSES.filter((status) => TRANSITIONS[status].includes(next));
}

import { TASK_ENDED } from '../../../convergence/waiting-tasks.ts';
import type { ChangeFeed } from '../../../db/changes.ts';

/** The announcement of an end may be lost with the process that ended the task. */
const LOOK_MS = 5_000;
/** Each waiting request needs memory and a connection. Beyond this number, requests are answered at once. */
const MOST_WAITERS = 1_000;

/** Requests of this process that wait for the end of a task. Any process may end it. */
export interface TaskWaiting {
  /**
   * Calls `read` for the task now, whenever it may have ended, and every five seconds, until `ended` is true, the time is over,
   * `gone` is aborted or the server stops. Returns the task as last read, and whether it was allowed to wait.
   */
  until<T>(wait: {
    taskId: string;
    seconds: number;
    gone: AbortSignal;
    read: () => Promise<T>;
    ended: (task: T) => boolean;
  }): Promise<{ task: T; waited: boolean }>;
  /** Answers all waiting requests at once, and all later ones. */
  stop(): void;
}

export function createTaskWaiting(changes: ChangeFeed, mostWaiters = MOST_WAITERS): TaskWaiting {
  const waiters = new Map<string, Set<() => void>>();
  let waiting = 0;
  let stopped = false;

  function wakeAll(): void {
    for (const ofTask of waiters.values()) for (const wake of ofTask) wake();
  }
  changes.on(
    TASK_ENDED,
    (taskId) => {
      for (const wake of waiters.get(taskId) ?? []) wake();
    },
    wakeAll,
  );

  /** Starts to listen. Call it before reading the task, so that no end is missed in between. */
  function listen(taskId: string, wake: () => void): () => void {
    const ofTask = waiters.get(taskId) ?? new Set();
    waiters.set(taskId, ofTask.add(wake));
    waiting++;
    return () => {
      waiting--;
      ofTask.delete(wake);
      if (ofTask.size === 0 && waiters.get(taskId) === ofTask) waiters.delete(taskId);
    };
  }

  return {
    async until({ taskId, seconds, gone, read, ended }) {
      if (waiting >= mostWaiters) return { task: await read(), waited: false };
      let over = false;
      // Changes announced while the task is being read count as well.
      let news = false;
      let resume = () => {};
      const wake = () => {
        news = true;
        resume();
      };
      const giveUp = () => {
        over = true;
        wake();
      };
      const forget = listen(taskId, wake);
      const timer = setTimeout(giveUp, seconds * 1000);
      const looking = setInterval(wake, LOOK_MS);
      gone.addEventListener('abort', giveUp);
      try {
        for (;;) {
          news = false;
          const task = await read();
          if (ended(task) || over || stopped || gone.aborted) return { task, waited: true };
          if (news) continue;
          await new Promise<void>((resolve) => {
            resume = resolve;
          });
        }
      } finally {
        clearTimeout(timer);
        clearInterval(looking);
        gone.removeEventListener('abort', giveUp);
        forget();
      }
    },
    stop() {
      stopped = true;
      wakeAll();
    },
  };
}

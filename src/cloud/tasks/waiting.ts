import { TASK_ENDED } from '../../convergence/waiting-tasks.ts';
import type { ChangeFeed } from '../../db/changes.ts';

/** More than that hold memory and a connection each for little: whoever comes then is answered at once. */
const MOST_WAITERS = 1_000;

/** Requests of this process that are held until a task ends. Any process may end it. */
export interface TaskWaiting {
  /**
   * Asks `read` for the task now, and again whenever it may have ended, until `ended` says so, the time is over, `gone`
   * is aborted or the server stops. Answers what was read last, and whether the wait was granted.
   */
  until<T>(wait: {
    taskId: string;
    seconds: number;
    gone: AbortSignal;
    read: () => Promise<T>;
    ended: (task: T) => boolean;
  }): Promise<{ task: T; waited: boolean }>;
  /** Lets every request go, now and from now on. */
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

  /** Listens before anything is read, so that no end falls between the two. */
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
      // News that come while the task is being read count as well.
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

/**
 * What a stopping worker waits for: the steps at work. While it is closed nobody may begin another step, so that
 * the rest of the task can be handed to another process between two steps.
 */
export interface Gate {
  readonly closed: boolean;
  /** Counts one piece of work in; the returned function counts it out, once. */
  enter(): () => void;
  close(): void;
  /** Resolves when nothing is at work any more, or after `ms`. */
  whenIdle(ms: number): Promise<void>;
}

export function createGate(): Gate {
  let atWork = 0;
  let closed = false;
  let idle = () => {};
  return {
    get closed() {
      return closed;
    },
    enter() {
      let inside = true;
      atWork += 1;
      return () => {
        if (!inside) return;
        inside = false;
        atWork -= 1;
        if (atWork === 0) idle();
      };
    },
    close() {
      closed = true;
    },
    whenIdle(ms) {
      if (atWork === 0) return Promise.resolve();
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, ms);
        idle = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
  };
}

/** Where a task of a stopping worker stays: another process takes it from here. */
export function parked(): Promise<never> {
  return new Promise(() => {});
}

export interface OneAtATime {
  (): Promise<void>;
  /** `other` once no `work` is under way, which waits for it in turn. */
  after(other: () => Promise<void>): Promise<void>;
}

/** `work`, never twice at a time: a call meanwhile makes it run once more. */
export function oneAtATime(work: () => Promise<void>): OneAtATime {
  let atWork: Promise<void> | undefined;
  let again = false;
  const run = () => {
    if (atWork) {
      again = true;
      return atWork;
    }
    atWork = (async () => {
      try {
        do {
          again = false;
          await work();
        } while (again);
      } finally {
        atWork = undefined;
      }
    })();
    return atWork;
  };
  const after = async (other: () => Promise<void>) => {
    while (atWork) await atWork.catch(() => {});
    atWork = other().finally(() => {
      atWork = undefined;
      if (again) run().catch(() => {});
    });
    await atWork;
  };
  return Object.assign(run, { after });
}

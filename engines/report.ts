import type { AnalysisMessage, Stage } from './job.ts';

/** How an analysis reports what it does. */
export interface Report {
  stage(name: Stage): void;
  /** @param framesPerSecond undefined for sound */
  facts(durationSeconds: number, framesPerSecond: number | undefined): void;
  /** Reports the share of the whole that is done, from 0 to 1. */
  progress(share: number): void;
}

const PAUSE_MS = 500;

/** Sends reports: progress at most twice a second, and never backwards. */
export function createReport(send: (message: AnalysisMessage) => void, now: () => number): Report {
  let sentAt = Number.NEGATIVE_INFINITY;
  let sent = -1;
  return {
    stage: (name) => send({ type: 'stage', name }),
    facts: (durationSeconds, framesPerSecond) =>
      send({ type: 'facts', durationSeconds, ...(framesPerSecond !== undefined && { framesPerSecond }) }),
    progress(share) {
      const percent = Math.min(100, Math.max(0, Math.floor(share * 100)));
      if (percent <= sent || now() - sentAt < PAUSE_MS) return;
      sent = percent;
      sentAt = now();
      send({ type: 'progress', percent });
    },
  };
}

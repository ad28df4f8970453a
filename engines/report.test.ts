import { expect, it } from 'vitest';
import type { AnalysisMessage } from './job.ts';
import { createReport } from './report.ts';

function percents(steps: readonly { at: number; share: number }[]): number[] {
  const sent: AnalysisMessage[] = [];
  let now = 0;
  const report = createReport(
    (message) => void sent.push(message),
    () => now,
  );
  for (const { at, share } of steps) {
    now = at;
    report.progress(share);
  }
  return sent.flatMap((message) => (message.type === 'progress' ? [message.percent] : []));
}

it('tells progress at most twice a second', () => {
  const everyTenth = Array.from({ length: 21 }, (_, step) => ({ at: step * 100, share: step / 100 }));
  expect(percents(everyTenth)).toEqual([0, 5, 10, 15, 20]);
});

it('never goes backwards, nor says the same twice', () => {
  const steps = [0.5, 0.2, 0.501, 0.6].map((share, step) => ({ at: step * 1_000, share }));
  expect(percents(steps)).toEqual([50, 60]);
});

it('says the rate of frames, if there are any', () => {
  const sent: AnalysisMessage[] = [];
  const report = createReport(
    (message) => void sent.push(message),
    () => 0,
  );
  report.facts(2, undefined);
  report.facts(3, 24_000 / 1_001);
  expect(sent).toEqual([
    { type: 'facts', durationSeconds: 2 },
    { type: 'facts', durationSeconds: 3, framesPerSecond: 24_000 / 1_001 },
  ]);
});

it('stays between 0 and 100', () => {
  expect(
    percents([
      { at: 0, share: -1 },
      { at: 1_000, share: 7 },
    ]),
  ).toEqual([0, 100]);
});

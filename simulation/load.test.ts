import { expect, it } from 'vitest';
import { simulatedLoad } from './backend.ts';

const ID = '7d2f2c36-6d0c-4b7e-9a31-0d3c1f6c8a55';
const OTHER = '1b0c4d5e-8f7a-4b5c-9d3e-2f1a6c7b8d90';
const at = (time: string) => new Date(`2026-11-23T${time}Z`);
const day = (machineId = ID, disks = ['vda', 'vdb']) =>
  simulatedLoad({ machineId, disks, from: at('00:00:00'), to: at('23:58:00'), stepMs: 120_000 });

it('is the same for the same machine and time, whatever the question', () => {
  expect(day()).toEqual(day());
  const hour = simulatedLoad({
    machineId: ID,
    disks: ['vda', 'vdb'],
    from: at('12:00:00'),
    to: at('13:00:00'),
    stepMs: 120_000,
  });
  const inDay = new Map(day().map((one) => [one.time.getTime(), one]));
  expect(hour.map(({ time }) => inDay.get(time.getTime()))).toEqual(hour);
  expect(hour.map(({ time }) => time.toISOString()).slice(0, 2)).toEqual([
    '2026-11-23T12:00:00.000Z',
    '2026-11-23T12:02:00.000Z',
  ]);
});

it('is another one for another machine, and not always the same over a day', () => {
  expect(day(OTHER).map(({ cpuPercent }) => cpuPercent)).not.toEqual(day().map(({ cpuPercent }) => cpuPercent));
  const cpu = day().map(({ cpuPercent = 0 }) => cpuPercent);
  expect(Math.max(...cpu)).toBeGreaterThan(2 * Math.min(...cpu));
});

it('is what a machine can have, for each of its disks', () => {
  for (const id of [ID, OTHER]) {
    for (const { cpuPercent = -1, memoryPercent = -1, network, disks = {} } of day(id)) {
      for (const percent of [cpuPercent, memoryPercent]) {
        expect(percent).toBeGreaterThan(0);
        expect(percent).toBeLessThan(100);
      }
      const rates = [network, ...Object.values(disks)].flatMap((each) => Object.values(each ?? {}));
      expect(Math.min(...rates)).toBeGreaterThan(0);
      expect(Object.keys(disks)).toEqual(['vda', 'vdb']);
    }
  }
  expect(day(ID, [])[0]?.disks).toEqual({});
});

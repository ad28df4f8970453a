import { execFileSync } from 'node:child_process';
import os from 'node:os';
import { expect, test } from 'vitest';
import { findProgram } from '../programs.ts';
import { confined } from './containment.ts';
import { resourceLimits } from './resource-limits.ts';

const PATH = '/usr/bin:/bin';
const { child, wallSeconds, analysis } = resourceLimits({ timeFactor: 3, memoryBytes: 2e9 });

test('a short medium has two minutes, a long one its multiple', () => {
  expect([1, 40, 41, 7_200].map(wallSeconds)).toEqual([120, 120, 123, 21_600]);
});

test('nothing else ends an analysis before its clock does', () => {
  expect(analysis).toMatchObject({ wallSeconds: 21_600, cpuSeconds: 21_600, memoryBytes: 1e9 });
  expect(child).toMatchObject({ cpuSeconds: 21_600 * os.availableParallelism(), memoryBytes: 2e9 });
});

test.skipIf(!findProgram('prlimit', PATH) || !findProgram('setpriv', PATH))(
  'the kernel holds the limits, and takes away what would give rights',
  () => {
    const run = (...command: [string, ...string[]]) => {
      const [program, ...args] = confined(command, PATH, { ...child, counts: true });
      return execFileSync(program, args, { encoding: 'utf8', stdio: 'pipe' });
    };
    const limits = run('/bin/cat', '/proc/self/limits');
    expect(limits).toMatch(new RegExp(`^Max cpu time +${child.cpuSeconds} +${child.cpuSeconds} `, 'm'));
    expect(limits).toMatch(/^Max data size +2000000000 +2000000000 /m);
    expect(limits).toMatch(/^Max core file size +0 +0 /m);
    expect(limits).toMatch(/^Max file size +500000000 +500000000 /m);
    expect(limits).toMatch(new RegExp(`^Max processes +${child.processes} +${child.processes} `, 'm'));
    expect(run('/bin/cat', '/proc/self/status')).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(() => run(process.execPath, '-e', 'Buffer.alloc(2_100_000_000, 1)')).toThrow(
      /Array buffer allocation failed/,
    );
  },
);

test('processes are limited only where nothing else of the user counts', () => {
  expect(confined(['/bin/true'], PATH, { ...child, counts: false }).join(' ')).not.toContain('nproc');
});

test('without the programs of the kernel the command stays as it is', () => {
  expect(confined(['/bin/true', 'x'], '/nowhere', { ...child, counts: true })).toEqual(['/bin/true', 'x']);
});

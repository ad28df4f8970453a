import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { filesOfBundle, type Profile, timeByPart } from './parts.ts';

/** The file of each line of a bundle. */
const FILES = [
  'src/cloud/money/pricing/service.ts',
  'node_modules/decimal.js/decimal.mjs',
  'node_modules/pg/lib/client.js',
];
const frame = (functionName: string, lineNumber: number, url = 'file:///dist/src/bundle.js') => ({
  functionName,
  url,
  lineNumber,
  columnNumber: 0,
});
const PROFILE: Profile = {
  startTime: 0,
  nodes: [
    { id: 1, callFrame: frame('(root)', -1, ''), children: [2, 4, 6, 7] },
    { id: 2, callFrame: frame('price', 0), children: [3] },
    { id: 3, callFrame: frame('times', 1) },
    { id: 4, callFrame: frame('query', 2), children: [5] },
    { id: 5, callFrame: frame('writeBuffer', -1, '') },
    { id: 6, callFrame: frame('writeBuffer', -1, '') },
    { id: 7, callFrame: frame('(idle)', -1, '') },
  ],
  samples: [2, 3, 5, 6, 7, 2],
  timeDeltas: [10, 20, 30, 40, 50, 60],
};

test('packages count for their caller, sending to the database for SQL, and being idle for nothing', () => {
  const times = timeByPart(PROFILE, (line) => FILES[line] ?? '', { from: 0, to: 160 });
  expect(Object.fromEntries(times)).toEqual({
    'the operation itself': 30,
    SQL: 30,
    'system call that answers': 40,
  });
});

test('a place in the bundle belongs to the source that begins there or before', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'bundle-'));
  const sources = ['src/one.ts', 'src/two.ts'];
  const bundle = path.join(folder, 'bundle.js');
  fs.writeFileSync(`${bundle}.lines`, JSON.stringify({ sources, places: [2, 1, 0, 1, 2, 30, 1, 1, 4, 1, 0, 9] }));
  const fileAt = filesOfBundle(bundle);
  fs.rmSync(folder, { recursive: true });
  expect([fileAt(0, 5), fileAt(1, 0), fileAt(1, 28), fileAt(1, 29), fileAt(2, 0), fileAt(3, 0)]).toEqual([
    '',
    'src/one.ts',
    'src/one.ts',
    'src/two.ts',
    'src/two.ts',
    'src/one.ts',
  ]);
});

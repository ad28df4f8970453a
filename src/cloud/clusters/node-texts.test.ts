import { describe, expect, test } from 'vitest';
import { labelProblems, taintProblems } from './node-texts.ts';

describe('labels', () => {
  test.each([
    ['tier', 'web'],
    ['a', ''],
    ['example.com/tier', 'A.b_c-1'],
    ['x'.repeat(63), 'y'.repeat(63)],
  ])('take %s=%s', (key, value) => {
    expect(labelProblems({ [key]: value }, 'labels')).toEqual([]);
  });

  test.each([
    ['', 'x'],
    ['-a', 'x'],
    ['a/b/c', 'x'],
    ['/a', 'x'],
    ['Example.com/a', 'x'],
    ['x'.repeat(64), 'x'],
    ['a', '-x'],
    ['a', 'x y'],
    ['a', 'x\n'],
    ['a', 'y'.repeat(64)],
  ])('refuse %j=%j', (key, value) => {
    expect(labelProblems({ [key]: value }, 'labels')).toEqual([
      { field: `labels.${key}`, message: expect.any(String) },
    ]);
  });
});

describe('taints', () => {
  test.each(['web:NoSchedule', ':NoExecute', 'a.b:PreferNoSchedule'])('take %s', (text) => {
    expect(taintProblems({ dedicated: text }, 'taints')).toEqual([]);
  });

  test.each(['NoSchedule', 'web', 'web:Never', 'web:noschedule', 'a:b:NoSchedule', 'web:NoSchedule '])(
    'refuse %j',
    (text) => {
      expect(taintProblems({ dedicated: text }, 'taints')).toEqual([
        { field: 'taints.dedicated', message: expect.stringContaining('value:Effect') },
      ]);
    },
  );
});

import { describe, expect, test } from 'vitest';
import { labelProblems, taintProblems } from './node-texts.ts';

describe('labels', () => {
  test.each([
    ['tier', 'web'],
    ['a', ''],
    ['example.com/tier', 'A.b_c-1'],
    ['x'.repeat(63), 'y'.repeat(63)],
    ['2a/b', '1'],
    [`${'d'.repeat(63)}.e-f/a`, 'x'],
    [`${'d.'.repeat(126)}d/a`, 'x'],
  ])('take %s=%s', (key, value) => {
    expect(labelProblems({ [key]: value }, 'labels')).toEqual([]);
  });

  test.each([
    ['', 'x'],
    ['-a', 'x'],
    ['a/b/c', 'x'],
    ['/a', 'x'],
    ['Example.com/a', 'x'],
    ['example..com/a', 'x'],
    ['-example.com/a', 'x'],
    ['example-.com/a', 'x'],
    ['example.com/-a', 'x'],
    [`${'d'.repeat(64)}/a`, 'x'],
    [`${'d.'.repeat(126)}dd/a`, 'x'],
    ['a-', 'x'],
    ['a b', 'x'],
    ['x'.repeat(64), 'x'],
    ['a', '-x'],
    ['a', 'x-'],
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

  test('refuse a key that is none', () => {
    expect(taintProblems({ 'a b': 'web:NoSchedule' }, 'taints')).toEqual([
      { field: 'taints.a b', message: expect.stringContaining('key must be') },
    ]);
  });
});

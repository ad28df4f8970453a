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
    ['node.kubernetes.io/tier', 'web'],
    ['gpu.node.kubernetes.io/tier', 'web'],
    ['kubelet.kubernetes.io/tier', 'web'],
    ['cluster.x-k8s.io/tier', 'web'],
    ['mykubernetes.io/tier', 'web'],
    ['hostname', 'web'],
    ['kubernetes.io/tier', 'web'],
    ['node-role.kubernetes.io/worker', ''],
    ['node-restriction.kubernetes.io/fips', 'true'],
    ['topology.kubernetes.io/rack', 'r1'],
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

describe('labels that each node has from its machine', () => {
  test.each([
    'kubernetes.io/hostname',
    'kubernetes.io/arch',
    'beta.kubernetes.io/os',
    'node.kubernetes.io/instance-type',
    'topology.kubernetes.io/zone',
  ])('are refused: %s', (key) => {
    expect(labelProblems({ [key]: 'x' }, 'labels')).toEqual([
      { field: `labels.${key}`, message: expect.stringContaining('value of its own') },
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

  test.each(['not-ready', 'unreachable', 'disk-pressure'])('refuse that of the condition %s', (name) => {
    const key = `node.kubernetes.io/${name}`;
    expect(taintProblems({ [key]: ':NoExecute' }, 'taints')).toEqual([
      { field: `taints.${key}`, message: expect.stringContaining('Kubernetes itself') },
    ]);
    expect(taintProblems({ [`example.com/${name}`]: ':NoExecute' }, 'taints')).toEqual([]);
  });

  test('refuse a key that is none', () => {
    expect(taintProblems({ 'a b': 'web:NoSchedule' }, 'taints')).toEqual([
      { field: 'taints.a b', message: expect.stringContaining('key must be') },
    ]);
  });
});

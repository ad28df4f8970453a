import { expect, it } from 'vitest';
import type { LiveObject } from './client.ts';
import { rolloutOf } from './rollout.ts';

const HASH = 'tradewind/configuration-hash';

function workload(kind: 'DaemonSet' | 'Deployment', status: object, generation = 2): LiveObject {
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name: 'agent', namespace: 'kube-system', uid: 'u', generation },
    spec: { replicas: 1, template: { metadata: { annotations: { [HASH]: 'new' } } } },
    status: { observedGeneration: 2, ...status },
  };
}

function pod(status: object, hash = 'new'): LiveObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'agent-1', uid: 'p', annotations: { [HASH]: hash } },
    status,
  };
}

const crashing = (restartCount: number, terminated: object) => ({
  containerStatuses: [
    {
      name: 'main',
      restartCount,
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated },
    },
  ],
});
const LATE = { conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }] };

it.each([
  ['is not noticed yet', workload('Deployment', { replicas: 1, updatedReplicas: 1, availableReplicas: 1 }, 3)],
  ['still has an old pod', workload('Deployment', { replicas: 2, updatedReplicas: 1, availableReplicas: 1 })],
  ['is not available', workload('Deployment', { replicas: 1, updatedReplicas: 1 })],
  [
    'is old on a node',
    workload('DaemonSet', { desiredNumberScheduled: 2, updatedNumberScheduled: 1, numberAvailable: 2 }),
  ],
  [
    'does not run on a node',
    workload('DaemonSet', { desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 1 }),
  ],
])('a workload goes on while it %s', (_why, given) => {
  expect(rolloutOf(given, [], [])).toMatchObject({ state: 'going' });
});

it.each([
  ['all replicas are new and ready', workload('Deployment', { replicas: 1, updatedReplicas: 1, availableReplicas: 1 })],
  [
    'it is new and ready on all nodes',
    workload('DaemonSet', { desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2 }),
  ],
  ['no node takes it', workload('DaemonSet', { desiredNumberScheduled: 0 })],
])('a workload is done when %s', (_why, given) => {
  expect(rolloutOf(given, [], [])).toEqual({ state: 'done' });
});

it('a container that crashes again and again is told of with its last words', () => {
  const bad = workload('Deployment', { replicas: 2, updatedReplicas: 1, availableReplicas: 1 });
  const words = { exitCode: 255, reason: 'Error', message: 'unknown flag: --colour\nusage: ...\n' };
  expect(rolloutOf(bad, [pod(crashing(1, words))], [])).toMatchObject({ state: 'going' });
  expect(rolloutOf(bad, [pod(crashing(2, words), 'old')], [])).toMatchObject({ state: 'going' });
  expect(rolloutOf(bad, [pod(crashing(2, words))], [])).toEqual({
    state: 'stuck',
    why: 'Deployment kube-system/agent does not run: container main keeps crashing (exit code 255, Error): unknown flag: --colour | usage: ...',
  });
  const silent = pod(crashing(2, { exitCode: 137, reason: 'OOMKilled' }));
  expect(rolloutOf(bad, [silent], [])).toMatchObject({
    state: 'stuck',
    why: expect.stringContaining('(exit code 137, OOMKilled)'),
    silent: { pod: silent, container: 'main' },
  });
});

it.each([
  ['pods "agent-1" is forbidden: exceeded quota: few, requested: pods=1, used: pods=4, limited: pods=4'],
  ['admission webhook "policy.example.com" denied the request: no images from elsewhere'],
  ['pods "agent-1" is forbidden: violates PodSecurity "restricted:latest": host namespaces'],
])('a pod that will never be made is told of at once: %s', (message) => {
  const conditions = [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message }];
  const why = expect.stringContaining(message);
  expect(rolloutOf(workload('Deployment', { conditions }), [], [])).toEqual({ state: 'stuck', why });
  const daemons = workload('DaemonSet', { desiredNumberScheduled: 1 });
  expect(rolloutOf(daemons, [], [message])).toEqual({ state: 'stuck', why });
});

it('what may pass is shown while it lasts, and is the reason when the time is over', () => {
  const missing = 'error looking up service account kube-system/agent';
  expect(rolloutOf(workload('DaemonSet', { desiredNumberScheduled: 1 }), [], [missing])).toEqual({
    state: 'going',
    doing: `DaemonSet kube-system/agent: 0 of 1 updated, 0 available; ${missing}`,
  });
  const pulling = pod({
    containerStatuses: [
      { name: 'main', restartCount: 0, state: { waiting: { reason: 'ErrImagePull', message: 'not found' } } },
    ],
  });
  expect(rolloutOf(workload('Deployment', { replicas: 1, updatedReplicas: 1 }), [pulling], [])).toEqual({
    state: 'going',
    doing: 'Deployment kube-system/agent: 1 of 1 updated, 0 available; container main: ErrImagePull: not found',
  });
  const homeless = pod({
    conditions: [{ type: 'PodScheduled', status: 'False', message: '0/3 nodes are available: 3 Insufficient cpu.' }],
  });
  expect(rolloutOf(workload('Deployment', LATE), [homeless], [])).toEqual({
    state: 'stuck',
    why: 'Deployment kube-system/agent does not get ready: 0/3 nodes are available: 3 Insufficient cpu.',
  });
});

import { Value } from 'typebox/value';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { Host } from '../../src/backends/maker.ts';
import { clusterApi } from './maker.ts';

const machine = {
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
  kind: 'OpenStackMachineTemplate',
  spec: { flavor: '{flavor_id}' },
};
const SETTINGS = {
  cluster: { ...machine, kind: 'OpenStackCluster', spec: { network: '{network_id}' } },
  control_plane: { machine: { ...machine, spec: { flavor: 'large' } } },
  workers: { machine },
  versions: ['v1.34.4'],
};
const base64 = (text: string) => Buffer.from(text).toString('base64');
const CLUSTER = { server: 'https://management.example:6443', 'certificate-authority-data': base64('CA') };
const kubeconfig = (cluster: object = CLUSTER, user: object = { token: 'sesame' }) =>
  stringify({
    clusters: [{ name: 'management', cluster }],
    users: [{ name: 'tradewind', user }],
    contexts: [{ name: 'own', context: { cluster: 'management', user: 'tradewind' } }],
    'current-context': 'own',
  });
const make = (settings: object, secret = kubeconfig()) =>
  clusterApi.make({ name: 'machines', settings, secrets: { kubeconfig: secret }, flavor: () => undefined }, {} as Host);

it('offers the versions that the operator has images of', () => {
  expect(Value.Check(clusterApi.settings, SETTINGS)).toBe(true);
  expect(make(SETTINGS).clusterVersions?.()).toEqual(['v1.34.4']);
  const { versions: _, ...unlimited } = SETTINGS;
  expect(make(unlimited).clusterVersions).toBeUndefined();
});

it.each([
  ['a number of machines that etcd has no majority of', { control_plane: { ...SETTINGS.control_plane, replicas: 2 } }],
  ['an unknown setting', { size: 3 }],
  ['a kind without a group', { cluster: { ...SETTINGS.cluster, apiVersion: 'v1' } }],
])('does not take %s', (_, changes) => {
  expect(Value.Check(clusterApi.settings, { ...SETTINGS, ...changes })).toBe(false);
});

it('names placeholders that mean nothing where they are', () => {
  const cluster = { ...SETTINGS.cluster, spec: { size: '{flavor_id}' } };
  expect(() => make({ ...SETTINGS, cluster })).toThrow(
    'backends.yaml: cluster of backend machines: {flavor_id} is no placeholder',
  );
});

it.each([
  ['sesame', 'is no kubeconfig'],
  [stringify({ 'current-context': 'own' }), 'has no current context'],
  [kubeconfig({ ...CLUSTER, server: 'http://management.example' }), 'names no server with https'],
  [kubeconfig({ server: CLUSTER.server }), 'has no certificate-authority-data'],
  [kubeconfig(CLUSTER, { exec: { command: 'aws' } }), 'has neither a token nor client-certificate-data'],
])('says what is wrong with a kubeconfig: %#', (text, problem) => {
  expect(() => make(SETTINGS, text)).toThrow(`secret kubeconfig of backend machines: ${problem}`);
});

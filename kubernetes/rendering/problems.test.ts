import { expect, it } from 'vitest';
import { fullSpec, PLATFORM, plainSpec, poolSpec } from '../fixtures/specs.ts';
import type { Platform } from '../platform.ts';
import { crioFlags, kubeletConfiguration } from './pool-settings.ts';
import { renderingProblems } from './problems.ts';

const autoscaler = (parameters: Record<string, string>) =>
  plainSpec({ configuration: { autoscaler_config: parameters } });
const bare: Platform = { autoscalerArguments: [] };
const fields = (spec: ReturnType<typeof plainSpec>, platform = PLATFORM) =>
  renderingProblems(spec, platform).map(({ field }) => field);

it('finds nothing wrong where the platform has what is asked for', () => {
  expect(fields(fullSpec('v1.32.13'))).toEqual([]);
  expect(fields(plainSpec(), bare)).toEqual([]);
});

it.each([
  [{ 'expendable-pods-priority-cutoff': '-10' }, []],
  [{ 'expendable-pods-priority-cutoff': '-0.0' }, []],
  [{ 'expendable-pods-priority-cutoff': '-10.5' }, ['autoscaler_config.expendable-pods-priority-cutoff']],
  [{ expander: 'least-waste,random' }, []],
  [{ expander: 'least-waste,price' }, ['autoscaler_config.expander']],
  [{ expander: 'grpc' }, ['autoscaler_config.expander']],
])('the autoscaler would start with %j or its field is named', (parameters, expected) => {
  expect(fields(autoscaler(parameters))).toEqual(expected);
});

it('takes the grpc expander where there is one to call', () => {
  expect(fields(autoscaler({ expander: 'grpc' }), { ...bare, grpc_expander_url: 'expander:50051' })).toEqual([]);
});

it('names what this platform has not', () => {
  expect(fields(fullSpec('v1.32.13'), bare)).toEqual(['logging.destination_region_id', 'add_ons.slurm']);
});

it('turns the settings of pools into those of their programs', () => {
  const pool = poolSpec({
    kubeletConfig: { podMaxPids: '4096', cpuCFSQuota: 'false', allowedUnsafeSysctls: 'net.*,kernel.shm*' },
    crioConfig: { 'log-level': 'warn', 'default-ulimits': 'nofile=1024:2048' },
  });
  expect(fields(plainSpec({ pools: { first: pool } }))).toEqual([]);
  expect(kubeletConfiguration(pool)).toEqual({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    allowedUnsafeSysctls: ['net.*', 'kernel.shm*'],
    cpuCFSQuota: false,
    podPidsLimit: 4096,
  });
  expect(crioFlags(pool)).toEqual(['--default-ulimits=nofile=1024:2048', '--log-level=warn']);
});

it('names the settings of pools that mean nothing to their programs', () => {
  const pool = poolSpec({
    kubeletConfig: { maxPods: 'many', colour: 'blue', cpuCFSQuota: 'maybe' },
    crioConfig: { root: '/', 'pids-limit': '1.5' },
  });
  expect(fields(plainSpec({ pools: { first: pool } }))).toEqual([
    'pools.first.kubelet_config.maxPods',
    'pools.first.kubelet_config.colour',
    'pools.first.kubelet_config.cpuCFSQuota',
    'pools.first.crio_config.root',
    'pools.first.crio_config.pids-limit',
  ]);
});

it('lets clusters change whose pools have what only earlier releases took', () => {
  const pool = poolSpec({
    kubeletConfig: {
      containerLogMaxFiles: '1',
      cpuCFSQuotaPeriod: '100ms',
      imageGCHighThresholdPercent: '10',
      maxParallelImagePulls: '5',
      memoryManagerPolicy: 'Static',
    },
    crioConfig: { 'default-env': 'A=b\nC=d', 'log-level': 'loud' },
  });
  expect(fields(plainSpec({ pools: { first: pool } }))).toEqual([]);
});

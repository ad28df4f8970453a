import { describe, expect, it } from 'vitest';
import type { ClusterConfiguration } from '../../../../db/json-columns.ts';
import { DEFAULT_CONFIGURATION } from './configuration.ts';
import type { ClusterUpdate } from './schema.ts';
import { validateConfiguration, validateInitialConfiguration } from './validate.ts';

const context = { clusterName: 'c1', ddosTemplates: [], destinationRegionIds: [1] };
const fieldsOf = (update: ClusterUpdate, current = DEFAULT_CONFIGURATION) =>
  validateConfiguration(update, current, context).map(({ field }) => field);

const NO_ISSUER = {
  client_id: null,
  groups_claim: null,
  groups_prefix: null,
  issuer_url: null,
  required_claims: null,
  signing_algs: null,
  username_claim: null,
  username_prefix: null,
};

const faulty: ClusterUpdate = {
  add_ons: { slurm: { enabled: true } },
  authentication: { oidc: {} },
  autoscaler_config: { expander: 'best' },
  cni: { provider: 'cilium' },
  ddos_profile: { enabled: true },
  logging: { enabled: true },
};

it('judges every group in one go', () => {
  expect(fieldsOf(faulty)).toEqual([
    'add_ons.slurm.file_share_id',
    'add_ons.slurm.ssh_key_ids',
    'add_ons.slurm.worker_count',
    'authentication.oidc.issuer_url',
    'authentication.oidc.client_id',
    'autoscaler_config.expander',
    'cni.provider',
    'ddos_profile.profile_template',
    'logging.destination_region_id',
  ]);
});

it('leaves alone what the request leaves alone, even if the catalogue has moved on', () => {
  const current: ClusterConfiguration = {
    ...DEFAULT_CONFIGURATION,
    authentication: { oidc: NO_ISSUER },
    autoscaler_config: { 'gone-parameter': '1' },
    ddos_profile: { enabled: true, fields: [], profile_template: 99, profile_template_name: null },
    logging: { enabled: true, destination_region_id: 99, topic_name: 'c1', retention_policy: null },
  };
  expect(fieldsOf({}, current)).toEqual([]);
  expect(fieldsOf({ autoscaler_config: { 'scan-interval': '10s' } }, current)).toEqual([]);
  expect(fieldsOf({ authentication: { oidc: null }, ddos_profile: null, logging: null }, current)).toEqual([]);
  expect(fieldsOf({ ddos_profile: { enabled: false }, logging: { enabled: false } }, current)).toEqual([]);
});

it('reads an update against a cluster whose CNI was never chosen as calico', () => {
  expect(fieldsOf({ cni: { provider: 'calico' } }, { ...DEFAULT_CONFIGURATION, cni: null })).toEqual([]);
  expect(fieldsOf({ cni: { provider: 'cilium' } }, { ...DEFAULT_CONFIGURATION, cni: null })).toEqual(['cni.provider']);
});

describe('at creation', () => {
  it('may choose the provider', () => {
    expect(validateInitialConfiguration({ cni: { provider: 'cilium', cilium: { mask_size: 26 } } }, context)).toEqual(
      [],
    );
  });

  it('holds the rules of an update', () => {
    const fields = validateInitialConfiguration({ ...faulty, cni: { cilium: {} } }, context).map(({ field }) => field);
    expect(fields).toContain('cni.cilium');
    expect(fields).toContain('autoscaler_config.expander');
    expect(fields).toContain('add_ons.slurm.worker_count');
  });

  it('takes only the enabling form of slurm', () => {
    expect(validateInitialConfiguration({ add_ons: { slurm: { enabled: false } } }, context)).toEqual([
      { field: 'add_ons.slurm.enabled', message: expect.stringMatching(/leave add_ons out/) },
    ]);
  });
});

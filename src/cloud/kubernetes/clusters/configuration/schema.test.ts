import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { DEFAULT_CONFIGURATION } from './configuration.ts';
import { initialConfiguration } from './merge.ts';
import { ClusterUpdate, configurationAnswer } from './schema.ts';

// Configured like the server's: above all, defaults in a schema would be filled in.
const ajv = new Ajv({ allErrors: true, useDefaults: true, coerceTypes: false, strict: false });
addFormats.default(ajv);
const isUpdate = ajv.compile(ClusterUpdate);
const faultOf = (body: unknown) => (isUpdate(body) ? undefined : isUpdate.errors?.map((error) => error.instancePath));

const UUID = 'd8d2b8f1-6a1f-4c0e-9a51-5f0f9e2f7c11';

describe('takes', () => {
  it.each<[string, unknown]>([
    ['nothing', {}],
    ['null groups', { authentication: null, autoscaler_config: null, cni: null, ddos_profile: null, logging: null }],
    ['slurm off', { add_ons: { slurm: { enabled: false } } }],
    ['slurm on', { add_ons: { slurm: { enabled: true, file_share_id: UUID, ssh_key_ids: [UUID], worker_count: 1 } } }],
    ['no oidc', { authentication: { oidc: null } }],
    [
      'null in every oidc field',
      {
        authentication: {
          oidc: {
            client_id: null,
            groups_claim: null,
            groups_prefix: null,
            issuer_url: null,
            required_claims: null,
            signing_algs: null,
            username_claim: null,
            username_prefix: null,
          },
        },
      },
    ],
    ['no overrides', { autoscaler_config: {} }],
    ['native routing', { cni: { provider: 'cilium', cilium: { tunnel: '' } } }],
    ['no cilium', { cni: { cilium: null } }],
    [
      'any field value',
      {
        ddos_profile: {
          enabled: true,
          fields: [{ base_field: 1, field_value: { a: [1] } }, { base_field: 2 }],
        },
      },
    ],
    ['null in a profile', { ddos_profile: { enabled: false, profile_template: null, profile_template_name: null } }],
    ['null in logging', { logging: { destination_region_id: null, topic_name: null, retention_policy: null } }],
    ['no end of retention', { logging: { retention_policy: { period: null } } }],
    ['the longest retention', { logging: { retention_policy: { period: 1825 } } }],
  ])('%s, and adds nothing to it', (_, body) => {
    const before = structuredClone(body);
    expect(faultOf(body)).toBeUndefined();
    expect(body).toEqual(before);
  });
});

describe('refuses', () => {
  it.each<[string, unknown, string]>([
    ['null add-ons', { add_ons: null }, '/add_ons'],
    ['null slurm', { add_ons: { slurm: null } }, '/add_ons/slurm'],
    ['slurm without enabled', { add_ons: { slurm: {} } }, '/add_ons/slurm'],
    [
      'an ID that is none',
      { add_ons: { slurm: { enabled: true, file_share_id: 'x' } } },
      '/add_ons/slurm/file_share_id',
    ],
    [
      'an ID as URN',
      { add_ons: { slurm: { enabled: true, file_share_id: `urn:uuid:${UUID}` } } },
      '/add_ons/slurm/file_share_id',
    ],
    ['no keys', { add_ons: { slurm: { enabled: true, ssh_key_ids: [] } } }, '/add_ons/slurm/ssh_key_ids'],
    ['no workers', { add_ons: { slurm: { enabled: true, worker_count: 0 } } }, '/add_ons/slurm/worker_count'],
    ['half a worker', { add_ons: { slurm: { enabled: true, worker_count: 1.5 } } }, '/add_ons/slurm/worker_count'],
    ['an unknown group', { addons: {} }, ''],
    ['an unknown field', { cni: { cilium: { mtu: 1500 } } }, '/cni/cilium'],
    [
      'a number for an override',
      { autoscaler_config: { 'ok-total-unready-count': 3 } },
      '/autoscaler_config/ok-total-unready-count',
    ],
    ['null for an override', { autoscaler_config: { expander: null } }, '/autoscaler_config/expander'],
    ['an override whose name has a line break', { autoscaler_config: { 'a\nb': 3 } }, '/autoscaler_config/a\nb'],
    ['a list of overrides', { autoscaler_config: [] }, '/autoscaler_config'],
    [
      'an unsafe algorithm',
      { authentication: { oidc: { signing_algs: ['HS256'] } } },
      '/authentication/oidc/signing_algs/0',
    ],
    ['no algorithm', { authentication: { oidc: { signing_algs: [] } } }, '/authentication/oidc/signing_algs'],
    ['an empty text', { authentication: { oidc: { client_id: '' } } }, '/authentication/oidc/client_id'],
    [
      'a long issuer',
      { authentication: { oidc: { issuer_url: 'x'.repeat(2049) } } },
      '/authentication/oidc/issuer_url',
    ],
    ['an unknown provider', { cni: { provider: 'flannel' } }, '/cni/provider'],
    ['a null provider', { cni: { provider: null } }, '/cni/provider'],
    ['an unknown mode', { cni: { cilium: { lb_mode: 'ipip' } } }, '/cni/cilium/lb_mode'],
    ['a text for a flag', { cni: { cilium: { encryption: 'true' } } }, '/cni/cilium/encryption'],
    ['a mask out of range', { cni: { cilium: { mask_size: 33 } } }, '/cni/cilium/mask_size'],
    ['an IPv6 mask out of range', { cni: { cilium: { mask_size_v6: 24 } } }, '/cni/cilium/mask_size_v6'],
    ['a profile without enabled', { ddos_profile: { profile_template: 1 } }, '/ddos_profile'],
    [
      'a field without base_field',
      { ddos_profile: { enabled: true, fields: [{ field_value: 1 }] } },
      '/ddos_profile/fields/0',
    ],
    [
      'the older form of a field',
      { ddos_profile: { enabled: true, fields: [{ base_field: 1, value: '1' }] } },
      '/ddos_profile/fields/0',
    ],
    ['null fields', { ddos_profile: { enabled: true, fields: null } }, '/ddos_profile/fields'],
    ['a bad topic', { logging: { topic_name: 'My_Logs' } }, '/logging/topic_name'],
    ['a long topic', { logging: { topic_name: 'a'.repeat(224) } }, '/logging/topic_name'],
    ['a retention without period', { logging: { retention_policy: {} } }, '/logging/retention_policy'],
    ['no days', { logging: { retention_policy: { period: 0 } } }, '/logging/retention_policy/period'],
    ['too many days', { logging: { retention_policy: { period: 1826 } } }, '/logging/retention_policy/period'],
    ['a null flag', { logging: { enabled: null } }, '/logging/enabled'],
  ])('%s', (_, body, path) => {
    expect(faultOf(body)).toContain(path);
  });
});

it('has no default anywhere, since a default would turn absent into a value', () => {
  expect(JSON.stringify(ClusterUpdate)).not.toContain('"default":');
});

it('answers take every configuration that can come about', () => {
  const isAnswer = ajv.compile(Type.Object(configurationAnswer));
  const times = { kubeconfig_created_at: null, kubeconfig_expires_at: null };
  for (const creation of [
    {},
    { cni: { provider: 'cilium' as const }, ddos_profile: { enabled: false }, logging: {} },
  ]) {
    const configuration = initialConfiguration(creation, 'c1');
    const authentication = { ...configuration.authentication, ...times };
    expect([isAnswer({ ...configuration, authentication }), isAnswer.errors]).toEqual([true, null]);
  }
  expect(isAnswer({ ...DEFAULT_CONFIGURATION, authentication: null, autoscaler_config: null, cni: null })).toBe(true);
});

import { describe, expect, it } from 'vitest';
import type { ClusterConfiguration } from '../../../../db/json-columns.ts';
import { CILIUM_DEFAULTS, DEFAULT_CONFIGURATION, NO_OIDC } from './configuration.ts';
import { changedGroups, initialConfiguration, mergeConfiguration } from './merge.ts';
import type { ClusterUpdate } from './schema.ts';

const SHARE = '11111111-1111-4111-8111-11111111111a';
const full: ClusterUpdate = {
  add_ons: { slurm: { enabled: true, file_share_id: SHARE, ssh_key_ids: [SHARE], worker_count: 2 } },
  authentication: {
    oidc: {
      client_id: 'kubernetes',
      groups_claim: 'groups',
      groups_prefix: 'oidc:',
      issuer_url: 'https://accounts.example.com',
      required_claims: { hd: 'example.com' },
      signing_algs: ['RS256'],
      username_claim: 'email',
      username_prefix: 'oidc:',
    },
  },
  autoscaler_config: { 'scan-interval': '10s', expander: 'random' },
  cni: { provider: 'cilium', cilium: { ...CILIUM_DEFAULTS, hubble_relay: true, hubble_ui: true } },
  ddos_profile: {
    enabled: true,
    fields: [{ base_field: 10, field_value: [45046] }],
    profile_template: 29,
    profile_template_name: null,
  },
  logging: { enabled: true, destination_region_id: 76, topic_name: 'logs', retention_policy: { period: 45 } },
};
const configured = initialConfiguration(full, 'c1');
const updated = (update: ClusterUpdate, current: ClusterConfiguration = configured) =>
  mergeConfiguration(current, update, 'c1');

describe('a whole request', () => {
  it('is what the next read shows', () => {
    expect(configured).toEqual(full);
  });

  it('changes nothing when sent again, in any order of its keys', () => {
    const reversed = JSON.parse(JSON.stringify(full), (_, value: unknown) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).reverse())
        : value,
    ) as ClusterUpdate;
    expect(changedGroups(configured, updated(reversed))).toEqual([]);
  });

  it('changes each group from the defaults', () => {
    expect(changedGroups(DEFAULT_CONFIGURATION, configured)).toEqual(Object.keys(full));
  });
});

describe('what changes nothing', () => {
  it.each<[string, ClusterUpdate]>([
    ['no group', {}],
    ['null groups', { authentication: null, autoscaler_config: null, cni: null, ddos_profile: null, logging: null }],
    ['empty groups', { add_ons: {}, authentication: {}, cni: {}, logging: {} }],
    ['the same overrides', { autoscaler_config: { expander: 'random' } }],
    ['a part of cilium', { cni: { cilium: { hubble_ui: true } } }],
    ['a profile that is on', { ddos_profile: { enabled: true } }],
    ['the same template', { ddos_profile: { enabled: true, profile_template: 29 } }],
    ['the same topic', { logging: { topic_name: 'logs' } }],
  ])('%s', (_, update) => {
    expect(changedGroups(configured, updated(update))).toEqual([]);
  });

  it('is not told apart from the ways in which nothing is stored', () => {
    const bare = { ...DEFAULT_CONFIGURATION, authentication: null, autoscaler_config: null, cni: null };
    expect(changedGroups(bare, DEFAULT_CONFIGURATION)).toEqual([]);
    const update: ClusterUpdate = {
      authentication: { oidc: null },
      autoscaler_config: {},
      cni: { provider: 'calico' },
    };
    expect(changedGroups(bare, updated(update, bare))).toEqual([]);
  });
});

describe('groups', () => {
  it('slurm: off drops its settings, and IDs are kept in lower case', () => {
    expect(updated({ add_ons: { slurm: { enabled: false } } }).add_ons.slurm).toEqual({
      enabled: false,
      file_share_id: null,
      ssh_key_ids: null,
      worker_count: null,
    });
    const upper = {
      enabled: true,
      file_share_id: SHARE.toUpperCase(),
      ssh_key_ids: [SHARE.toUpperCase()],
      worker_count: 2,
    };
    expect(changedGroups(configured, updated({ add_ons: { slurm: upper } }))).toEqual([]);
  });

  it('autoscaler: merged per parameter, and {} removes all', () => {
    expect(updated({ autoscaler_config: { 'scan-interval': '20s' } }).autoscaler_config).toEqual({
      'scan-interval': '20s',
      expander: 'random',
    });
    expect(updated({ autoscaler_config: {} }).autoscaler_config).toEqual({});
  });

  it('oidc: absent keeps, null clears a field, null for the whole removes it', () => {
    const before = configured.authentication?.oidc;
    const oidc = { client_id: 'x', groups_claim: null };
    expect(updated({ authentication: { oidc } }).authentication?.oidc).toEqual({ ...before, ...oidc });
    expect(updated({ authentication: { oidc } }, DEFAULT_CONFIGURATION).authentication?.oidc).toEqual({
      ...NO_OIDC,
      ...oidc,
    });
    expect(updated({ authentication: { oidc: null } }).authentication).toEqual({ oidc: null });
  });

  it('cni: calico unless chosen, cilium with all its defaults', () => {
    expect(initialConfiguration({}, 'c1').cni).toEqual({ provider: 'calico', cilium: null });
    expect(initialConfiguration({ cni: { provider: 'cilium' } }, 'c1').cni).toEqual({
      provider: 'cilium',
      cilium: CILIUM_DEFAULTS,
    });
  });

  it('cni: null goes back to the defaults but keeps the masks', () => {
    const current = initialConfiguration(
      { cni: { provider: 'cilium', cilium: { mask_size: 26, encryption: true } } },
      'c1',
    );
    expect(updated({ cni: { cilium: null } }, current).cni?.cilium).toEqual({
      ...CILIUM_DEFAULTS,
      mask_size: 26,
    });
  });

  it.each([
    [{ tunnel: '' }, '', 'native'],
    [{ tunnel: 'vxlan' }, 'vxlan', 'tunnel'],
    [{ routing_mode: 'native' }, 'geneve', 'native'],
    [{ routing_mode: 'tunnel' }, 'geneve', 'tunnel'],
    [{ tunnel: 'geneve', routing_mode: 'native' }, 'geneve', 'native'],
  ] as const)('cni: %j gives tunnel %j and %s routing', (cilium, tunnel, routing_mode) => {
    expect(updated({ cni: { cilium } }).cni?.cilium).toMatchObject({ tunnel, routing_mode });
  });

  it('cni: native routing keeps its tunnel, empty or not', () => {
    const geneve = updated({ cni: { cilium: { tunnel: 'geneve', routing_mode: 'native' } } });
    expect(updated({ cni: { cilium: { hubble_relay: true } } }, geneve).cni?.cilium).toMatchObject({
      tunnel: 'geneve',
      routing_mode: 'native',
    });
    const none = updated({ cni: { cilium: { tunnel: '' } } });
    expect(updated({ cni: { cilium: { routing_mode: 'native' } } }, none).cni?.cilium?.tunnel).toBe('');
  });

  it('cni: leaving native routing takes the default tunnel', () => {
    const native = updated({ cni: { cilium: { tunnel: '' } } });
    expect(updated({ cni: { cilium: { routing_mode: 'tunnel' } } }, native).cni?.cilium?.tunnel).toBe('geneve');
    expect(updated({ cni: { cilium: { tunnel: 'vxlan' } } }, native).cni?.cilium?.routing_mode).toBe('tunnel');
  });

  it('ddos: off drops its settings, and on again starts anew', () => {
    const off = updated({ ddos_profile: { enabled: false } });
    const nothing = { fields: [], profile_template: null, profile_template_name: null };
    expect(off.ddos_profile).toEqual({ enabled: false, ...nothing });
    expect(updated({ ddos_profile: { enabled: true } }, off).ddos_profile).toEqual({
      enabled: true,
      ...nothing,
    });
  });

  it('ddos: another template, by ID or by name, starts with no fields', () => {
    expect(updated({ ddos_profile: { enabled: true, profile_template: 30 } }).ddos_profile).toEqual({
      enabled: true,
      fields: [],
      profile_template: 30,
      profile_template_name: null,
    });
    expect(updated({ ddos_profile: { enabled: true, profile_template_name: 'open' } }).ddos_profile).toEqual({
      enabled: true,
      fields: [],
      profile_template: null,
      profile_template_name: 'open',
    });
  });

  it('ddos: new fields go to the template that is there, null stands for no value', () => {
    const update: ClusterUpdate = { ddos_profile: { enabled: true, fields: [{ base_field: 11 }] } };
    expect(updated(update).ddos_profile).toMatchObject({
      profile_template: 29,
      fields: [{ base_field: 11, field_value: null }],
    });
  });

  it('logging: off keeps the rest', () => {
    expect(updated({ logging: { enabled: false } }).logging).toEqual({ ...full.logging, enabled: false });
  });

  it('logging: a topic is named after the cluster when switched on without one', () => {
    const given = { enabled: true, destination_region_id: 76 };
    expect(updated({ logging: given }, DEFAULT_CONFIGURATION).logging).toEqual({
      ...given,
      topic_name: 'c1',
      retention_policy: null,
    });
    expect(updated({ logging: { topic_name: null } }).logging?.topic_name).toBe('c1');
    expect(updated({ logging: { enabled: false, topic_name: null } }).logging?.topic_name).toBeNull();
  });

  it('logging: off unless said otherwise, null at each level', () => {
    const update: ClusterUpdate = {
      logging: { destination_region_id: null, retention_policy: null, topic_name: null },
    };
    expect(updated(update, DEFAULT_CONFIGURATION).logging).toEqual({ ...update.logging, enabled: false });
    expect(updated({ logging: { retention_policy: { period: null } } }).logging?.retention_policy).toEqual({
      period: null,
    });
    expect(updated({ logging: { retention_policy: null } }).logging?.retention_policy).toBeNull();
  });
});

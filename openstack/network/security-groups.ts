import { type Static, Type } from 'typebox';
import type { SecurityRuleSpec, Specs } from '../../src/backends/contract/specs.ts';
import { canonicalCidr } from '../../src/lib/cidr.ts';
import type { Api } from '../cloud/client.ts';
import { CloudError, unlessGone } from '../cloud/errors.ts';
import type { Resource, Site } from '../resource.ts';
import { Common, inNeutron } from './neutron.ts';

const Nullable = <const T extends Parameters<typeof Type.Union>[0][number]>(type: T) => Type.Union([type, Type.Null()]);
const Rule = Type.Object({
  id: Type.String(),
  direction: Type.String(),
  ethertype: Type.String(),
  protocol: Nullable(Type.String()),
  port_range_min: Nullable(Type.Integer()),
  port_range_max: Nullable(Type.Integer()),
  remote_ip_prefix: Nullable(Type.String()),
  remote_group_id: Nullable(Type.String()),
});
type Rule = Static<typeof Rule>;
const Group = Type.Object({ ...Common, name: Type.String(), security_group_rules: Type.Array(Rule) });
type Group = Static<typeof Group>;
const neutron = inNeutron('security_group', 'security-group', Group);

export const securityGroups: Resource<'security_group', Group> = {
  ...neutron,
  create: (site, spec) => neutron.make(site, { name: nameOf(site, spec) }),
  /** Opens before it closes, so that nothing that is allowed before and after is ever denied between. */
  async change(site, live, spec) {
    const { api } = site;
    const name = nameOf(site, spec);
    if (live.name !== name) await neutron.put(api, live, { name });
    const wanted = await wantedRules(site, spec);
    const there = new Set(live.security_group_rules.map(meaningOf));
    const missing = [...wanted].filter(([meaning]) => !there.has(meaning)).map(([, rule]) => rule);
    const surplus = surplusOf(live.security_group_rules, wanted);
    try {
      await allow(api, live, missing);
    } finally {
      // What is to be closed is closed, whatever was in the way of the rest.
      await Promise.all(
        surplus.map((rule) => api.send('network', 'DELETE', pathOf(rule), undefined).catch(unlessGone)),
      );
    }
    const isAsWanted = live.name === name && missing.length + surplus.length === 0;
    return isAsWanted ? undefined : { doing: 'changing rules' };
  },
  observed: () => ({}),
  seen: ({ name, security_group_rules: rules }) => [name, rules.map(meaningOf).toSorted()],
};

/** Neutron makes a group with the name `default` in each project by itself, and lets nobody make another. */
const nameOf = ({ ref }: Site<'security_group'>, { name }: Specs['security_group']): string =>
  name.toLowerCase() === 'default' ? `default of ${ref.projectId}` : name;

type NewRule = Omit<Rule, 'id'>;
const RULES = '/security-group-rules';
const pathOf = ({ id }: Rule): string => `${RULES}/${id}`;

/** Neutron refuses all of a list if it has one of them; then each is added by itself. */
async function allow(api: Api, { id }: Group, missing: readonly NewRule[]): Promise<undefined> {
  if (missing.length === 0) return;
  const rules = missing.map((rule) => ({ ...rule, security_group_id: id }));
  const add = (body: object) => api.send('network', 'POST', RULES, body);
  await add({ security_group_rules: rules }).catch(async (error: unknown) => {
    if (!isThere(error)) throw error;
    for (const security_group_rule of rules)
      await add({ security_group_rule }).catch((fault: unknown) => {
        if (!isThere(fault)) throw fault;
      });
  });
}

const isThere = (error: unknown): boolean => error instanceof CloudError && error.type === 'SecurityGroupRuleExists';

/** What a rule says to Neutron, which has several ways to say some of it. Two that say the same may be made at the same time. */
function meaningOf(rule: NewRule): string {
  const { direction, ethertype, protocol, port_range_min: min, port_range_max: max, remote_group_id: group } = rule;
  const known = protocol === null ? null : (SPELLINGS[`${ethertype} ${protocol}`] ?? SPELLINGS[protocol] ?? protocol);
  return JSON.stringify([direction, ethertype, known, min, max, prefixOf(rule.remote_ip_prefix), group]);
}

const SPELLINGS: Readonly<Record<string, string | null>> = {
  any: null,
  '0': null,
  'IPv6 icmp': 'ipv6-icmp',
  icmpv6: 'ipv6-icmp',
  ipip: '4',
};
/** Those that Neutron doesn't know by our name, or knows another one by it. */
const NUMBERS: Readonly<Record<string, string>> = { ipencap: '4', ipip: '94' };

/** All addresses are the same as no prefix. */
function prefixOf(prefix: string | null): string | null {
  if (prefix === null) return null;
  const network = canonicalCidr(prefix)?.network ?? prefix;
  return network.endsWith('/0') ? null : network;
}

function surplusOf(rules: readonly Rule[], wanted: ReadonlyMap<string, unknown>): Rule[] {
  const kept = new Set<string>();
  return rules.filter((rule) => {
    const meaning = meaningOf(rule);
    if (!wanted.has(meaning) || kept.has(meaning)) return true;
    kept.add(meaning);
    return false;
  });
}

async function wantedRules({ api, names }: Site<'security_group'>, { rules }: Specs['security_group']) {
  const groups = new Set(Object.values(rules).flatMap(({ remoteGroupId }) => remoteGroupId ?? []));
  const known = new Map<string, string>();
  for (const id of groups) known.set(id, await names.of(api, 'security_group', id));
  const all = Object.values(rules).map((rule) => ruleOf(rule, known));
  return new Map(all.map((rule) => [meaningOf(rule), rule]));
}

const protocolOf = (protocol: string | undefined): string | null =>
  protocol === undefined || protocol === 'any' ? null : (NUMBERS[protocol] ?? protocol);

function ruleOf(rule: SecurityRuleSpec, groups: ReadonlyMap<string, string>): NewRule {
  return {
    direction: rule.direction,
    ethertype: rule.ethertype,
    protocol: protocolOf(rule.protocol),
    port_range_min: rule.portRangeMin ?? null,
    port_range_max: rule.portRangeMax ?? null,
    remote_ip_prefix: rule.remoteIpPrefix ?? null,
    remote_group_id: rule.remoteGroupId === undefined ? null : (groups.get(rule.remoteGroupId) ?? null),
  };
}

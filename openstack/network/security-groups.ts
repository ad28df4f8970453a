import { type Static, Type } from 'typebox';
import type { SecurityRuleSpec, Specs } from '../../src/backends/contract/specs.ts';
import { isGone } from '../cloud/errors.ts';
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
    if (missing.length > 0) {
      const rules = missing.map((rule) => ({ ...rule, security_group_id: live.id }));
      await api.send('network', 'POST', '/security-group-rules', { security_group_rules: rules });
    }
    await Promise.all(
      surplus.map(({ id }) =>
        api.send('network', 'DELETE', `/security-group-rules/${id}`, undefined).catch(unlessGone),
      ),
    );
    const isAsWanted = live.name === name && missing.length + surplus.length === 0;
    return isAsWanted ? undefined : { doing: 'changing rules' };
  },
  observed: () => ({}),
  seen: ({ name, security_group_rules: rules }) => [name, rules.map(meaningOf).toSorted()],
};

/** Neutron makes a group with the name `default` in each project by itself, and lets nobody make another. */
const nameOf = ({ ref }: Site<'security_group'>, { name }: Specs['security_group']): string =>
  name.toLowerCase() === 'default' ? `default of ${ref.projectId}` : name;

function unlessGone(error: unknown): void {
  if (!isGone(error)) throw error;
}

/** What a rule says. Neutron lets two rules that say the same be made at the same time, and has one name for ICMP of IPv6. */
function meaningOf(rule: Omit<Rule, 'id'>): string {
  const { direction, ethertype, port_range_min: min, port_range_max: max } = rule;
  const isIcmp6 = ethertype === 'IPv6' && ['icmp', 'icmpv6'].includes(rule.protocol ?? '');
  const protocol = isIcmp6 ? 'ipv6-icmp' : protocolOf(rule.protocol);
  return JSON.stringify([direction, ethertype, protocol, min, max, rule.remote_ip_prefix, rule.remote_group_id]);
}

/** `any` is all protocols, as none is. */
const protocolOf = (protocol: string | null | undefined): string | null =>
  protocol === undefined || protocol === 'any' || protocol === '0' ? null : protocol;

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

function ruleOf(rule: SecurityRuleSpec, groups: ReadonlyMap<string, string>): Omit<Rule, 'id'> {
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

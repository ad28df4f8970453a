/** A rule of a security group, as requests say it. Null means all protocols or ports; no prefix and no group mean everyone. */
export interface Rule {
  direction: 'ingress' | 'egress';
  ethertype: 'IPv4' | 'IPv6';
  protocol: string | null;
  port_range_min: number | null;
  port_range_max: number | null;
  remote_ip_prefix: string | null;
  remote_group_id: string | null;
  description: string;
}

/** Protocols whose rules may name ports. For ICMP the same fields say a type and a code. */
export const PORT_PROTOCOLS: readonly string[] = ['tcp', 'udp', 'sctp', 'dccp', 'udplite'];
const ICMP: readonly string[] = ['icmp', 'ipv6-icmp'];
export const hasPorts = (protocol: string | null | undefined): boolean => PORT_PROTOCOLS.includes(protocol ?? '');
export const isIcmp = (protocol: string | null | undefined): boolean => ICMP.includes(protocol ?? '');
/** Whether a text is a port. */
export const isPort = (text: string): boolean => /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;
/** IPv6 alone has the protocols of this name. */
export const isOfIpv6 = (protocol: string): boolean => protocol.startsWith('ipv6-');
/** All protocols that rules may name. */
export const PROTOCOLS: readonly string[] = [
  'tcp',
  'udp',
  'icmp',
  'ipv6-icmp',
  'ah',
  'dccp',
  'egp',
  'esp',
  'gre',
  'igmp',
  'ipencap',
  'ipip',
  'ipv6-encap',
  'ipv6-frag',
  'ipv6-nonxt',
  'ipv6-opts',
  'ipv6-route',
  'ospf',
  'pgm',
  'rsvp',
  'sctp',
  'udplite',
  'vrrp',
];

/** A rule as answers have it. The document leaves some values open. */
interface Answered {
  direction: string;
  ethertype: string | null;
  protocol: string | null;
  port_range_min: number | null;
  port_range_max: number | null;
  remote_ip_prefix: string | null;
  remote_group_id: readonly string[] | string | null;
  description?: string;
}

export const ruleOf = (given: Answered): Rule => ({
  direction: given.direction === 'egress' ? 'egress' : 'ingress',
  ethertype: given.ethertype === 'IPv6' ? 'IPv6' : 'IPv4',
  protocol: given.protocol === 'any' ? null : given.protocol,
  port_range_min: given.port_range_min,
  port_range_max: given.port_range_max,
  remote_ip_prefix: given.remote_ip_prefix,
  remote_group_id: [given.remote_group_id].flat()[0] ?? null,
  description: given.description ?? '',
});

/** A rule in words: `in · IPv4 · tcp 443 · from anywhere`. */
export function sentenceOf(rule: Rule, nameOfGroup: (id: string) => string): string {
  const { direction, ethertype, remote_ip_prefix: prefix, remote_group_id: group } = rule;
  const remote = group === null ? (prefix ?? 'anywhere') : `group ${nameOfGroup(group)}`;
  const [way, word] = direction === 'ingress' ? ['in', 'from'] : ['out', 'to'];
  return [way, ethertype, trafficOf(rule), `${word} ${remote}`].join(' · ');
}

/** What passes by a rule: `tcp 443`, `udp, all ports`, `icmp type 8`. */
function trafficOf({ protocol, port_range_min: first, port_range_max: last }: Omit<Rule, 'description'>): string {
  if (protocol === null) return 'any protocol';
  if (isIcmp(protocol)) {
    return [protocol, first !== null && `type ${first}`, last !== null && `code ${last}`].filter(Boolean).join(' ');
  }
  if (!hasPorts(protocol)) return protocol;
  if (first === null) return `${protocol}, all ports`;
  return last === null || last === first ? `${protocol} ${first}` : `${protocol} ${first}–${last}`;
}

/** Shorter prefixes hold more than any company has: with a few of them, somebody could write "anywhere" without saying so. */
const SHORTEST = { IPv4: 8, IPv6: 16 };

/** How far a rule opens its ports to the internet; undefined if it doesn't. */
export function exposureOf({
  direction,
  ethertype,
  remote_ip_prefix: prefix,
  remote_group_id,
}: Rule): string | undefined {
  if (direction === 'egress' || remote_group_id !== null) return undefined;
  const length = prefix === null ? 0 : Number(prefix.split('/')[1] ?? 128);
  if (length === 0) return 'open to the internet';
  return length < SHORTEST[ethertype] ? 'open to much of the internet' : undefined;
}

/** The server takes two rules as the same if they differ in nothing but the description. */
export function isSame(one: Rule, other: Rule): boolean {
  const essence = ({ remote_ip_prefix: prefix, ...rule }: Rule) => ({
    ...rule,
    remote_ip_prefix: prefix?.endsWith('/0') ? null : prefix,
    description: '',
  });
  const [left, right] = [essence(one), essence(other)];
  return (Object.keys(left) as (keyof Rule)[]).every((field) => left[field] === right[field]);
}

/** A line of a draft: a rule that stays, changes, comes (`before` is undefined) or goes (`now` is undefined). */
export interface Line {
  key: string;
  before?: Rule;
  now?: Rule;
}

export type Fate = 'stays' | 'added' | 'changed' | 'removed';

export function fateOf({ before, now }: Line): Fate {
  if (before === undefined) return 'added';
  if (now === undefined) return 'removed';
  return JSON.stringify(before) === JSON.stringify(now) ? 'stays' : 'changed';
}

const ANY: Rule = {
  direction: 'ingress',
  ethertype: 'IPv4',
  protocol: null,
  port_range_min: null,
  port_range_max: null,
  remote_ip_prefix: null,
  remote_group_id: null,
  description: '',
};

/** What a new rule begins as. */
export const NEW_RULE: Rule = { ...ANY, protocol: 'tcp' };

const both = (rule: Rule): Rule[] => [rule, { ...rule, ethertype: 'IPv6' }];
const tcp = (port: number, rest: Partial<Rule>): Rule => ({
  ...ANY,
  protocol: 'tcp',
  port_range_min: port,
  port_range_max: port,
  ...rest,
});

export const httpRules = (): Rule[] => both(tcp(80, { description: 'HTTP' }));
export const httpsRules = (): Rule[] => both(tcp(443, { description: 'HTTPS' }));
export const pingRules = (): Rule[] => [
  { ...ANY, protocol: 'icmp', port_range_min: 8, description: 'Ping' },
  { ...ANY, ethertype: 'IPv6', protocol: 'ipv6-icmp', port_range_min: 128, description: 'Ping' },
];
export const insideRules = (group: string): Rule[] =>
  both({ ...ANY, remote_group_id: group, description: 'Everything inside the group' });
export const sshRules = (address: string): Rule[] => {
  const ethertype = address.includes(':') ? 'IPv6' : 'IPv4';
  const prefix = address.includes('/') ? address : `${address}/${ethertype === 'IPv6' ? 128 : 32}`;
  return [tcp(22, { ethertype, remote_ip_prefix: prefix, description: 'SSH' })];
};
export const databaseRules = (port: number, name: string, group: string): Rule[] =>
  both(tcp(port, { remote_group_id: group, description: name }));

import { setImmediate } from 'node:timers/promises';
import type { IpFamily } from '../../lib/cidr.ts';
import { BITS, familyOf, numberOf, protocolIn } from '../../lib/ip-addresses.ts';
import { concerns, type End, groupsOf, isForAll, type Traffic } from './letting.ts';
import * as schema from './schema.ts';

export type GroupRules = ReadonlyMap<string, readonly schema.LettingRule[]>;
const TURN_MS = 5;

/** Returns a function to be called often in long work: others get their turn. */
export function turns(): () => Promise<void> | undefined {
  let begun = performance.now();
  return () => {
    if (performance.now() - begun < TURN_MS) return undefined;
    return setImmediate().then(() => {
      begun = performance.now();
    });
  };
}

/**
 * Whom the rules of an end let pass in one direction and IP version. That depends on the other end alone, so that two
 * ends with many addresses need not be compared address by address.
 */
interface Admission {
  everybody: boolean;
  groups: ReadonlySet<string>;
  /** In order, none inside another: blocks of addresses contain each other or have nothing in common. */
  blocks: readonly Block[];
}
interface Block {
  first: bigint;
  last: bigint;
}
type Admissions = Record<schema.LettingRule['direction'], Record<IpFamily, Admission>>;

export interface JudgedEnd extends End {
  /** Its addresses by IP version; undefined if it has none. Those of the internet are nowhere in particular. */
  numbers: Record<IpFamily, readonly bigint[] | undefined>;
  stored: Admissions;
  drafted: Admissions;
}

interface Judging {
  traffic: Traffic;
  rules: GroupRules;
  /** The rules that drafts give to groups. */
  changed: GroupRules;
  breathe: ReturnType<typeof turns>;
}

export async function judge(end: End, { traffic, rules, changed, breathe }: Judging): Promise<JudgedEnd> {
  const numbersIn = (family: IpFamily) => {
    if (end.id === schema.INTERNET) return [];
    const those = end.addresses.filter((address) => familyOf(address) === family);
    return those.length > 0 ? those.map(numberOf) : undefined;
  };
  const numbers = { IPv4: numbersIn('IPv4'), IPv6: numbersIn('IPv6') };
  const groups = groupsOf(end);
  const admissions = (of: (group: string) => readonly schema.LettingRule[]) =>
    admissionsOf(end, groups.flatMap(of), traffic, breathe);
  const stored = await admissions((group) => rules.get(group) ?? []);
  const drafted = groups.some((group) => changed.has(group))
    ? await admissions((group) => changed.get(group) ?? rules.get(group) ?? [])
    : stored;
  return { ...end, numbers, stored, drafted };
}

async function admissionsOf(
  { port }: End,
  rules: readonly schema.LettingRule[],
  { protocol, port: number }: Traffic,
  breathe: Judging['breathe'],
): Promise<Admissions> {
  async function inFamily(direction: schema.LettingRule['direction'], ethertype: IpFamily): Promise<Admission> {
    const everybody = { everybody: true, groups: new Set<string>(), blocks: [] };
    if (!port?.port_security_enabled) return everybody;
    const seen = { direction, ethertype, protocol: protocolIn(ethertype, protocol ?? null), port: number ?? null };
    const fitting = rules.filter((rule) => concerns(rule, seen));
    if (fitting.some((rule) => rule.remote_group_id === null && isForAll(rule.remote_ip_prefix))) return everybody;
    const blocks: Block[] = [];
    for (const prefix of new Set(fitting.flatMap(({ remote_ip_prefix }) => remote_ip_prefix ?? []))) {
      await breathe();
      blocks.push(blockOf(prefix, ethertype));
    }
    const groups = new Set(fitting.flatMap(({ remote_group_id }) => remote_group_id ?? []));
    return { everybody: false, groups, blocks: outermost(blocks) };
  }
  const inBoth = async (direction: schema.LettingRule['direction']) => ({
    IPv4: await inFamily(direction, 'IPv4'),
    IPv6: await inFamily(direction, 'IPv6'),
  });
  return { egress: await inBoth('egress'), ingress: await inBoth('ingress') };
}

function blockOf(prefix: string, family: IpFamily): Block {
  const [address = '', length] = prefix.split('/');
  const size = 1n << BigInt(BITS[family] - Number(length));
  const number = numberOf(address);
  const first = number - (number % size);
  return { first, last: first + size - 1n };
}

function outermost(blocks: readonly Block[]): Block[] {
  const kept: Block[] = [];
  // Of two that begin together, the larger one comes first.
  const order = (one: bigint, other: bigint) => (one < other ? -1 : one > other ? 1 : 0);
  for (const block of blocks.toSorted((one, other) => order(one.first, other.first) || order(other.last, one.last))) {
    const before = kept.at(-1);
    if (before === undefined || block.first > before.last) kept.push(block);
  }
  return kept;
}

export function admits({ everybody, groups, blocks }: Admission, other: JudgedEnd, family: IpFamily): boolean {
  if (everybody || groupsOf(other).some((group) => groups.has(group))) return true;
  return blocks.length > 0 && (other.numbers[family] ?? []).some((number) => isInside(blocks, number));
}

function isInside(blocks: readonly Block[], number: bigint): boolean {
  let [low, high] = [0, blocks.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((blocks[middle] as Block).last < number) low = middle + 1;
    else high = middle;
  }
  return low < blocks.length && (blocks[low] as Block).first <= number;
}

import type { AddressPair } from '../../../db/json-columns.ts';
import { addressOrRange, canonicalAddress } from '../../../lib/cidr.ts';
import { type FieldProblem, InvalidError } from '../../../lib/errors.ts';
import { patchedTags } from '../../../lib/tags.ts';
import type { PortRow } from './port-rows.ts';
import type { UpdatePort } from './schema.ts';

/** Returns the pairs in canonical form, sorted. Adds faults to `problems`; as in Neutron, a pair may not repeat. */
export function pairsFrom(
  given: readonly { ip_address: string; mac_address?: string | null }[],
  ownMac: string,
  problems: FieldProblem[],
): AddressPair[] {
  const pairs = new Map<string, AddressPair>();
  for (const [index, { ip_address: text, mac_address: macText }] of given.entries()) {
    const field = `allowed_address_pairs.${index}`;
    const found = addressOrRange(text);
    if ('fault' in found) {
      problems.push({ field: `${field}.ip_address`, message: found.fault });
      continue;
    }
    const mac = macText?.toLowerCase().replaceAll('-', ':') ?? ownMac;
    const key = mac === ownMac ? found.address : `${found.address} ${mac}`;
    if (pairs.has(key)) problems.push({ field, message: 'Is a duplicate; send each pair once.' });
    pairs.set(key, { ip_address: found.address, ...((macText ?? null) !== null && { mac_address: mac }) });
  }
  return [...pairs.keys()].sort().flatMap((key) => pairs.get(key) ?? []);
}

export interface Assignment {
  subnetId: string;
  address: string;
  field: string;
}

/** The wanted state of a port. Undefined keeps what the port has by the end of the change, whatever happens. */
export interface WantedPort {
  portSecurityEnabled: boolean;
  groupIds: string[] | undefined;
  pairs: AddressPair[] | undefined;
  tags: Record<string, string>;
  added: Assignment[];
  dropped: { subnetId: string; address: string }[];
}

/** A requested change of a port. Only the older operation for address pairs names hardware addresses. */
export type PortChange = Omit<UpdatePort, 'allowed_address_pairs'> & {
  allowed_address_pairs?: Parameters<typeof pairsFrom>[0] | undefined;
};

/** @throws InvalidError with all problems */
export function wantedPort(port: PortRow, change: PortChange): WantedPort {
  const problems: FieldProblem[] = [];
  const groupIds = change.security_group_ids?.map((id) => id.toLowerCase());
  for (const [index, id] of (groupIds ?? []).entries()) {
    if (groupIds?.indexOf(id) === index) continue;
    problems.push({
      field: `security_group_ids.${index}`,
      message: 'Is a duplicate; send each group once.',
    });
  }
  const pairs = change.allowed_address_pairs && pairsFrom(change.allowed_address_pairs, port.mac_address, problems);
  const wanted = change.ip_assignments && assignmentsFrom(change.ip_assignments, problems);
  const portSecurityEnabled = change.port_security_enabled ?? port.port_security_enabled;
  if (!portSecurityEnabled) {
    refuseLeft('security_group_ids', groupIds ?? port.security_group_ids, problems);
    refuseLeft('allowed_address_pairs', pairs ?? port.allowed_address_pairs, problems);
  }
  if (problems.length > 0) throw new InvalidError(problems);
  const current = port.ip_assignments.map(({ subnet_id, ip_address }) => ({
    subnetId: subnet_id,
    address: ip_address,
  }));
  const key = (one: { subnetId: string; address: string }) => `${one.subnetId} ${one.address}`;
  const has = new Set(current.map(key));
  const keeps = wanted && new Set(wanted.map(key));
  return {
    portSecurityEnabled,
    groupIds,
    pairs,
    tags: patchedTags(port.tags, change.tags),
    added: wanted?.filter((one) => !has.has(key(one))) ?? [],
    dropped: keeps ? current.filter((one) => !keeps.has(key(one))) : [],
  };
}

/** As in Neutron, a port without port security has no groups and no address pairs. */
function refuseLeft(field: string, left: unknown[], problems: FieldProblem[]): void {
  if (left.length === 0) return;
  const message = `Requires port security; with port_security_enabled: false, also send ${field}: [].`;
  problems.push({ field, message });
}

function assignmentsFrom(given: { ip_address: string; subnet_id: string }[], problems: FieldProblem[]): Assignment[] {
  const found = new Map<string, Assignment>();
  for (const [index, { ip_address: text, subnet_id }] of given.entries()) {
    const field = `ip_assignments.${index}`;
    const address = canonicalAddress(text)?.address;
    const subnetId = subnet_id.toLowerCase();
    if (address === undefined) {
      problems.push({ field: `${field}.ip_address`, message: 'Must be an IP address such as 10.0.0.5.' });
    } else if (found.has(`${subnetId} ${address}`)) {
      problems.push({ field, message: 'Is a duplicate; send each address once.' });
    } else found.set(`${subnetId} ${address}`, { subnetId, address, field });
  }
  return [...found.values()];
}

import type { FileShareSpec } from '../../../backends/contract/specs.ts';
import { change, type Wanted } from '../../../convergence/wants.ts';
import type { NewShare } from './new-share.ts';
import type { VastSettings } from './tables.ts';

interface Rule {
  id: string;
  access_to: string;
  access_level: 'ro' | 'rw';
}

export function shareSpec(
  share: Pick<NewShare, 'name' | 'settings' | 'sizeGib' | 'tags' | 'typeName'>,
  network: { network_id: string | null; subnet_id: string | null },
  rules: readonly Rule[],
): FileShareSpec {
  const { network_id: networkId, subnet_id: subnetId } = network;
  return {
    name: share.name,
    type: share.typeName,
    sizeGib: share.sizeGib,
    ...(networkId !== null && subnetId !== null && { subnet: { networkId, subnetId } }),
    access: Object.fromEntries(rules.map((rule) => [rule.id, accessOf(rule)])),
    ...(share.settings && { settings: settingsSpec(share.settings) }),
    metadata: share.tags,
  };
}

export function changedShare(
  id: string,
  changed: {
    name?: string;
    sizeGib?: number;
    metadata?: Record<string, string>;
    settings?: VastSettings | null;
  },
): Wanted {
  const { settings, ...rest } = changed;
  return change('file_share', id, (spec) => ({
    ...spec,
    ...rest,
    ...(settings && { settings: settingsSpec(settings) }),
  }));
}

export function letIn(shareId: string, rule: Rule): Wanted {
  return change('file_share', shareId, (spec) => ({
    ...spec,
    access: { ...spec.access, [rule.id]: accessOf(rule) },
  }));
}

export function shutOut(shareId: string, ruleId: string): Wanted {
  return change('file_share', shareId, (spec) => {
    const { [ruleId]: _, ...access } = spec.access;
    return { ...spec, access };
  });
}

const accessOf = ({ access_to: to, access_level: level }: Rule) => ({ to, level });

function settingsSpec({
  rootSquash,
  pathLength,
  allowedCharacters,
}: VastSettings): NonNullable<FileShareSpec['settings']> {
  return {
    rootSquash,
    ...(pathLength !== null && { pathLength }),
    ...(allowedCharacters !== null && { allowedCharacters }),
  };
}

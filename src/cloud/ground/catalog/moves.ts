import type { Kind } from '../../../backends/contract/backend.ts';
import { familyOf, type Placements } from '../../../backends/contract/placement.ts';

/** Kinds that every project has in every region from the beginning. Creating them again loses nothing. */
const FROM_THE_FIRST: readonly Kind[] = ['network', 'subnet', 'security_group'];

interface KindInRegion {
  regionId: number;
  kind: Kind;
}

/** Compares the backends of resources before and after. `moved` has a new backend; `refused` tells why it can't. */
export function movesBetween(
  before: Placements,
  after: Placements,
  there: readonly (KindInRegion & { count: number })[],
): { refused: string[]; moved: KindInRegion[] } {
  const inUse = new Set(
    there.filter(({ kind }) => !FROM_THE_FIRST.includes(kind)).map(({ regionId }) => regionId),
  );
  const counts = new Map<string, number>();
  const moved: KindInRegion[] = [];
  for (const { regionId, kind, count } of there) {
    const family = familyOf(kind);
    const from = before.backendOf(regionId, family);
    const to = after.backendOf(regionId, family);
    if (!from || (from.name === to?.name && from.kind === to.kind)) continue;
    if (to) moved.push({ regionId, kind });
    if (!inUse.has(regionId)) continue;
    const what = to ? `gets ${family} from ${named(to)} instead of ${named(from)}` : 'is missing';
    const key = `region ${regionId} ${what}`;
    counts.set(key, (counts.get(key) ?? 0) + count);
  }
  const refused = [...counts].map(
    ([what, count]) => `${what}, but still has ${count} ${count === 1 ? 'resource' : 'resources'} there`,
  );
  return { refused, moved };
}

const named = ({ name, kind }: { name: string; kind: string }) =>
  name === kind ? name : `${name} (${kind})`;

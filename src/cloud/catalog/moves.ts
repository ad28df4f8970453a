import type { Kind } from '../../backends/contract/backend.ts';
import { familyOf, type Placements } from '../../backends/contract/placement.ts';

/** What another catalogue would take from the backend that has it, a sentence for each family of a region. */
export function movesBetween(
  before: Placements,
  after: Placements,
  there: readonly { regionId: number; kind: Kind; count: number }[],
): string[] {
  const counts = new Map<string, number>();
  for (const { regionId, kind, count } of there) {
    const family = familyOf(kind);
    const from = before.backendOf(regionId, family);
    const to = after.backendOf(regionId, family);
    if (!from || (from.name === to?.name && from.kind === to.kind)) continue;
    const what = to ? `gets ${family} from ${named(to)} instead of ${named(from)}` : 'is missing';
    const key = `region ${regionId} ${what}`;
    counts.set(key, (counts.get(key) ?? 0) + count);
  }
  return [...counts].map(
    ([what, count]) => `${what}, and has ${count} ${count === 1 ? 'thing' : 'things'} there`,
  );
}

const named = ({ name, kind }: { name: string; kind: string }) =>
  name === kind ? name : `${name} (${kind})`;

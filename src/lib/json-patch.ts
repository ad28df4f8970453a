import { createPatch, type Operation, type Pointer } from 'rfc6902';

/**
 * Returns a JSON Patch that turns `before` into `after`; undefined stands for no document. Lists are compared here, by
 * the ids of their items, since the library compares each item with each of the other list.
 */
export function patchOf(before: unknown, after: unknown): Operation[] {
  if (before === undefined) return after === undefined ? [] : [{ op: 'add', path: '', value: after }];
  if (after === undefined) return [{ op: 'remove', path: '' }];
  return createPatch(before, after, patchOfLists);
}

function patchOfLists(before: unknown, after: unknown, at: Pointer): Operation[] | undefined {
  if (!Array.isArray(before) || !Array.isArray(after)) return undefined;
  const inPlace = before.length === after.length && ![...before, ...after].some(hasId);
  if (inPlace) return after.flatMap((item, index) => patchAt(at, index, before[index], item));
  return patchByKeys(before, after, at) ?? [{ op: 'replace', path: at.toString(), value: after }];
}

/** Returns undefined if the list is better replaced: nothing of it stays, its order changes, or keys repeat. */
function patchByKeys(before: unknown[], after: unknown[], at: Pointer): Operation[] | undefined {
  const former = new Map(before.map((item) => [keyOf(item), item]));
  const wanted = new Map(after.map((item) => [keyOf(item), item]));
  if (former.size < before.length || wanted.size < after.length) return undefined;
  const kept = [...former.keys()].filter((key) => wanted.has(key));
  const keptThen = [...wanted.keys()].filter((key) => former.has(key));
  if (kept.some((key, index) => key !== keptThen[index])) return undefined;
  if (kept.length === 0 && before.length > 0 && after.length > 0) return undefined;

  // From the end, so that no removal moves what is still to be removed.
  const removed = [...former.keys()]
    .flatMap((key, index) => (wanted.has(key) ? [] : [index]))
    .reverse()
    .map((index): Operation => ({ op: 'remove', path: at.add(String(index)).toString() }));
  let length = kept.length;
  const others = [...wanted].flatMap(([key, item], index): Operation[] => {
    if (former.has(key)) return patchAt(at, index, former.get(key), item);
    const place = index === length ? '-' : String(index);
    length++;
    return [{ op: 'add', path: at.add(place).toString(), value: item }];
  });
  return [...removed, ...others];
}

function patchAt(list: Pointer, index: number, before: unknown, after: unknown): Operation[] {
  const at = list.add(String(index)).toString();
  return patchOf(before, after).map((operation) => ({ ...operation, path: at + operation.path }));
}

/** An item without an id is what it holds. */
function keyOf(item: unknown): string {
  return hasId(item) ? `id ${item.id}` : JSON.stringify(item);
}

function hasId(item: unknown): item is { id: string | number } {
  return typeof item === 'object' && item !== null && 'id' in item && item.id !== null;
}

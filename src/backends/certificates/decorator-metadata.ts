/**
 * The part of the decorator metadata proposal that `tsyringe`, a dependency of `@peculiar/x509`, needs from
 * `Reflect`: metadata of a class, by key. Must run before that library is loaded.
 */
const known = new WeakMap<object, Map<unknown, unknown>>();

function getOwnMetadata(key: unknown, target: object): unknown {
  return known.get(target)?.get(key);
}

function getMetadata(key: unknown, target: object): unknown {
  for (let at: object | null = target; at; at = Object.getPrototypeOf(at)) {
    if (known.get(at)?.has(key)) return getOwnMetadata(key, at);
  }
  return undefined;
}

function defineMetadata(key: unknown, value: unknown, target: object): void {
  const entries = known.get(target) ?? new Map<unknown, unknown>();
  known.set(target, entries.set(key, value));
}

/** Does nothing if there is another implementation. */
export function provideDecoratorMetadata(): void {
  if ('getMetadata' in Reflect) return;
  Object.assign(Reflect, { defineMetadata, getMetadata, getOwnMetadata });
}

import { Type } from 'typebox';
import type { BackendShapes } from '../../../backends/contract/placement.ts';
import { BACKEND_FAMILIES } from '../../../lib/backend-families.ts';
import { Closed } from '../../../lib/wire.ts';
import { type CrossFault, twice } from './cross-checks.ts';
import { findShapeFaults } from './faults.ts';
import type { CatalogContent } from './schema.ts';

/** Finds backends named twice, of an unknown kind or without required settings, and regions that name none. */
export function backendFaults(content: CatalogContent, kinds: BackendShapes | undefined): CrossFault[] {
  const { backends } = content['backends.yaml'];
  return [
    ...twice('backends.yaml', 'backends', backends, ['name']),
    ...backends.flatMap((backend, index) => (kinds ? faultsOf(backend, index, kinds) : [])),
    ...regionFaults(content, kinds),
  ];
}

type Entry = CatalogContent['backends.yaml']['backends'][number];

function faultsOf({ kind, settings, secrets }: Entry, index: number, kinds: BackendShapes): CrossFault[] {
  const file = 'backends.yaml';
  const shape = kinds[kind];
  if (!shape) {
    const message = `is "${kind}". Use one of: ${Object.keys(kinds).join(', ')}.`;
    return [{ file, path: ['backends', index, 'kind'], message }];
  }
  const files = Object.fromEntries(shape.secrets.map((name) => [name, Type.String()]));
  const whole = Type.Object({
    settings: shape.settings,
    secrets: Closed(files),
  });
  return findShapeFaults(whole, { settings, secrets }).map(({ path, message }) => ({
    file,
    path: ['backends', index, ...path],
    message,
  }));
}

function regionFaults(content: CatalogContent, kinds: BackendShapes | undefined): CrossFault[] {
  const file = 'regions.yaml';
  const known = content['backends.yaml'].backends.map(({ name }) => name);
  return content[file].regions.flatMap(({ backend, backends = {} }, index) => {
    const path = ['regions', index];
    const named = [
      ...(backend === undefined ? [] : [{ name: backend, path: [...path, 'backend'] }]),
      ...Object.entries(backends).map(([family, name]) => ({ name, path: [...path, 'backends', family] })),
    ];
    const faults: CrossFault[] = named
      .filter(({ name }) => !known.includes(name))
      .map(({ name, path: where }) => ({
        file,
        path: where,
        message: `is "${name}", which backends.yaml doesn't define. Use one of: ${known.join(', ')}; or add it there.`,
      }));
    for (const family of BACKEND_FAMILIES) {
      const name = backends[family] ?? backend;
      const { kind = '' } = content['backends.yaml'].backends.find((one) => one.name === name) ?? {};
      const families = kinds?.[kind]?.families;
      if (!families || families.includes(family)) continue;
      const where = backends[family] === undefined ? ['backend'] : ['backends', family];
      const message = `is "${name}", a backend of the kind ${kind}, which only has: ${families.join(', ')}. Name another one for ${family}.`;
      faults.push({ file, path: [...path, ...where], message });
    }
    const without =
      backend === undefined ? BACKEND_FAMILIES.filter((family) => backends[family] === undefined) : [];
    if (without.length > 0) {
      const message = `is missing, and "backends" doesn't cover: ${without.join(', ')}. Use one of: ${known.join(', ')}.`;
      faults.push({ file, path: [...path, 'backend'], message });
    }
    return faults;
  });
}

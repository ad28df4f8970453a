import { Ajv } from 'ajv';
import { entry as entryAt, type PathParts } from './faults.ts';
import { isBareMetal, isGpu } from './flavor-schema.ts';
import type { CatalogContent, CatalogFileName, Region } from './schema.ts';

export interface CrossFault {
  file: CatalogFileName;
  path: PathParts;
  message: string;
}

/** Finds what schemas can't: duplicate IDs, references to nothing, entries that contradict their region. */
export function crossFaults(content: CatalogContent): CrossFault[] {
  const regions = new Map(content['regions.yaml'].regions.map((region) => [region.id, region]));
  return [
    ...regionFaults(content),
    ...flavorFaults(content, regions),
    ...imageFaults(content, regions),
    ...ddosFaults(content, regions),
    ...loggingFaults(content, regions),
    ...priceFaults(content, regions),
    ...twice('features.yaml', 'features', content['features.yaml'].features, ['id']),
  ];
}

function regionFaults(content: CatalogContent): CrossFault[] {
  const { regions } = content['regions.yaml'];
  const faults = twice('regions.yaml', 'regions', regions, ['id', 'slug', 'display_name', 'keystone_name']);
  for (const [index, region] of regions.entries()) {
    if (!region.has_sfs || (region.file_share_types ?? []).length > 0) continue;
    const message = 'lists no file share types, but has_sfs is true. Add a type or set has_sfs to false.';
    faults.push({ file: 'regions.yaml', path: ['regions', index, 'file_share_types'], message });
  }
  return faults;
}

function flavorFaults(content: CatalogContent, regions: Map<number, Region>): CrossFault[] {
  const file = 'flavors.yaml';
  const { flavors } = content[file];
  const faults = twice(file, 'flavors', flavors, ['flavor_id']);
  for (const [index, flavor] of flavors.entries()) {
    const path = ['flavors', index];
    const bareMetal = isBareMetal(flavor.flavor_id);
    const gpu = isGpu(flavor.flavor_id);
    if ((bareMetal || gpu) && flavor.resource_class === null) {
      const message = `is missing, but the id of ${flavor.flavor_id} is that of a ${bareMetal ? 'bare metal' : 'GPU'} flavor. Add it.`;
      faults.push({ file, path: [...path, 'resource_class'], message });
    }
    faults.push(
      ...referenceFaults(file, [...path, 'regions'], flavor.regions, regions, (region) => {
        if (bareMetal && !region.has_baremetal) return 'has no bare metal machines (has_baremetal)';
        if (gpu && !region.has_ai_gpu) return 'has no GPUs (has_ai_gpu)';
        return null;
      }),
    );
  }
  return faults;
}

function imageFaults(content: CatalogContent, regions: Map<number, Region>): CrossFault[] {
  const file = 'images.yaml';
  const { images } = content[file];
  const references = images.flatMap((image, index) =>
    referenceFaults(file, ['images', index, 'regions'], image.regions, regions),
  );
  return [...twice(file, 'images', images, ['id']), ...references];
}

function ddosFaults(content: CatalogContent, regions: Map<number, Region>): CrossFault[] {
  const file = 'ddos-templates.yaml';
  const { templates } = content[file];
  const faults = twice(file, 'templates', templates, ['id']);
  // Without the meta-schema, Ajv still refuses misspelt or ill-typed keywords, and the start takes 15 ms less.
  const ajv = new Ajv({
    strict: true,
    strictTypes: false,
    strictTuples: false,
    validateSchema: false,
    meta: false,
  });
  const owners = new Map<number, number>();
  for (const [index, template] of templates.entries()) {
    const path = ['templates', index];
    const lacksDdos = (region: Region) => (region.has_ddos ? null : 'has no DDoS protection (has_ddos)');
    faults.push(...referenceFaults(file, [...path, 'regions'], template.regions, regions, lacksDdos));
    for (const [place, field] of template.fields.entries()) {
      const owner = owners.get(field.id);
      if (owner !== undefined) {
        const message = `is ${field.id}, which a field of template ${owner} already uses. Choose another id.`;
        faults.push({ file, path: [...path, 'fields', place, 'id'], message });
      }
      owners.set(field.id, template.id);
      try {
        ajv.compile(field.validation_schema);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        const message = `is not a valid JSON Schema: ${reason}. Correct it.`;
        faults.push({ file, path: [...path, 'fields', place, 'validation_schema'], message });
      }
    }
  }
  return faults;
}

function loggingFaults(content: CatalogContent, regions: Map<number, Region>): CrossFault[] {
  const file = 'logging-destinations.yaml';
  const { services } = content[file];
  const faults = twice(file, 'services', services, ['region_id']);
  const served = new Set(services.map((service) => service.region_id));
  for (const [index, service] of services.entries()) {
    const path = ['services', index];
    faults.push(...referenceFaults(file, [...path, 'region_id'], service.region_id, regions));
    faults.push(
      ...referenceFaults(
        file,
        [...path, 'destination_regions'],
        service.destination_regions,
        regions,
        (region) => (served.has(region.id) ? null : 'has no logging service in this file'),
      ),
    );
  }
  return faults;
}

function priceFaults(content: CatalogContent, regions: Map<number, Region>): CrossFault[] {
  const file = 'price-book.yaml';
  const { prices, clients } = content[file];
  const faults = twice(file, 'clients', clients, ['client_id']);
  const flavors = new Set(content['flavors.yaml'].flavors.map((flavor) => flavor.flavor_id));
  const seen = new Set<string>();
  for (const [index, list] of prices.entries()) {
    const { region_id: regionId, currency } = list;
    const path = ['prices', index];
    const key = `${regionId} ${currency}`;
    if (seen.has(key)) {
      const message = `is the second price list in ${currency} for region ${regionId}. Merge the two.`;
      faults.push({ file, path, message });
    }
    seen.add(key);
    faults.push(...referenceFaults(file, [...path, 'region_id'], regionId, regions));
    const region = regions.get(regionId);
    for (const [field, offered] of [
      ['volume_types', region?.available_volume_types],
      ['file_share_types', region?.file_share_types],
    ] as const) {
      for (const type of Object.keys(list[field])) {
        if (!offered || offered.some((one) => one === type)) continue;
        const message = `has a price, but region ${regionId} doesn't offer it. Remove the price or add the type to the region.`;
        faults.push({ file, path: [...path, field, type], message });
      }
    }
    for (const id of Object.keys(list.flavors)) {
      if (flavors.has(id)) continue;
      const message = "has a price, but isn't in flavors.yaml. Remove the price or correct the ID.";
      faults.push({ file, path: [...path, 'flavors', id], message });
    }
  }
  return faults;
}

/** Finds duplicate values in a list of one file. Each of `keys` must be unique on its own. */
export function twice<Entry extends object>(
  file: CatalogFileName,
  list: string,
  entries: Entry[],
  keys: (keyof Entry & string)[],
): CrossFault[] {
  const faults: CrossFault[] = [];
  for (const key of keys) {
    const first = new Map<unknown, number>();
    for (const [index, entry] of entries.entries()) {
      const earlier = first.get(entry[key]);
      if (earlier === undefined) {
        first.set(entry[key], index);
        continue;
      }
      const message = `is ${String(entry[key])}, which ${entryAt(earlier)} already has. Change or remove one of the two.`;
      faults.push({ file, path: [list, index, key], message });
    }
  }
  return faults;
}

/** Finds references to regions that don't exist or lack what the entry needs. `path` leads to the ID or IDs. */
function referenceFaults(
  file: CatalogFileName,
  path: PathParts,
  ids: number | number[],
  regions: Map<number, Region>,
  objection: (region: Region) => string | null = () => null,
): CrossFault[] {
  const faults: CrossFault[] = [];
  const list = Array.isArray(ids) ? ids : [ids];
  for (const [index, id] of list.entries()) {
    const place = Array.isArray(ids) ? [...path, index] : path;
    const region = regions.get(id);
    const reason = region ? objection(region) : "isn't in regions.yaml";
    if (reason === null) continue;
    faults.push({
      file,
      path: place,
      message: `refers to region ${id}, which ${reason}. Remove it or correct the region.`,
    });
  }
  return faults;
}

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { type Document, isNode, LineCounter, parseDocument } from 'yaml';
import { BACKEND_FAMILIES, type BackendShapes } from '../../../backends/contract/needs.ts';
import { Closed } from '../../../lib/wire.ts';
import { prefixFaults } from './external-networks.ts';
import * as catalogFaults from './faults.ts';
import { isBareMetal, isGpu } from './flavor-schema.ts';
import { type CatalogContent, type CatalogFileName, catalogFiles, type Region } from './schema.ts';

/** Finds what schemas can't: duplicate IDs, references to nothing, entries that contradict their region. */
export function crossFaults(content: CatalogContent): catalogFaults.CrossFault[] {
  const regions = new Map(content['regions.yaml'].regions.map((region) => [region.id, region]));
  return [
    ...regionFaultsOfCrossChecks(content),
    ...prefixFaults(content['regions.yaml'].regions),
    ...flavorFaults(content, regions),
    ...imageFaults(content, regions),
    ...ddosFaults(content, regions),
    ...loggingFaults(content, regions),
    ...priceFaults(content, regions),
    ...twice('features.yaml', 'features', content['features.yaml'].features, ['id']),
  ];
}

function regionFaultsOfCrossChecks(content: CatalogContent): catalogFaults.CrossFault[] {
  const { regions } = content['regions.yaml'];
  const faults = twice('regions.yaml', 'regions', regions, ['id', 'slug', 'display_name', 'keystone_name']);
  for (const [index, region] of regions.entries()) {
    if (!region.has_sfs || (region.file_share_types ?? []).length > 0) continue;
    const message = 'lists no file share types, but has_sfs is true. Add a type or set has_sfs to false.';
    faults.push({ file: 'regions.yaml', path: ['regions', index, 'file_share_types'], message });
  }
  return faults;
}

function flavorFaults(content: CatalogContent, regions: Map<number, Region>): catalogFaults.CrossFault[] {
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

function imageFaults(content: CatalogContent, regions: Map<number, Region>): catalogFaults.CrossFault[] {
  const file = 'images.yaml';
  const { images } = content[file];
  const references = images.flatMap((image, index) =>
    referenceFaults(file, ['images', index, 'regions'], image.regions, regions),
  );
  return [...twice(file, 'images', images, ['id']), ...references];
}

function ddosFaults(content: CatalogContent, regions: Map<number, Region>): catalogFaults.CrossFault[] {
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

function loggingFaults(content: CatalogContent, regions: Map<number, Region>): catalogFaults.CrossFault[] {
  const file = 'logging-destinations.yaml';
  const { services } = content[file];
  const faults = twice(file, 'services', services, ['region_id']);
  const served = new Set(services.map((service) => service.region_id));
  for (const [index, service] of services.entries()) {
    const path = ['services', index];
    faults.push(...referenceFaults(file, [...path, 'region_id'], service.region_id, regions));
    faults.push(
      ...referenceFaults(file, [...path, 'destination_regions'], service.destination_regions, regions, (region) =>
        served.has(region.id) ? null : 'has no logging service in this file',
      ),
    );
  }
  return faults;
}

function priceFaults(content: CatalogContent, regions: Map<number, Region>): catalogFaults.CrossFault[] {
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
): catalogFaults.CrossFault[] {
  const faults: catalogFaults.CrossFault[] = [];
  for (const key of keys) {
    const first = new Map<unknown, number>();
    for (const [index, entry] of entries.entries()) {
      const earlier = first.get(entry[key]);
      if (earlier === undefined) {
        first.set(entry[key], index);
        continue;
      }
      const message = `is ${String(entry[key])}, which ${catalogFaults.entry(earlier)} already has. Change or remove one of the two.`;
      faults.push({ file, path: [list, index, key], message });
    }
  }
  return faults;
}

/** Finds references to regions that don't exist or lack what the entry needs. `path` leads to the ID or IDs. */
function referenceFaults(
  file: CatalogFileName,
  path: catalogFaults.PathParts,
  ids: number | number[],
  regions: Map<number, Region>,
  objection: (region: Region) => string | null = () => null,
): catalogFaults.CrossFault[] {
  const faults: catalogFaults.CrossFault[] = [];
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

/** Finds backends named twice, of an unknown kind or without required settings, and regions that name none. */
export function backendFaults(content: CatalogContent, kinds: BackendShapes | undefined): catalogFaults.CrossFault[] {
  const { backends } = content['backends.yaml'];
  return [
    ...twice('backends.yaml', 'backends', backends, ['name']),
    ...backends.flatMap((backend, index) => (kinds ? faultsOf(backend, index, kinds) : [])),
    ...regionFaults(content, kinds),
  ];
}

type Entry = CatalogContent['backends.yaml']['backends'][number];

function faultsOf({ kind, settings, secrets }: Entry, index: number, kinds: BackendShapes): catalogFaults.CrossFault[] {
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
  return catalogFaults.findShapeFaults(whole, { settings, secrets }).map(({ path, message }) => ({
    file,
    path: ['backends', index, ...path],
    message,
  }));
}

function regionFaults(content: CatalogContent, kinds: BackendShapes | undefined): catalogFaults.CrossFault[] {
  const file = 'regions.yaml';
  const known = content['backends.yaml'].backends.map(({ name }) => name);
  return content[file].regions.flatMap(({ backend, backends = {} }, index) => {
    const path = ['regions', index];
    const named = [
      ...(backend === undefined ? [] : [{ name: backend, path: [...path, 'backend'] }]),
      ...Object.entries(backends).map(([family, name]) => ({ name, path: [...path, 'backends', family] })),
    ];
    const faults: catalogFaults.CrossFault[] = named
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
    const without = backend === undefined ? BACKEND_FAMILIES.filter((family) => backends[family] === undefined) : [];
    if (without.length > 0) {
      const message = `is missing, and "backends" doesn't cover: ${without.join(', ')}. Use one of: ${known.join(', ')}.`;
      faults.push({ file, path: [...path, 'backend'], message });
    }
    return faults;
  });
}

interface ParsedFile {
  document: Document;
  lines: LineCounter;
}

/** Content that passed every check, and its hash. */
export interface CheckedCatalog {
  content: CatalogContent;
  text: string;
  hash: string;
}

type Files = Partial<Record<CatalogFileName, unknown>>;
type LineOf = (file: CatalogFileName, path: catalogFaults.PathParts) => number | null;

const NAMES = Object.keys(catalogFiles) as CatalogFileName[];
/** Defaults for catalogues from before a file existed. */
const LEFT_OUT: { [Name in CatalogFileName]?: CatalogContent[Name] } = {
  'backends.yaml': { backends: [{ name: 'simulated', kind: 'simulated', settings: {}, secrets: {} }] },
};

/**
 * Reads and checks every file of the catalogue: first YAML, then the shape, then what the files say about each other.
 * Throws CatalogError with all faults. Files that depend on each other are only compared once each has the right
 * shape. Backends must be of one of the `kinds`; without `kinds`, backends are not checked.
 */
export async function readCatalog(folder: string, kinds?: BackendShapes): Promise<CheckedCatalog> {
  const faults: catalogFaults.CatalogFault[] = [];
  const parsed = new Map<CatalogFileName, ParsedFile>();
  const files: Files = {};
  const texts = await Promise.all(NAMES.map((name) => readText(join(folder, name))));
  for (const [index, name] of NAMES.entries()) {
    const text = texts[index];
    if (typeof text !== 'string') {
      if (name in LEFT_OUT && text?.code === 'ENOENT') continue;
      const message = `can't be read (${text?.code ?? 'unknown error'}). Restore it; the release contains one to start from.`;
      faults.push({ file: name, line: null, path: '', message });
      continue;
    }
    const lines = new LineCounter();
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
    if (document.errors.length > 0) {
      for (const error of document.errors) {
        const message = `is not valid YAML: ${error.message}. Correct it.`;
        faults.push({ file: name, line: lines.linePos(error.pos[0]).line, path: '', message });
      }
      continue;
    }
    parsed.set(name, { document, lines });
    files[name] = document.toJS();
  }
  const line: LineOf = (file, path) => {
    const read = parsed.get(file);
    return read ? lineOf(read, path) : null;
  };
  return check(files, folder, faults, { line, kinds });
}

/** Does the same for a text made of such files, which another release may have written. */
export function checkCatalogText(text: string, origin: string, kinds?: BackendShapes): CheckedCatalog {
  const files = JSON.parse(text) as Files;
  const missing = NAMES.filter((name) => !(name in files) && !(name in LEFT_OUT));
  const faults = missing.map((file) => ({ file, line: null, path: '', message: 'is missing. Add it.' }));
  return check(files, origin, faults, { line: () => null, kinds });
}

function check(
  files: Files,
  origin: string,
  faults: catalogFaults.CatalogFault[],
  { line, kinds }: { line: LineOf; kinds: BackendShapes | undefined },
): CheckedCatalog {
  // Covers only what was written: each release decides which defaults to fill in.
  const text = JSON.stringify(files, inOrder);
  const content: Files = { ...LEFT_OUT };
  for (const name of NAMES.filter((each) => each in files)) {
    const schema = catalogFiles[name];
    content[name] = Value.Default(schema, files[name]);
    // Interpreting the schema once is ten times cheaper than compiling it. Only a faulty file pays for good messages.
    if (Value.Check(schema, content[name])) continue;
    for (const { path, message } of catalogFaults.findShapeFaults(schema, content[name]))
      faults.push({ file: name, line: line(name, path), path: catalogFaults.placeOf(path), message });
  }
  if (faults.length === 0) {
    const whole = content as CatalogContent;
    for (const { file, path, message } of [...crossFaults(whole), ...backendFaults(whole, kinds)])
      faults.push({ file, line: line(file, path), path: catalogFaults.placeOf(path), message });
  }
  if (faults.length > 0) throw new catalogFaults.CatalogError(origin, faults);
  const hash = createHash('sha256').update(text).digest('hex');
  return { content: content as CatalogContent, text, hash };
}

/** Sorts the keys of each object, for JSON.stringify. */
function inOrder(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns the text, or the error that kept it from being read. */
async function readText(path: string): Promise<string | NodeJS.ErrnoException> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
}

/** Returns the line of the value at the path, or of the nearest part of the path that exists. */
function lineOf({ document, lines }: ParsedFile, path: catalogFaults.PathParts): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const node: unknown = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { type Document, isNode, LineCounter, parseDocument } from 'yaml';
import { BACKEND_FAMILIES, type BackendShapes } from '../../../backends/contract/placement.ts';
import { Closed } from '../../../lib/wire.ts';
import { type CrossFault, crossFaults, twice } from './cross-checks.ts';
import { CatalogError, type CatalogFault, findShapeFaults, type PathParts, placeOf } from './faults.ts';
import { type CatalogContent, type CatalogFileName, catalogFiles } from './schema.ts';

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
type LineOf = (file: CatalogFileName, path: PathParts) => number | null;

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
  const faults: CatalogFault[] = [];
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
  faults: CatalogFault[],
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
    for (const { path, message } of findShapeFaults(schema, content[name]))
      faults.push({ file: name, line: line(name, path), path: placeOf(path), message });
  }
  if (faults.length === 0) {
    const whole = content as CatalogContent;
    for (const { file, path, message } of [...crossFaults(whole), ...backendFaults(whole, kinds)])
      faults.push({ file, line: line(file, path), path: placeOf(path), message });
  }
  if (faults.length > 0) throw new CatalogError(origin, faults);
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
function lineOf({ document, lines }: ParsedFile, path: PathParts): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const node: unknown = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}

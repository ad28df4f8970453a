import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Value } from 'typebox/value';
import { type Document, isNode, LineCounter, parseDocument } from 'yaml';
import { crossFaults } from './cross-checks.ts';
import { CatalogError, type CatalogFault, findShapeFaults, type PathParts } from './faults.ts';
import { type CatalogContent, type CatalogFileName, catalogFiles } from './schema.ts';

interface ParsedFile {
  name: CatalogFileName;
  document: Document;
  lines: LineCounter;
}

/**
 * Reads and checks every file of the catalogue: YAML, shape, then what the files say about each other.
 * Throws CatalogError with all faults; files that depend on each other are only compared once each is in shape.
 */
export async function readCatalog(folder: string): Promise<CatalogContent> {
  const names = Object.keys(catalogFiles) as CatalogFileName[];
  const faults: CatalogFault[] = [];
  const files = new Map<CatalogFileName, ParsedFile>();
  const content: Partial<Record<CatalogFileName, unknown>> = {};
  const texts = await Promise.all(names.map((name) => readText(join(folder, name))));
  for (const [index, name] of names.entries()) {
    const text = texts[index];
    if (typeof text !== 'string') {
      const message = `can't be read (${text?.code ?? 'unknown error'}). Put it back; the release has one to begin from.`;
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
    files.set(name, { name, document, lines });
    const schema = catalogFiles[name];
    content[name] = Value.Default(schema, document.toJS());
    // Interpreting the schema once is ten times cheaper than compiling it; only a faulty file pays for good texts.
    if (Value.Check(schema, content[name])) continue;
    for (const { path, message } of findShapeFaults(schema, content[name])) {
      faults.push(placed(files, name, path, message));
    }
  }
  if (faults.length > 0) throw new CatalogError(folder, faults);

  const checked = content as CatalogContent;
  for (const { file, path, message } of crossFaults(checked)) faults.push(placed(files, file, path, message));
  if (faults.length > 0) throw new CatalogError(folder, faults);
  return checked;
}

/** The text, or what kept it from being read. */
async function readText(path: string): Promise<string | NodeJS.ErrnoException> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
}

function placed(
  files: Map<CatalogFileName, ParsedFile>,
  file: CatalogFileName,
  path: PathParts,
  message: string,
): CatalogFault {
  const parsed = files.get(file);
  return { file, line: parsed ? lineOf(parsed, path) : null, path: path.join('.'), message };
}

/** The line of the value at the path, or of the nearest part of the path that is there. */
function lineOf({ document, lines }: ParsedFile, path: PathParts): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const node: unknown = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}

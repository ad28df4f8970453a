import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type Document, parseDocument } from 'yaml';
import { CatalogError } from '../cloud/ground/catalog/faults.ts';
import { type Catalog, loadCatalog } from '../cloud/ground/catalog/service.ts';
import type { Config } from '../config.ts';
import { attempt, OperatorError } from '../lib/errors.ts';
import { followedBy, putInForce } from './catalog-apply.ts';
import type { CommandContext } from './command.ts';
import { MAKERS } from './from-settings.ts';
import { type Answer, asRecordedOperator } from './operator.ts';

/* For commands that edit the files of the catalogue: each file is left as its author wrote it, but for what they add. */

export const NOTHING_CHANGED = 'Nothing was changed.';
/** What a catalogue without the file has. */
const DEFAULT_BACKENDS = 'backends:\n  - {name: simulated, kind: simulated}\n';
const AS_WRITTEN = { lineWidth: 0, flowCollectionPadding: false };

/** New texts of files, by name. */
export type Files = ReadonlyMap<string, string>;

export function documentOf(folder: string, name: string): Document {
  return parseDocument(textOf(folder, name));
}

/** There need not be such a file. */
export function backendsDocument(folder: string): Document {
  return parseDocument(attempt(() => textOf(folder, 'backends.yaml')) ?? DEFAULT_BACKENDS);
}

export const asText = (document: Document): string => document.toString(AS_WRITTEN);

/** Reads the catalogue of the settings, or a draft of it. @throws CatalogError that says that nothing was changed */
export async function loadChecked({ catalogDir }: Pick<Config, 'catalogDir'>, folder = catalogDir): Promise<Catalog> {
  return loadCatalog(folder, MAKERS).catch((error: unknown) => {
    if (!(error instanceof CatalogError)) throw error;
    throw new CatalogError(catalogDir, error.faults, NOTHING_CHANGED);
  });
}

/** Checks the catalogue as it would be, in a copy. */
export async function checkedDraft(config: Config, files: Files): Promise<Catalog> {
  const draft = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-catalog-'));
  try {
    fs.cpSync(config.catalogDir, draft, { recursive: true });
    for (const [name, text] of files) fs.writeFileSync(path.join(draft, name), text);
    return await loadChecked(config, draft);
  } finally {
    fs.rmSync(draft, { recursive: true });
  }
}

/**
 * Writes the files and puts the catalogue that they make in force. Prints what `tell` makes of the answer, and returns the exit code.
 * If the catalogue can't be put in force, the files are as before.
 */
export function writeAndApply(
  context: CommandContext,
  files: Files,
  catalog: Catalog,
  tell: (applied: Answer & { data: object }) => Answer,
): Promise<number> {
  const { config } = context;
  return asRecordedOperator(context, 'catalog apply', async (database, by) => {
    const undo = write(config.catalogDir, files);
    const applied = await putInForce(database, catalog, { config, ...by }).catch((error: unknown) => {
      undo();
      throw error;
    });
    return tell(await followedBy(database, catalog, { config, ...by, ...applied }));
  });
}

/** Writes the files, and returns what puts the former ones back. @throws OperatorError */
function write(folder: string, files: Files): () => void {
  const former = [...files.keys()].map((name) => ({ name, text: attempt(() => textOf(folder, name)) }));
  const undo = () => {
    for (const { name, text } of former) {
      if (text === undefined) fs.rmSync(path.join(folder, name), { force: true });
      else if (text !== attempt(() => textOf(folder, name))) fs.writeFileSync(path.join(folder, name), text);
    }
  };
  try {
    for (const [name, text] of files) fs.writeFileSync(path.join(folder, name), text);
  } catch (error) {
    attempt(undo);
    throw new OperatorError(
      `${(error as Error).message}. ${NOTHING_CHANGED} Copy the folder to a place that you may write to, and name it in TRADEWIND_CATALOG_DIR`,
    );
  }
  return undo;
}

const textOf = (folder: string, name: string): string => fs.readFileSync(path.join(folder, name), 'utf8');

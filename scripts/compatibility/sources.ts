import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { sourceFiles } from '../source-files.ts';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

interface Named {
  file: string;
  /** Matches the operation's name in the source, which may be composed of parts. */
  name: RegExp;
  /** How much of the name is literal. */
  literal: number;
}

/** What may be the name of an operation: an argument, or a member of the data of several. */
const NAME = /(?:operationId: |[,([]\s*)['`]((?:\w|\$\{[^}]+\})+)['`]/g;

const named = sourceFiles()
  .filter((file) => /[/-]routes\.ts$/.test(file))
  .flatMap((file): Named[] => {
    const text = fs.readFileSync(path.join(ROOT, file), 'utf8');
    return [...text.matchAll(NAME)].flatMap(([, written = '']) => {
      const parts = written.split(/\$\{[^}]+\}/);
      const literal = parts.join('').length;
      return literal === 0 ? [] : [{ file, name: new RegExp(`^${parts.join('\\w*')}$`), literal }];
    });
  })
  .sort((a, b) => b.literal - a.literal);

/** Returns the file with the route of an operation. @throws Error if there is none */
export function sourceOf(operationId: string): string {
  const found = named.find(({ name }) => name.test(operationId));
  if (!found) throw new Error(`No routes file names the operation ${operationId}`);
  return found.file;
}

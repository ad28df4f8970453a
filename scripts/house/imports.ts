import fs from 'node:fs';
import path from 'node:path';
import { sourceFiles } from '../source-files.ts';

/** An import or a re-export of another file of `src`. */
export interface Import {
  from: string;
  to: string;
  typeOnly: boolean;
}

export interface SourceFile {
  /** Such as `src/lib/ids.ts`. */
  name: string;
  lines: number;
  /** Lines of imports at the top. */
  header: number;
  imports: Import[];
}

/** Reads all files of a folder below `root` but tests and what is only data of tests. */
export const readSources = (root: string, folder = 'src'): SourceFile[] =>
  sourceFiles(root, folder)
    .filter((name) => !/\.test\.ts$|\/fixtures\//.test(name))
    .map((name) => readSource(root, name));

// The code is formatted, so that imports always look like this.
const IMPORT = /^(?:import|export) (type )?(?:(\*|\{[^}]*\}|[^;{}]*?)[^;{}]*? from )?'([^']+)';$/gm;
const HEADER = /^(?:import [^;]*;\n)+/;

function readSource(root: string, name: string): SourceFile {
  const text = fs.readFileSync(path.join(root, name), 'utf8');
  const imports: Import[] = [];
  const header = (HEADER.exec(text)?.[0].split('\n').length ?? 1) - 1;
  for (const { 1: type, 2: names = '', 3: target = '' } of text.matchAll(IMPORT)) {
    if (!target.startsWith('.')) continue;
    const to = path.posix.join(path.posix.dirname(name), target);
    imports.push({ from: name, to, typeOnly: type !== undefined || onlyTypes(names) });
  }
  return { name, lines: text.split('\n').length - 1, header, imports };
}

/** Whether each of the names in braces is marked as a type. */
const onlyTypes = (names: string): boolean =>
  names.startsWith('{') &&
  names
    .slice(1, -1)
    .split(',')
    .map((one) => one.trim())
    .every((one) => one === '' || one.startsWith('type '));

/** Returns the groups of nodes that reach one another, largest first. */
export function cyclesOf(edges: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const indices = new Map<string, number>();
  const stack: string[] = [];
  const groups: string[][] = [];
  function visit(node: string): number {
    const index = indices.size;
    indices.set(node, index);
    let low = index;
    stack.push(node);
    for (const next of edges.get(node) ?? []) {
      if (!indices.has(next)) low = Math.min(low, visit(next));
      else if (stack.includes(next)) low = Math.min(low, indices.get(next) ?? low);
    }
    if (low === index) groups.push(stack.splice(stack.indexOf(node)));
    return low;
  }
  for (const node of edges.keys()) if (!indices.has(node)) visit(node);
  return groups.filter((group) => group.length > 1).toSorted((a, b) => b.length - a.length);
}

import fs from 'node:fs';
import path from 'node:path';

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

/** Reads all files of `src` below `root` but tests and what is only data of tests. */
export function readSources(root: string): SourceFile[] {
  return fs
    .readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .map((file) => path.posix.join('src', file))
    .filter((name) => name.endsWith('.ts') && !/\.test\.ts$|\/(?:fixtures|node_modules)\//.test(name))
    .map((name) => readSource(root, name));
}

// The code is formatted, so that imports always look like this.
const IMPORT = /^(?:import|export) (type )?(?:(\*|\{[^}]*\}|[^;{}]*?)[^;{}]*? from )?'([^']+)';$/gm;

function readSource(root: string, name: string): SourceFile {
  const text = fs.readFileSync(path.join(root, name), 'utf8');
  const imports: Import[] = [];
  let header = 0;
  for (const { 0: whole, 1: type, 2: names = '', 3: target = '', index } of text.matchAll(IMPORT)) {
    header = text.slice(0, index + whole.length).split('\n').length;
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
  const lowest = new Map<string, number>();
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
    lowest.set(node, low);
    if (low === index) groups.push(stack.splice(stack.indexOf(node)));
    return low;
  }
  for (const node of edges.keys()) if (!indices.has(node)) visit(node);
  return groups.filter((group) => group.length > 1).toSorted((a, b) => b.length - a.length);
}

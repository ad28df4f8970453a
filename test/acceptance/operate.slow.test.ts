import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { build, environment, ROOT, type ServeProcess, serve, temporaryFolder } from './processes.ts';

/** An operator's first day, as docs/cli.md tells it. TRADEWIND_WRITE_OPERATE=1 writes what the commands print there. */
const FILE = path.join(ROOT, 'docs/cli.md');
const BLOCK = /^```console\n(.*?)^```/gms;
const MARK = '=== the next command ===';
const folder = temporaryFolder();
const settings = { TRADEWIND_DATA_DIR: path.join(folder, 'data'), TRADEWIND_SIMULATION_SPEED: '1000' };

let service: ServeProcess;
beforeAll(async () => {
  build();
  service = await serve(settings);
  const program = path.join(folder, 'tradewind');
  fs.writeFileSync(program, `#!/bin/sh\nexec node '${path.join(ROOT, 'dist/src/main.js')}' "$@"\n`, {
    mode: 0o755,
  });
});
afterAll(async () => {
  await service.end();
  fs.rmSync(folder, { recursive: true });
});

it('goes as the document says', () => {
  const document = fs.readFileSync(FILE, 'utf8');
  const blocks = [...document.matchAll(BLOCK)].map(([, text = '']) => commandsIn(text));
  const commands = blocks.flat().map(({ typed }) => typed);
  expect(commands.length).toBeGreaterThan(15);
  const printed = run(commands);
  if (process.env.TRADEWIND_WRITE_OPERATE) {
    fs.writeFileSync(FILE, written(document, printed));
    return;
  }
  for (const [at, { typed, shown }] of blocks.flat().entries())
    expect(lasting(printed[at] ?? ''), typed).toBe(lasting(shown));
});

it('a follower of events ends with its reader', async () => {
  const env = {
    ...environment(settings),
    TRADEWIND_URL: service.url,
    TRADEWIND_TOKEN_FILE: path.join(folder, '.tradewind-token'),
  };
  const program = path.join(folder, 'tradewind');
  const follower = spawn(program, ['event', 'follow', '--cursor', 'oldest'], { env });
  await once(follower.stdout, 'data');
  follower.stdout.destroy();
  // It learns of that when it has something else to say.
  let round = 0;
  const rename = () => spawnSync(program, ['project', 'change', '1', '--name', `round-${round++}`], { env });
  const ended = () => {
    rename();
    return follower.exitCode;
  };
  await expect.poll(ended, { timeout: 100_000 }).toBe(0);
});

/** Runs commands in one shell, and returns what each prints. */
function run(commands: readonly string[]): string[] {
  const script = path.join(folder, 'day.sh');
  fs.writeFileSync(script, commands.map((typed) => `echo '${MARK}'\n${typed}\n`).join(''));
  const { stdout } = spawnSync('bash', ['-c', `exec bash '${script}' 2>&1`], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      ...environment(settings),
      HOME: folder,
      PATH: `${folder}:${process.env.PATH}`,
      TRADEWIND_URL: service.url,
    },
  });
  return stdout.split(`${MARK}\n`).slice(1);
}

interface Shown {
  typed: string;
  /** What it prints. */
  shown: string;
}

function commandsIn(block: string): Shown[] {
  return block
    .split(/^\$ /m)
    .slice(1)
    .map((text) => {
      const [typed = '', ...lines] = text.split('\n');
      return { typed, shown: lines.join('\n') };
    });
}

function written(document: string, printed: readonly string[]): string {
  let at = 0;
  return document.replace(BLOCK, (_block, text: string) => {
    const lines = commandsIn(text).map(({ typed }) => `$ ${typed}\n${example(printed[at++] ?? '')}`);
    return `\`\`\`console\n${lines.join('')}\`\`\``;
  });
}

/** Without what is different each day, and the columns that depend on it. */
function lasting(text: string): string {
  return example(text)
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z?/g, 'TIME')
    .replace(/[\da-f]{8}-[\da-f-]{27}/g, 'ID')
    .replace(/ +/g, ' ')
    .replace(/^\d+(?= TIME)|(?<=--cursor )\d+/gm, 'N')
    .trimEnd();
}

/** Nobody's secrets are in the document. */
function example(text: string): string {
  return text
    .replace(/\d+_[\da-f]{64}/g, '1000_3f…')
    .replace(/whsec_\S+/g, 'whsec_…')
    .replace(/(invitation_token +)\S+/g, '$1…')
    .replaceAll(service.url, 'http://127.0.0.1:8080');
}

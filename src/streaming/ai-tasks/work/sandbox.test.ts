import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { needs, newFile } from '../../../../test/support/engines.ts';
import { findSandbox, type Sandbox } from './sandbox.ts';

const searchPath = '/usr/bin:/bin';
const node = process.execPath;

/** A new folder with these files in it. */
function folderWith(files: Record<string, string>): string {
  const root = newFile('sandbox');
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    fs.writeFileSync(path.join(root, name), text);
  }
  return root;
}

const find = (options: Partial<Parameters<typeof findSandbox>[0]>) =>
  findSandbox({ searchPath, reads: [node], hides: [], folder: newFile('tried'), ...options });

test('without bubblewrap it is said what to install', async () => {
  expect((await find({ searchPath: '/nowhere' })).missing).toContain('npm run install:engines');
});

test('a bubblewrap that fails is none, and what it says is told', async () => {
  const folder = folderWith({ bwrap: '#!/bin/sh\necho "bwrap: No permissions" >&2\nexit 1\n' });
  fs.chmodSync(path.join(folder, 'bwrap'), 0o755);
  const { missing } = await find({ searchPath: folder });
  expect(missing).toBe("bubblewrap doesn't work here: bwrap: No permissions (docs/ai-tasks.md)");
});

test('a folder that can not be made is a reason as well', async () => {
  const file = path.join(folderWith({ file: '' }), 'file');
  expect((await find({ folder: path.join(file, 'below') })).missing).toMatch(/isn't installed|ENOTDIR/);
});

describe('in the sandbox', needs('sandbox'), () => {
  let root: string;
  let own: string;
  let sandbox: Sandbox;

  async function open(options: Partial<Parameters<typeof findSandbox>[0]>): Promise<Sandbox> {
    const { found, missing } = await find(options);
    if (!found) throw new Error(missing);
    return found;
  }

  beforeAll(async () => {
    root = folderWith({ secret: 'a token' });
    own = path.join(root, 'task');
    fs.mkdirSync(own);
    sandbox = await open({});
  });

  /** What a program says there. */
  function said(script: string, within = sandbox): string {
    const [program, ...args] = within.around([node, '-e', script], own);
    return execFileSync(program, args, {
      encoding: 'utf8',
      cwd: own,
      env: { PATH: searchPath },
      timeout: 10_000,
    }).trim();
  }
  const attempt = (expression: string, within = sandbox) =>
    said(`try { console.log(${expression}) } catch (error) { console.log(error.code) }`, within);
  const read = (file: string, within = sandbox) =>
    attempt(`require('fs').readFileSync(${JSON.stringify(file)}, 'utf8')`, within);
  const write = (file: string) => attempt(`require('fs').writeFileSync('${file}', 'x')`);

  test('a program sees its folder and no file of people', () => {
    expect(attempt('process.cwd()')).toBe(own);
    expect(read(`${root}/secret`)).toBe('ENOENT');
    expect(read('/etc/passwd')).toBe('ENOENT');
  });

  test('it writes to its folder alone, and not to memory that no limit counts', () => {
    expect(write('made')).toBe('undefined');
    expect(fs.readFileSync(path.join(own, 'made'), 'utf8')).toBe('x');
    for (const file of ['/usr/made', '/made', '/dev/made', '/dev/shm/made', '/tmp/made', `${root}/made`])
      expect(write(file), file).toMatch(/EROFS|ENOENT/);
  });

  test('it sees no process but its own', () => {
    expect(attempt(`require('fs').readdirSync('/proc').filter(Number).length < 4`)).toBe('true');
    expect(attempt(`process.kill(${process.pid}, 0)`)).toBe('ESRCH');
  });

  describe('servers', () => {
    let servers: net.Server[];
    beforeEach(() => {
      servers = [];
    });
    afterEach(() => {
      for (const server of servers) server.close();
    });

    async function listening(to: net.ListenOptions): Promise<net.Server> {
      const server = net.createServer();
      servers.push(server);
      server.listen(to);
      await once(server, 'listening');
      return server;
    }
    const connect = (to: object, within = sandbox) =>
      said(
        `require('net').connect(${JSON.stringify(to)}, () => { console.log('reached'); process.exit() }).on('error', (e) => console.log(e.code))`,
        within,
      );

    test('are out of reach by the network', async () => {
      const { port } = (await listening({ port: 0, host: '127.0.0.1' })).address() as net.AddressInfo;
      expect(connect({ port, host: '127.0.0.1' })).toBe('ECONNREFUSED');
    });

    test('are out of reach by a socket, also in a folder that is needed', async () => {
      const shared = folderWith({ 'model.onnx': 'a model', 'data/kept': 'a database' });
      const socket = path.join(shared, 'data/db');
      await listening({ path: socket });
      expect(connect({ path: socket })).toBe('ENOENT');
      const needed = { reads: [node, shared] };
      // A socket that is seen is one that answers, though nothing there can be written.
      expect(connect({ path: socket }, await open(needed))).toBe('reached');
      const hiding = await open({ ...needed, hides: [path.join(shared, 'data')] });
      expect(connect({ path: socket }, hiding)).toBe('ENOENT');
      expect(read(path.join(shared, 'model.onnx'), hiding)).toBe('a model');
    });
  });

  test('what is needed of a hidden folder of the system is seen, and nothing else of it', async () => {
    const hiding = await open({ reads: [node, '/usr/bin/env'], hides: ['/usr/bin', '/usr/share'] });
    expect(attempt(`require('fs').readdirSync('/usr/share').length`, hiding)).toBe('0');
    expect(attempt(`require('fs').readdirSync('/usr/bin').includes('ls')`, hiding)).toBe('false');
    expect(attempt(`require('fs').existsSync('/usr/bin/env')`, hiding)).toBe('true');
  });

  test('what is needed is seen where links lead to it', async () => {
    const store = folderWith({ blob: 'a model', tool: 'a program' });
    const models = folderWith({ manifest: '{}' });
    fs.symlinkSync(path.join(store, 'blob'), path.join(models, 'model.onnx'));
    fs.symlinkSync(path.join(store, 'tool'), path.join(root, 'tool'));
    const reads = [node, models, path.join(store, 'blob'), path.join(root, 'tool')];
    const seeing = await open({ reads });
    expect(read(path.join(models, 'model.onnx'), seeing)).toBe('a model');
    expect(read(path.join(root, 'tool'), seeing)).toBe('a program');
  });

  test('what can not be seen in it is told before a task needs it', async () => {
    const { missing } = await find({ reads: [node, path.join(root, 'not-there')] });
    expect(missing).toContain(`${root}/not-there can't be seen in it`);
  });
});

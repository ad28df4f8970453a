import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { needs, newFile } from '../../test/support/engines.ts';
import { findSandbox, type Sandbox } from './sandbox.ts';

const searchPath = '/usr/bin:/bin';
const node = process.execPath;

/** Makes a new folder with these files. */
function folderWith(files: Record<string, string>): string {
  const root = newFile('sandbox');
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    fs.writeFileSync(path.join(root, name), text);
  }
  return root;
}

const find = (options: Partial<Parameters<typeof findSandbox>[0]>) =>
  findSandbox({
    ...{ searchPath, programs: [], reads: [], hides: [], folder: os.tmpdir(), scratchBytes: 1_000_000 },
    ...options,
  });

describe.skipIf(process.platform !== 'linux')('there is none', () => {
  test('without bubblewrap, and it is said what to install', async () => {
    expect((await find({ searchPath: '/nowhere' })).missing).toContain('npx tradewind engines install');
  });

  test('where bubblewrap fails, and what it says is told', async () => {
    const folder = folderWith({ bwrap: '#!/bin/sh\necho "bwrap: No permissions" >&2\nexit 1\n' });
    fs.chmodSync(path.join(folder, 'bwrap'), 0o755);
    const { missing } = await find({ searchPath: `${folder}:${searchPath}` });
    expect(missing).toBe("bubblewrap doesn't work here: bwrap: No permissions (docs/ai.md)");
  });

  test('where it can not be tried', async () => {
    const file = path.join(folderWith({ file: '' }), 'file');
    expect((await find({ folder: file })).missing).toMatch(/isn't installed|ENOTDIR/);
  });
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

  /** Returns what a program prints there. */
  function said(script: string, within = sandbox): string {
    const [program, ...args] = within.around([node, '-e', script], own).command;
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
  const write = (file: string, within = sandbox) =>
    attempt(`require('fs').writeFileSync('${file}', 'x') ?? require('fs').readFileSync('${file}', 'utf8')`, within);

  test('a program sees its folder and no file of people', () => {
    expect(attempt('process.cwd()')).toBe(own);
    expect(read(`${root}/secret`)).toBe('ENOENT');
    expect(read('/etc/passwd')).toBe('ENOENT');
  });

  test('it writes to its folder alone, and not to memory that no limit counts', () => {
    expect(write('made')).toBe('x');
    // The folder was memory of a limited size, and is gone.
    expect(fs.readdirSync(own)).toEqual([]);
    for (const file of ['/usr/made', '/made', '/dev/made', '/dev/shm/made', '/tmp/made', `${root}/made`])
      expect(write(file), file).toMatch(/EROFS|ENOENT/);
  });

  test('nothing can be written where something is hidden either', async () => {
    const shared = folderWith({ 'model.onnx': 'a model', 'data/kept': 'a row' });
    const data = path.join(shared, 'data');
    const hiding = await open({ reads: [shared], hides: ['/usr/share', data] });
    for (const file of ['/usr/share/made', `${data}/made`]) expect(write(file, hiding), file).toBe('EROFS');
    const task = path.join(data, 'task');
    fs.mkdirSync(task);
    fs.writeFileSync(path.join(task, 'media'), 'a film', { mode: 0o600 });
    const copy = `const fs = require('fs'); fs.copyFileSync('media', 'made'); console.log(fs.readFileSync('made', 'utf8'))`;
    const [program, ...args] = hiding.around([node, '-e', copy], task).command;
    expect(execFileSync(program, args, { cwd: task, timeout: 10_000, encoding: 'utf8' })).toBe('a film\n');
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
      fs.chmodSync(socket, 0o777);
      expect(connect({ path: socket })).toBe('ENOENT');
      const needed = { reads: [shared] };
      // A visible socket also answers, although nothing there can be written.
      expect(connect({ path: socket }, await open(needed))).toBe('reached');
      const hiding = await open({ ...needed, hides: [path.join(shared, 'data')] });
      expect(connect({ path: socket }, hiding)).toBe('ENOENT');
      expect(read(path.join(shared, 'model.onnx'), hiding)).toBe('a model');
    });
  });

  test('what is needed of a hidden folder of the system is seen, and nothing else of it by any name', async () => {
    const hiding = await open({ reads: ['/usr/bin/env'], hides: ['/usr/bin', '/usr/share'] });
    const listed = (folder: string) => attempt(`require('fs').readdirSync('${folder}').sort().join()`, hiding);
    expect(listed('/usr/share')).toBe('');
    // The program with which root becomes another user is needed too.
    const ours = process.getuid?.() === 0 ? ['bwrap', 'setpriv'] : [];
    const seen = ['env', path.basename(fs.realpathSync(node)), ...ours].filter((name) =>
      fs.existsSync(`/usr/bin/${name}`),
    );
    expect([listed('/usr/bin'), listed('/bin')]).toEqual([seen.sort().join(), seen.sort().join()]);
  });

  test('what is hidden stays so behind a link to the folder around it', async () => {
    const shared = folderWith({
      'model.onnx': 'a model',
      'data/kept': 'a row',
      'data/part/needed': 'a part',
    });
    const link = newFile('link');
    fs.symlinkSync(shared, link);
    const hiding = await open({
      reads: [link, path.join(shared, 'data/part')],
      hides: [path.join(shared, 'data')],
    });
    for (const name of [shared, link]) {
      expect(read(path.join(name, 'model.onnx'), hiding)).toBe('a model');
      expect(read(path.join(name, 'data/kept'), hiding)).toBe('ENOENT');
    }
    expect(read(path.join(shared, 'data/part/needed'), hiding)).toBe('a part');
    const { missing } = await find({ reads: [link], hides: [shared] });
    expect(missing).toContain('must stay hidden');
  });

  test('what is needed is seen where links lead to it, or it is said that it is not', async () => {
    const store = folderWith({ 'v2/blob': 'a model', 'v2/tool': 'a program' });
    const models = folderWith({ manifest: '{}' });
    const model = path.join(models, 'model.onnx');
    fs.symlinkSync(path.join(store, 'v2/blob'), model);
    fs.symlinkSync(path.join(store, 'v2/tool'), path.join(root, 'tool'));
    const seeing = await open({ reads: [models, model, path.join(root, 'tool')] });
    expect(read(model, seeing)).toBe('a model');
    expect(read(path.join(root, 'tool'), seeing)).toBe('a program');
    fs.symlinkSync(path.join(store, 'v2'), path.join(store, 'current'));
    fs.symlinkSync(path.join(store, 'current/blob'), path.join(models, 'farther.onnx'));
    const { missing } = await find({ reads: [models, path.join(models, 'farther.onnx')] });
    expect(missing).toContain(`farther.onnx can't be seen there`);
  });

  test('what does not run in it is told before a task needs it', async () => {
    const tools = folderWith({ 'own-shell': '', tool: `#!${root}/own-shell\n` });
    fs.copyFileSync('/bin/sh', path.join(root, 'own-shell'));
    fs.chmodSync(path.join(root, 'own-shell'), 0o755);
    fs.chmodSync(path.join(tools, 'tool'), 0o755);
    await open({ programs: ['/usr/bin/env'] });
    const { missing } = await find({ programs: [path.join(tools, 'tool')] });
    expect(missing).toContain(`${tools}/tool doesn't run there`);
  });

  test('an old bubblewrap that knows no limit of size leaves what is written on the disk', async () => {
    const old = folderWith({ bwrap: `#!/bin/sh\n[ "$1" = --help ] || exec /usr/bin/bwrap "$@"\n` });
    fs.chmodSync(path.join(old, 'bwrap'), 0o755);
    const within = await open({ searchPath: `${old}:${searchPath}` });
    expect(within.around(['true'], own).writesToDisk).toBe(true);
    expect(write('made', within)).toBe('x');
    expect(fs.readdirSync(own)).toEqual(['made']);
    expect(read(`${root}/secret`, within)).toBe('ENOENT');
    expect(attempt(`require('fs').openSync('/proc/sys/kernel/core_pattern', 'a')`, within)).toMatch(/EROFS|EACCES/);
  });
});

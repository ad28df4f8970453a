// Carries out the steps of the Dockerfile in a bare Debian root, where no container engine runs, and calls the server
// that comes out. It stands in for the engine: namespaces, chroot and overlayfs. The base image is Debian by debootstrap
// with the Node of the tag from npm, so what the real base image holds besides isn't there. Needs root and Linux.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CACHE = path.join(os.homedir(), '.cache/tradewind');
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const CERTIFICATES = '/tmp/host-certificates.pem';
const NEEDED = ['debootstrap', 'unshare', 'nsenter', 'chroot', 'ip'];

const lacks = reasonToSkip();
if (lacks !== undefined) console.log(`SKIPPED, the Dockerfile isn't checked: ${lacks}`);
else if (process.env.TRADEWIND_INSIDE === undefined) {
  // Mounts and processes end with the namespaces.
  const words = [
    '--mount',
    '--pid',
    '--fork',
    '--mount-proc',
    '--kill-child',
    process.execPath,
    fileURLToPath(import.meta.url),
  ];
  const env = { ...process.env, TRADEWIND_INSIDE: '1' };
  process.exitCode = spawnSync('unshare', words, { stdio: 'inherit', env }).status ?? 1;
} else await check();

function reasonToSkip() {
  if (process.platform !== 'linux') return 'it needs Linux';
  if (process.getuid() !== 0) return 'it needs root';
  const missing = NEEDED.filter((name) => spawnSync('which', [name]).status !== 0);
  return missing.length > 0 ? `${missing.join(', ')} not installed` : undefined;
}

async function check() {
  const work = fs.mkdtempSync(path.join(CACHE, 'dockerfile-'));
  try {
    const image = build(work);
    await run(image, path.join(work, 'volume'));
    console.log(
      `The Dockerfile's server works. Its layers add ${megabytes(image.layer)} MB to the base image.`,
    );
  } finally {
    for (const name of fs.readdirSync(work))
      must('umount', ['--recursive', path.join(work, name, 'root')], false);
    fs.rmSync(work, { recursive: true, force: true });
  }
}

function build(work) {
  const stages = [];
  let stage;
  for (const { name, words, text } of instructions(fs.readFileSync(path.join(ROOT, 'Dockerfile'), 'utf8'))) {
    console.log(`${name} ${text}`);
    if (name === 'FROM') {
      stage = newStage(path.join(work, String(stages.length)), words);
      stages.push(stage);
    } else if (name === 'WORKDIR') {
      stage.folder = text;
      fs.mkdirSync(stage.root + text, { recursive: true });
    } else if (name === 'RUN') {
      must('chroot', [stage.root, '/bin/sh', '-c', `cd ${stage.folder} && ${text}`], true, stage.environment);
    } else if (name === 'COPY') copy(stage, words, stages);
    else if (name === 'ENV') for (const word of words) stage.settings.push(word);
    else if (['USER', 'VOLUME', 'STOPSIGNAL', 'HEALTHCHECK', 'ENTRYPOINT', 'CMD', 'EXPOSE'].includes(name))
      stage[name] = text;
    else throw new Error(`This script can't carry out ${name}`);
  }
  return stage;
}

/** Instructions with their lines joined and comments left out. */
function instructions(text) {
  return text
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name, rest] = /^(\S+)\s+(.*)$/.exec(line);
      return { name, text: rest, words: rest.split(/\s+/) };
    });
}

function newStage(folder, [image, , alias]) {
  const base = baseOf(image);
  const at = (name) => path.join(folder, name);
  for (const name of ['root', 'layer', 'work']) fs.mkdirSync(at(name), { recursive: true });
  const layers = `lowerdir=${base},upperdir=${at('layer')},workdir=${at('work')}`;
  must('mount', ['-t', 'overlay', 'overlay', '-o', layers, at('root')]);
  must('mount', ['-t', 'proc', 'proc', at('root/proc')]);
  must('mount', ['--rbind', '/dev', at('root/dev')]);
  fs.copyFileSync('/etc/resolv.conf', at('root/etc/resolv.conf'));
  return {
    alias,
    root: at('root'),
    layer: at('layer'),
    folder: '/',
    settings: [],
    environment: network(at('root')),
  };
}

/** What the steps need to reach the npm registry as this machine does, with its cache. */
function network(root) {
  const ask = (name) =>
    spawnSync('npm', ['config', 'get', name], { encoding: 'utf8', cwd: '/' }).stdout.trim();
  const own = process.env.NODE_EXTRA_CA_CERTS ?? '/etc/ssl/certs/ca-certificates.crt';
  fs.copyFileSync(own, root + CERTIFICATES);
  fs.mkdirSync(`${root}/root/.npm`, { recursive: true });
  must('mount', ['--bind', ask('cache'), `${root}/root/.npm`]);
  return {
    PATH,
    HOME: '/root',
    npm_config_registry: ask('registry'),
    npm_config_prefer_offline: 'true',
    NODE_EXTRA_CA_CERTS: CERTIFICATES,
  };
}

/** Makes the base image once and keeps it. */
function baseOf(image) {
  const [, node, suite] = /^node:([\d.]+)-(\w+)-slim$/.exec(image) ?? [];
  if (suite === undefined) throw new Error(`This script can't make the base image ${image}`);
  const base = path.join(CACHE, `debian-${suite}-node-${node}`);
  if (fs.existsSync(base)) return base;
  const made = `${base}.${process.pid}`;
  console.log(`Making ${base} ...`);
  must('debootstrap', ['--variant=minbase', suite, made, mirror()]);
  const packages = path.join(made, 'opt/node');
  const names = [`node-${process.platform}-${process.arch}@${node}`, 'npm@11'];
  must('npm', ['install', '--prefix', packages, '--ignore-scripts', '--no-audit', '--no-fund', ...names]);
  const modules = '/opt/node/node_modules';
  const links = {
    node: `node-${process.platform}-${process.arch}/bin/node`,
    npm: 'npm/bin/npm-cli.js',
    npx: 'npm/bin/npx-cli.js',
  };
  for (const [name, to] of Object.entries(links))
    fs.symlinkSync(`${modules}/${to}`, path.join(made, 'usr/local/bin', name));
  fs.renameSync(made, base);
  return base;
}

/** The mirror that this machine's own packages come from. */
function mirror() {
  const { stdout } = spawnSync('apt-get', ['indextargets', '--format', '$(SITE)'], { encoding: 'utf8' });
  return stdout.split('\n').find((site) => site.endsWith('/debian')) ?? 'http://deb.debian.org/debian';
}

function copy(stage, words, stages) {
  const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length);
  const [to, ...sources] = words.filter((word) => !word.startsWith('--')).toReversed();
  const origin = from === undefined ? ROOT : stages.find(({ alias }) => alias === from).root;
  const ignored = from === undefined ? ignoredFiles() : () => false;
  for (const source of sources) {
    const [file, target] = [path.join(origin, source), path.resolve('/', stage.folder, to)];
    const isFolder = fs.statSync(file).isDirectory();
    const into =
      !isFolder && (to.endsWith('/') || sources.length > 1 || to === '.')
        ? path.join(target, path.basename(file))
        : target;
    fs.cpSync(file, stage.root + into, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (name) => !ignored(path.relative(origin, name)),
    });
  }
}

function ignoredFiles() {
  const lines = fs.readFileSync(path.join(ROOT, '.dockerignore'), 'utf8').split('\n').filter(Boolean);
  return (name) => lines.some((line) => path.matchesGlob(name, line));
}

/** Runs the server as the engine would, without any network but its own loopback, and stops it. */
async function run(image, volume) {
  const [uid, gid] = ['-u', '-g'].map((option) => output('chroot', [image.root, 'id', option, image.USER]));
  const data = image.root + image.VOLUME;
  fs.mkdirSync(volume);
  // An engine gives a new volume what the image has there.
  must('cp', ['--archive', `${data}/.`, volume]);
  must('mount', ['--bind', volume, data]);
  const environment = {
    ...Object.fromEntries(image.settings.map((word) => word.split('='))),
    PATH,
    HOME: image.VOLUME,
  };
  const inside = ['chroot', `--userspec=${uid}:${gid}`, image.root];
  const command = [...JSON.parse(image.ENTRYPOINT), ...JSON.parse(image.CMD)];
  const start = `ip link set lo up && cd ${image.root} && exec "$@"`;
  const server = spawn('unshare', ['--net', 'sh', '-c', start, 'sh', ...inside, ...command], {
    env: environment,
    stdio: 'inherit',
  });
  const ended = once(server, 'exit');
  const call = (words) =>
    spawnSync('nsenter', [`--net=/proc/${server.pid}/ns/net`, ...inside, ...words], {
      env: environment,
      encoding: 'utf8',
    });
  const health = JSON.parse(image.HEALTHCHECK.replace(/^.*?CMD\s+/, ''));
  for (let left = 300; call(health).status !== 0; left--) {
    if (server.exitCode !== null || left === 0) throw new Error('The health check never passed');
    await sleep(200);
  }
  console.log('HEALTHCHECK passes');
  const asks = `const token = require('fs').readFileSync('${image.VOLUME}/first-token', 'utf8').trim();
    fetch('http://127.0.0.1:8080/healthz').then((r) => r.text()).then(console.log);
    fetch('http://127.0.0.1:8080/cloud/v1/projects', { headers: { authorization: 'apikey ' + token } })
      .then((r) => (r.ok ? r.text() : Promise.reject(new Error(r.status)))).then(console.log)`;
  const { status, stdout, stderr } = call(['node', '-e', asks]);
  if (status !== 0) throw new Error(`The API doesn't answer: ${stderr}`);
  console.log(stdout.trim());
  server.kill(image.STOPSIGNAL);
  const [code] = await ended;
  if (code !== 0) throw new Error(`${image.STOPSIGNAL} ended it with ${code}`);
  console.log(`${image.STOPSIGNAL} ends it with ${code}`);
}

function must(program, words, strict = true, env = process.env) {
  const { status, error } = spawnSync(program, words, { stdio: strict ? 'inherit' : 'ignore', env });
  if (strict && status !== 0) throw new Error(`${program} ${words.join(' ')}: ${error?.message ?? status}`);
}

function output(program, words) {
  return spawnSync(program, words, { encoding: 'utf8' }).stdout.trim();
}

function megabytes(folder) {
  return Math.round(Number(output('du', ['--summarize', '--bytes', folder]).split('\t')[0]) / 1e6);
}

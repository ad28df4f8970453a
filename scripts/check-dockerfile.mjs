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
const NEEDED = ['debootstrap', 'flock', 'setpriv', 'unshare', 'nsenter', 'chroot', 'ip', 'npm'];
const LOCK = path.join(CACHE, 'dockerfile.lock');
/** Of the part that runs inside the namespaces, when what it needs can't be had. */
const EXIT_SKIPPED = 3;

class Unavailable extends Error {}

const work = process.env.TRADEWIND_INSIDE;
if (work !== undefined) await inside();
else process.exitCode = outside();

/** Mounts and processes end with the namespaces, however this program ends; then the folders can be removed. */
function outside() {
  const lacks = reasonToSkip();
  if (lacks !== undefined) return skipped(lacks);
  const self = fileURLToPath(import.meta.url);
  const namespaces = ['unshare', '--mount', '--pid', '--fork', '--mount-proc', '--kill-child'];
  const program = [process.execPath, '--disable-warning=ExperimentalWarning', self];
  const words = ['--pdeathsig', 'KILL', 'flock', '--no-fork', LOCK, ...namespaces, ...program];
  const folder = path.join(CACHE, `dockerfile-${process.pid}`);
  const env = { ...process.env, TRADEWIND_INSIDE: folder };
  const { status } = spawnSync('setpriv', words, { stdio: 'inherit', env });
  fs.rmSync(folder, { recursive: true, force: true });
  return status === EXIT_SKIPPED ? 0 : (status ?? 1);
}

function skipped(why) {
  console.log(`SKIPPED, the Dockerfile isn't checked: ${why}`);
  return 0;
}

function reasonToSkip() {
  if (process.platform !== 'linux') return 'it needs Linux';
  if (process.getuid() !== 0) return 'it needs root';
  const missing = NEEDED.filter((name) => spawnSync('which', [name]).status !== 0);
  if (missing.length > 0) return `${missing.join(', ')} not installed`;
  fs.mkdirSync(CACHE, { recursive: true });
  const folder = fs.mkdtempSync(path.join(CACHE, 'overlay-'));
  for (const name of ['base', 'layer', 'work', 'root']) fs.mkdirSync(path.join(folder, name));
  // Packages give files to their own users, which root of a user namespace may not.
  const tries = `cd "$1" && chown 900:900 base && mount -t overlay overlay -o ${layers('base', 'layer', 'work')} root`;
  const words = ['--mount', '--pid', '--fork', '--net', 'sh', '-c', tries, 'sh', folder];
  const { status, stderr } = spawnSync('unshare', words, { encoding: 'utf8' });
  fs.rmSync(folder, { recursive: true });
  return status === 0 ? undefined : `namespaces, overlays or other owners aren't to be had: ${stderr.trim()}`;
}

function layers(lower, upper, work) {
  return `lowerdir=${lower},upperdir=${upper},workdir=${work}`;
}

async function inside() {
  try {
    // One runs at a time in this cache, so these are of runs that were interrupted.
    for (const name of fs.readdirSync(CACHE).filter((each) => /^dockerfile-\d+$/.test(each)))
      fs.rmSync(path.join(CACHE, name), { recursive: true });
    fs.mkdirSync(work);
    const image = build();
    await run(image, path.join(work, 'volume'));
    console.log(`The Dockerfile's server works. Its layers add ${megabytes(image.layer)} MB to the base image.`);
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    skipped(error.message);
    process.exitCode = EXIT_SKIPPED;
  }
}

function build() {
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
      must('chroot', [stage.root, '/bin/sh', '-c', `cd ${stage.folder} && ${text}`], stage.environment);
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
  const options = layers(base, at('layer'), at('work'));
  must('mount', ['-t', 'overlay', 'overlay', '-o', options, at('root')]);
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
  const ask = (name) => spawnSync('npm', ['config', 'get', name], { encoding: 'utf8', cwd: '/' }).stdout.trim();
  const own = process.env.NODE_EXTRA_CA_CERTS ?? '/etc/ssl/certs/ca-certificates.crt';
  fs.copyFileSync(own, root + CERTIFICATES);
  fs.mkdirSync(`${root}/root/.npm`, { recursive: true });
  fs.mkdirSync(ask('cache'), { recursive: true });
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
  // Renamed once it is complete; what an interrupted run left of it goes with this folder.
  const made = path.join(work, 'base');
  console.log(`Making ${base} ...`);
  const from = mirror();
  if (spawnSync('debootstrap', ['--variant=minbase', suite, made, from], { stdio: 'inherit' }).status !== 0)
    throw new Unavailable(`no Debian ${suite} from ${from}`);
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
  for (const words of [['version'], ['project', 'list', '--token-file', `${image.VOLUME}/first-token`], ['doctor']]) {
    const { status, stdout, stderr } = call(['tradewind', ...words]);
    if (status !== 0) throw new Error(`tradewind ${words.join(' ')} fails: ${stderr || stdout}`);
    console.log(stdout.trim());
  }
  server.kill(image.STOPSIGNAL);
  const [code] = await ended;
  if (code !== 0) throw new Error(`${image.STOPSIGNAL} ended it with ${code}`);
  console.log(`${image.STOPSIGNAL} ends it with ${code}`);
}

function must(program, words, env = process.env) {
  const { status, error } = spawnSync(program, words, { stdio: 'inherit', env });
  if (status !== 0) throw new Error(`${program} ${words.join(' ')}: ${error?.message ?? status}`);
}

function output(program, words) {
  return spawnSync(program, words, { encoding: 'utf8' }).stdout.trim();
}

function megabytes(folder) {
  return Math.round(Number(output('du', ['--summarize', '--bytes', folder]).split('\t')[0]) / 1e6);
}

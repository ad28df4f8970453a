import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Step } from '../../../scripts/compatibility/terraform.ts';

/** What a step of a module came to. */
export interface Outcome {
  step: Step;
  /** The resources that it was about: `gcore_network.main`, `data.gcore_network.main`. */
  about: string[];
  /** What the program said when it failed. */
  error?: string;
  /** What the next plan would change though nobody asked for it: `gcore_network.main: type`. */
  drift?: string[];
}

export interface Said {
  code: number | null;
  stdout: string;
  /** All that it said, for people. */
  said: string;
}

export interface Begun {
  signal(name: NodeJS.Signals): void;
  /** Waits until it has said this, or has ended. */
  saying(text: string): Promise<unknown>;
  ended: Promise<Said>;
}

/** A folder with a module and its state. */
export interface Stand {
  /** Runs a command to its end. */
  say(...args: string[]): Promise<Said>;
  /** Begins a command. A signal reaches OpenTofu and the provider, as Ctrl-C in a terminal does. */
  begin(...args: string[]): Begun;
  /** The addresses of what the state has. */
  resources(): Promise<string[]>;
  /** What the state has of each of them. */
  values(): Promise<Record<string, Record<string, unknown>>>;
  changes(plan: string): Promise<Change[]>;
  /** Nothing if the next plan is empty. */
  driftOf(...options: string[]): Promise<Pick<Outcome, 'drift' | 'error'>>;
}

export interface Tofu {
  version(): string;
  /** Copies these files to a new folder. Commands see what `environment` has then. */
  open(name: string, files: string[], environment: Record<string, string>): Stand;
  /** Takes a module through its steps, with these variables in the environment. */
  walk(module: string, variables: Record<string, string>): Promise<Outcome[]>;
  /** Ends what still runs. */
  stop(): void;
}

export interface Change {
  address: string;
  type: string;
  mode: 'managed' | 'data';
  change: {
    actions: string[];
    before: Record<string, unknown> | null;
    after: Record<string, unknown> | null;
    after_unknown: Record<string, unknown>;
  };
}

/** A command that takes longer hangs. */
const PATIENCE_MS = 300_000;
const PROVIDER = 'G-Core/gcore';

/**
 * Runs OpenTofu with a provider that is a program on this machine: no registry is asked, and nothing is read or
 * written outside of a folder for the time of the tests. `modules` is a folder with one of its own for each module.
 * What a module has decides which steps it gets: `var.step` is compared with "update" and "replace", and the output
 * `imports` has the ID of each address that is to be imported.
 */
export function openTofu({
  tofu,
  provider,
  modules,
}: {
  tofu: string;
  provider: string;
  modules: string;
}): Tofu {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-tofu-'));
  const settings = path.join(home, 'tofu.rc');
  fs.writeFileSync(
    settings,
    `provider_installation {\n  dev_overrides {\n    "${PROVIDER}" = "${path.dirname(provider)}"\n  }\n}\n`,
  );
  const children = new Set<ChildProcess>();

  function begin(cwd: string, variables: Record<string, string>, args: string[]): Begun {
    const child = spawn(tofu, args, {
      cwd,
      env: {
        ...variables,
        PATH: process.env.PATH,
        HOME: home,
        TMPDIR: home,
        TF_DATA_DIR: path.join(cwd, '.terraform'),
        TF_CLI_CONFIG_FILE: settings,
        TF_IN_AUTOMATION: '1',
        CHECKPOINT_DISABLE: '1',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own, so that the provider ends with it.
      detached: true,
    });
    children.add(child);
    const timer = setTimeout(() => end(child), PATIENCE_MS);
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    const ended = new Promise<Said>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => {
        clearTimeout(timer);
        children.delete(child);
        const last = signal === null ? '' : `\n${signal} after ${PATIENCE_MS / 1000} seconds at most`;
        resolve({ code, stdout, said: `${readable(stdout + stderr)}${last}` });
      });
    });
    const saying = (text: string) =>
      new Promise((resolve) => {
        const look = () => {
          if (stdout.includes(text)) resolve(text);
        };
        child.stdout.on('data', look);
        child.once('close', resolve);
        look();
      });
    return { ended, saying, signal: (name: NodeJS.Signals) => kill(child, name) };
  }

  function open(name: string, files: string[], environment: Record<string, string>): Stand {
    const folder = path.join(home, name);
    fs.mkdirSync(folder);
    for (const file of files) fs.copyFileSync(file, path.join(folder, path.basename(file)));

    const begun: Stand['begin'] = (...args) => {
      const [command = '', ...rest] = args;
      const options = ['show', 'state', 'output'].includes(command) ? [] : ['-no-color', '-input=false'];
      return begin(folder, environment, [command, ...options, ...rest]);
    };
    const say: Stand['say'] = (...args) => begun(...args).ended;
    async function json(...args: string[]) {
      const { code, stdout, said } = await say(...args);
      if (code !== 0) throw new Error(`${args.join(' ')}: ${said}`);
      return JSON.parse(stdout);
    }
    async function values() {
      const all: { address: string; values: Record<string, unknown> }[] =
        (await json('show', '-json')).values?.root_module?.resources ?? [];
      return Object.fromEntries(all.map((each) => [each.address, each.values]));
    }
    async function changes(plan: string): Promise<Change[]> {
      const { resource_changes: all = [] } = await json('show', '-json', plan);
      return all.filter(
        ({ mode, change }: Change) => mode === 'managed' && !isDeepStrictEqual(change.actions, ['no-op']),
      );
    }
    return {
      say,
      begin: begun,
      values,
      resources: async () => Object.keys(await values()),
      changes,
      async driftOf(...options) {
        const { code, said } = await say('plan', '-detailed-exitcode', '-out=drift', ...options);
        if (code === 0) return {};
        if (code !== 2) return { error: said };
        const found = (await changes('drift')).flatMap(changedIn);
        return found.length > 0 ? { drift: found.toSorted() } : { error: said };
      },
    };
  }

  async function walk(module: string, variables: Record<string, string>): Promise<Outcome[]> {
    const own = filesOf(path.join(modules, module));
    const environment = { ...variables, TF_VAR_step: 'create' };
    const { say, resources, changes, driftOf } = open(module, [...filesOf(modules), ...own], environment);
    const folder = path.join(home, module);
    const text = own.map((file) => fs.readFileSync(file, 'utf8')).join('\n');
    const outcomes: Outcome[] = [];

    async function create(): Promise<boolean> {
      const { code, said } = await say('apply', '-auto-approve');
      const about = await resources();
      outcomes.push({ step: 'create', about, ...(code === 0 ? {} : { error: said }) });
      if (code === 0) outcomes.push({ step: 'no drift', about, ...(await driftOf()) });
      return code === 0;
    }

    /** The plan must do just this, and the next one nothing. */
    async function change(to: 'update' | 'replace'): Promise<void> {
      environment.TF_VAR_step = to;
      const { code, said } = await say('plan', '-out=change');
      if (code !== 0) {
        outcomes.push({ step: to, about: [], error: said });
        return;
      }
      const planned = await changes('change');
      const kind = ({ change: { actions } }: Change) => (actions.length > 1 ? 'replace' : actions[0]);
      const about = planned.filter((each) => kind(each) === to).map(({ address }) => address);
      const more = planned.filter((each) => to === 'update' && kind(each) === 'replace');
      if (about.length === 0 || more.length > 0) {
        outcomes.push({ step: to, about, error: `Not a plan to ${to}:\n${said}` });
        if (about.length === 0) return;
      }
      const applied = await say('apply', 'change');
      outcomes.push({ step: to, about, ...(applied.code === 0 ? await driftOf() : { error: applied.said }) });
    }

    /** Into a copy of the state, which has all but what is imported; so nothing but the import is at stake. */
    async function importAll(): Promise<void> {
      const state = '-state=imported.tfstate';
      const wanted: Record<string, string> = JSON.parse((await say('output', '-json', 'imports')).stdout);
      const about = Object.keys(wanted);
      fs.copyFileSync(path.join(folder, 'terraform.tfstate'), path.join(folder, 'imported.tfstate'));
      const commands = [
        ['state', 'rm', state, ...about],
        ...Object.entries(wanted).map(([address, id]) => ['import', state, address, id]),
      ];
      for (const command of commands) {
        const { code, said } = await say(...command);
        if (code !== 0) {
          outcomes.push({ step: 'import', about, error: said });
          return;
        }
      }
      outcomes.push({ step: 'import', about, ...(await driftOf(state)) });
    }

    if (await create()) {
      if (text.includes('"update"')) await change('update');
      if (text.includes('"replace"')) await change('replace');
      if (text.includes('output "imports"')) await importAll();
    }
    const about = await resources();
    const { code, said } = await say('destroy', '-auto-approve');
    outcomes.push({ step: 'destroy', about, ...(code === 0 ? {} : { error: said }) });
    return outcomes;
  }

  return {
    open,
    walk,
    version() {
      const { stdout } = spawnSync(tofu, ['version', '-json'], { encoding: 'utf8', env: { HOME: home } });
      return JSON.parse(stdout).terraform_version;
    },
    stop() {
      for (const child of children) end(child);
      fs.rmSync(home, { recursive: true, force: true });
    },
  };
}

export function filesOf(folder: string): string[] {
  return fs
    .readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.tf'))
    .map(({ name }) => path.join(folder, name));
}

function end(child: ChildProcess): void {
  kill(child, 'SIGKILL');
}

function kill({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** `gcore_network.main: type`, or `gcore_network.main: created`. */
function changedIn({ address, change: { actions, before, after, after_unknown } }: Change): string[] {
  if (before === null) return [`${address}: created`];
  if (after === null) return [`${address}: deleted`];
  const replaced = actions.length > 1 ? [`${address}: replaced`] : [];
  const names = new Set([...Object.keys(before), ...Object.keys(after), ...Object.keys(after_unknown)]);
  const changed = [...names].filter(
    (name) => after_unknown[name] === true || !isDeepStrictEqual(before[name], after[name]),
  );
  return [...replaced, ...changed.map((name) => `${address}: ${name}`)];
}

/** Takes away the box that errors are in. */
function readable(text: string): string {
  return text.replace(/^[╷│╵] ?/gm, '');
}

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
  resources(): string[];
  /** What the state has of each of them. */
  values(): Promise<Record<string, Record<string, unknown>>>;
  changes(plan: string): Promise<Change[]>;
  /** Nothing if the next plan is empty. An import is no change. */
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

/** A line that a command with `-json` writes, as far as it is read here. */
interface Message {
  type: string;
  change?: { action: string; resource: { addr: string } };
  diagnostic?: { severity: string; summary: string; detail: string; address?: string };
}

/** A change of a plan, as `show -json` has it. */
export interface Change {
  address: string;
  mode: 'managed' | 'data';
  change: {
    actions: string[];
    before: Record<string, unknown> | null;
    after: Record<string, unknown> | null;
    after_unknown: Record<string, unknown>;
    /** The fields that can't be changed in place, each as a path. */
    replace_paths?: string[][];
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
export function openTofu({ tofu, provider, modules }: { tofu: string; provider: string; modules: string }): Tofu {
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
        resolve({ code, stdout, said: `${stdout}${stderr}${last}` });
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
      const options = ['show', 'state', 'output', 'providers'].includes(command) ? [] : ['-no-color', '-input=false'];
      return begin(folder, environment, [command, ...options, ...rest]);
    };
    const say: Stand['say'] = (...args) => begun(...args).ended;
    async function json(...args: string[]) {
      const { code, stdout, said } = await say(...args);
      if (code !== 0) throw new Error(`${args.join(' ')}: ${said}`);
      return JSON.parse(stdout);
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
      async values() {
        const all: { address: string; values: Record<string, unknown> }[] =
          (await json('show', '-json')).values?.root_module?.resources ?? [];
        return Object.fromEntries(all.map((each) => [each.address, each.values]));
      },
      resources: () => addressesIn(path.join(folder, 'terraform.tfstate')),
      changes,
      async driftOf(...options) {
        const { code, said, stdout } = await say('plan', '-json', '-detailed-exitcode', '-out=drift', ...options);
        if (code === 0) return {};
        if (code !== 2) return { error: errorIn(messagesIn(stdout)) || said };
        const drift = (await changes('drift')).flatMap(changedIn);
        return drift.length > 0 ? { drift: drift.toSorted() } : {};
      },
    };
  }

  async function walk(module: string, variables: Record<string, string>): Promise<Outcome[]> {
    const own = filesOf(path.join(modules, module));
    const environment = { ...variables, TF_VAR_step: 'create' };
    const { say, resources, driftOf } = open(module, [...filesOf(modules), ...own], environment);
    const folder = path.join(home, module);
    const text = own.map((file) => fs.readFileSync(file, 'utf8')).join('\n');
    const outcomes: Outcome[] = [];

    /** Applies it, and returns the action for each resource. */
    async function apply(...options: string[]) {
      const { code, stdout, said } = await say('apply', '-json', '-auto-approve', ...options);
      const told = messagesIn(stdout);
      const planned = told.flatMap(({ type, change }) =>
        type === 'planned_change' && change ? [{ address: change.resource.addr, action: change.action }] : [],
      );
      return { planned, ...(code !== 0 && { error: errorIn(told) || said }) };
    }

    async function create(): Promise<boolean> {
      const { error } = await apply();
      const about = resources();
      outcomes.push({ step: 'create', about, ...(error === undefined ? {} : { error }) });
      if (error === undefined) outcomes.push({ step: 'no drift', about, ...(await driftOf()) });
      return error === undefined;
    }

    /** The plan must do just this, and the next one nothing. */
    async function change(to: 'update' | 'replace'): Promise<void> {
      environment.TF_VAR_step = to;
      const { planned, error } = await apply();
      const about = planned.filter(({ action }) => action === to).map(({ address }) => address);
      const others = planned.filter(({ action }) => to === 'update' && action === 'replace');
      const wrong = about.length === 0 || others.length > 0 ? `Not a plan to ${to}: ${JSON.stringify(planned)}` : error;
      outcomes.push({ step: to, about, ...(wrong === undefined ? await driftOf() : { error: wrong }) });
    }

    /** Each into a copy of the state that has all but what is imported, so that nothing but the import is at stake. */
    async function importAll(): Promise<void> {
      const { outputs } = JSON.parse(fs.readFileSync(path.join(folder, 'terraform.tfstate'), 'utf8'));
      const drifts: string[] = [];
      const errors: string[] = [];
      for (const [address, id] of Object.entries<string>(outputs.imports.value)) {
        const copy = 'imported.tfstate';
        const block = path.join(folder, 'import.tf');
        fs.copyFileSync(path.join(folder, 'terraform.tfstate'), path.join(folder, copy));
        fs.writeFileSync(block, `import {\n  to = ${address}\n  id = "${id}"\n}\n`);
        const { code, said } = await say('state', 'rm', `-state=${copy}`, address);
        const { error, drift = [] } = code === 0 ? await driftOf(`-state=${copy}`) : { error: said };
        fs.rmSync(block);
        // What depends on it is changed along with it.
        drifts.push(...drift.filter((text) => text.startsWith(`${address}: `)));
        if (error !== undefined) errors.push(error);
      }
      outcomes.push({
        step: 'import',
        about: Object.keys(outputs.imports.value),
        ...(errors.length > 0 && { error: errors.join('\n\n') }),
        ...(drifts.length > 0 && { drift: drifts.toSorted() }),
      });
    }

    if (await create()) {
      if (text.includes('"update"')) await change('update');
      if (text.includes('"replace"')) await change('replace');
      if (text.includes('output "imports"')) await importAll();
    }
    const about = resources();
    const { error } = await apply('-destroy');
    outcomes.push({ step: 'destroy', about, ...(error === undefined ? {} : { error }) });
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

/** The messages of `-json`, a line each. */
function messagesIn(stdout: string): Message[] {
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
}

function errorIn(messages: Message[]): string {
  return messages
    .flatMap(({ diagnostic }) => (diagnostic?.severity === 'error' ? [diagnostic] : []))
    .map(({ summary, detail, address }) => [address, summary, detail].filter(Boolean).join('\n'))
    .join('\n\n');
}

/** The addresses of what a file with a state has. */
function addressesIn(file: string): string[] {
  if (!fs.existsSync(file)) return [];
  const { resources }: { resources: { mode: string; type: string; name: string }[] } = JSON.parse(
    fs.readFileSync(file, 'utf8'),
  );
  return resources.map(({ mode, type, name }) => `${mode === 'data' ? 'data.' : ''}${type}.${name}`);
}

/** `gcore_network.main: mtu`, `gcore_network.main: created` or `gcore_network.main: replaced for type`. */
function changedIn({ address, change: { actions, before, after, after_unknown, replace_paths } }: Change): string[] {
  if (isDeepStrictEqual(actions, ['no-op'])) return [];
  if (before === null) return [`${address}: created`];
  if (after === null) return [`${address}: deleted`];
  if (actions.length > 1) return (replace_paths ?? []).map(([name]) => `${address}: replaced for ${name}`);
  const names = new Set([...Object.keys(before), ...Object.keys(after), ...Object.keys(after_unknown)]);
  const changed = [...names].filter(
    (name) => after_unknown[name] === true || !isDeepStrictEqual(before[name], after[name]),
  );
  return changed.map((name) => `${address}: ${name}`);
}

// Starts and stops the services of a machine. Their processes are noted in files, so that another command can stop them.
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { attempt } from '../../src/lib/errors.ts';
import { createCloudClient } from './cloud-client.ts';
import type { Settings } from './configuration.ts';
import { endOf, isAlive, type Machine, parentOf } from './machine.ts';
import { answers, isWorker, programOf, type ServiceName, servicesOn } from './services.ts';
import { silentWorkers } from './workers.ts';

const POLL_MS = 200;
/** A service that isn't there by then doesn't come, even on a busy machine. */
const READY_MS = 240_000;
/** The database has to write what it holds. The others lose nothing. */
const STOP_MS = 30_000;
const STOP_OTHERS_MS = 5_000;

export interface Services {
  /** Starts a service without waiting for it, unless it runs. */
  launch(name: ServiceName): Promise<void>;
  /** Waits until all of these answer. Throws with the log of one that ends or doesn't come. */
  ready(names: readonly ServiceName[]): Promise<void>;
  /** Sends a signal. Unless that only halts the service or lets it go on, waits until its processes have ended. */
  kill(name: ServiceName, signal: NodeJS.Signals): Promise<void>;
  /** Ends all gently, the database last. */
  stopAll(): Promise<void>;
}

export function servicesOf(machine: Machine, settings: Settings): Services {
  const logOf = (name: string) => path.join(settings.folder, 'log', name);
  const fileOfPid = (name: ServiceName) => path.join(settings.folder, 'run', `${name}.pid`);
  const started = new Map<ServiceName, number>();

  function pidOf(name: ServiceName): number | undefined {
    const pid = Number(attempt(() => fs.readFileSync(fileOfPid(name), 'utf8')));
    return pid > 0 && machine.has(pid) ? pid : undefined;
  }

  async function until(names: readonly ServiceName[], isReady: () => Promise<boolean>): Promise<void> {
    const fault = (name: string, what: string) => {
      const own = programOf(name as ServiceName, settings).command;
      return new Error([`${name} ${what}.`, endOf(logOf(`${name}.out`)), endOf(logOf(`${own}.log`))].join('\n'));
    };
    const deadline = Date.now() + READY_MS;
    while (!(await isReady())) {
      const ended = names.find((name) => pidOf(name) === undefined);
      if (ended) throw fault(ended, 'ended');
      if (Date.now() > deadline) throw fault(names.join(), `did not come within ${READY_MS / 1000} s`);
      await sleep(POLL_MS);
    }
  }

  /** Asks Nova and Cinder, which may not be there yet. */
  async function haveReported(workers: readonly ServiceName[]): Promise<boolean> {
    const since = new Map(workers.map((name) => [name, started.get(name) ?? 0] as const));
    try {
      return (await silentWorkers(await createCloudClient(settings.port), since)).length === 0;
    } catch {
      return false;
    }
  }

  async function kill(name: ServiceName, signal: NodeJS.Signals, withinMs = STOP_MS): Promise<void> {
    const pid = pidOf(name);
    if (pid === undefined) return;
    const group = -pid;
    if (signal === 'SIGSTOP') return void process.kill(group, signal);
    if (signal === 'SIGCONT') {
      process.kill(group, signal);
      // Its parent, nsenter, halts itself with it.
      return void process.kill(parentOf(pid) ?? pid, signal);
    }
    // Asked gently, it ends its own children.
    process.kill(signal === 'SIGKILL' ? group : pid, signal);
    const deadline = Date.now() + withinMs;
    while (isAlive(pid) && Date.now() < deadline) await sleep(POLL_MS);
    // Each that is left may still have the port.
    while (attempt(() => process.kill(group, 'SIGKILL'))) await sleep(POLL_MS);
    fs.rmSync(fileOfPid(name), { force: true });
  }

  return {
    kill: (name, signal) => kill(name, signal),
    async launch(name) {
      if (pidOf(name) !== undefined) return;
      started.set(name, Date.now());
      const pid = await machine.start(programOf(name, settings), logOf(`${name}.out`));
      fs.writeFileSync(fileOfPid(name), String(pid));
    },
    async ready(names) {
      const workers = names.filter(isWorker);
      const others = names.filter((name) => !isWorker(name));
      await Promise.all(others.map((name) => until([name], () => answers(name, settings, machine))));
      if (workers.length > 0) await until(workers, () => haveReported(workers));
    },
    async stopAll() {
      const [database = 'mariadb', ...rest] = servicesOn(settings.node);
      await Promise.all(rest.map((name) => kill(name, 'SIGTERM', STOP_OTHERS_MS)));
      await kill(database, 'SIGTERM');
    },
  };
}

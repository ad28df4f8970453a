import { fork } from 'node:child_process';
import { once } from 'node:events';
import { benchFile } from '../support/child.ts';
import type { LoadJob, LoadResult } from './job.ts';

export interface Load {
  /** @throws Error if an answer isn't 2xx or a connection breaks */
  run(job: LoadJob): Promise<LoadResult>;
  stop(): void;
}

/** Starts the load generator in a separate process. */
export function startLoad(): Load {
  const child = fork(benchFile('load/generator.ts'), { execArgv: ['--import', 'tsx'] });
  return {
    async run(job) {
      child.send(job);
      const [{ result, error }] = (await once(child, 'message')) as [{ result?: LoadResult; error?: string }];
      if (!result) throw new Error(error ?? 'The load generator answered nothing');
      if (result.failure !== undefined) {
        throw new Error(`${job.method} ${job.paths[0]} was answered:\n${result.failure}`);
      }
      return result;
    },
    stop: () => void child.kill(),
  };
}

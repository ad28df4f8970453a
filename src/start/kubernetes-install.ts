import { installVersion } from '../backends/hosted/programs/install.ts';
import { OperatorError } from '../lib/operator-error.ts';
import type { Command } from './command.ts';

export const kubernetesInstall: Command = {
  summary: 'install the programs of a version of Kubernetes for hosted clusters (300 MB)',
  help: [
    '  --version v1.34.4   which one',
    '  --kwok <file>       the program that plays the nodes; without it, clusters have none',
    '',
  ].join('\n'),
  options: { version: { type: 'string' }, kwok: { type: 'string' } },
  async run({ config, options: { version, kwok }, stop }) {
    if (typeof version !== 'string' || !/^v\d+\.\d+\.\d+$/.test(version)) {
      throw new OperatorError('Say which version, such as --version v1.34.4.');
    }
    const sources = { ...config.kubernetesSources, ...(typeof kwok === 'string' && { kwok }) };
    const say = (line: string) => void process.stdout.write(`${line}\n`);
    try {
      await installVersion(version, config.kubernetesDir, sources, { say, signal: stop });
    } catch (error) {
      const { message, cause } = error as Error;
      const why = cause instanceof Error ? `${message}: ${cause.message}` : message;
      throw new OperatorError(`${why}. The next attempt goes on from here.`);
    }
    return 0;
  },
};

import { spawnSync } from 'node:child_process';
import os from 'node:os';
import { parseArgs } from 'node:util';
import { measureAi } from './ai/suite.ts';
import { measureAttacks } from './attacks/suite.ts';
import { measureConsole } from './console/suite.ts';
import { measureEngine } from './engine/suite.ts';
import { measureEvents } from './events/suite.ts';
import { measureFilled, measureRetention } from './filled/suite.ts';
import { measureKit } from './kit/suite.ts';
import { measureKubernetes } from './kubernetes/suite.ts';
import { measureLookup } from './lookup/suite.ts';
import { measureOpenStack } from './openstack/suite.ts';
import { measureOperations } from './operations/suite.ts';
import { measurePeers } from './peers/suite.ts';
import { profileOperations } from './profile/suite.ts';
import { measureScale } from './scale/suite.ts';
import { measureStart } from './start/suite.ts';
import { measureStatements } from './statements/suite.ts';
import { ROOT } from './support/child.ts';

interface Suite {
  title: string;
  /** Returns the report in markdown. */
  run(options: { quick: boolean; only?: string; against?: string }): Promise<string>;
}

const suites: Record<string, Suite> = {
  operations: { title: 'Operations over HTTP', run: measureOperations },
  profile: { title: 'Where the time of a request goes', run: profileOperations },
  statements: { title: 'What PostgreSQL does', run: measureStatements },
  start: { title: 'Start and memory', run: measureStart },
  peers: { title: 'Peers', run: measurePeers },
  engine: { title: 'Tasks', run: measureEngine },
  events: { title: 'Listeners of events', run: measureEvents },
  filled: { title: 'Full tables', run: measureFilled },
  retention: { title: 'Retention', run: measureRetention },
  lookup: { title: 'Looking things up across accounts', run: measureLookup },
  scale: { title: 'Scale', run: measureScale },
  attacks: { title: 'Bystanders of attacks', run: measureAttacks },
  kit: { title: 'Resets of the test kit', run: measureKit },
  kubernetes: { title: 'Hosted Kubernetes clusters', run: measureKubernetes },
  openstack: { title: 'A region on OpenStack', run: measureOpenStack },
  ai: { title: 'AI tasks', run: measureAi },
  console: { title: 'Pages of the console', run: measureConsole },
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    against: { type: 'string' },
  },
});
const unknown = positionals.find((name) => !(name in suites));
if (unknown !== undefined) {
  process.stderr.write(`There is no suite "${unknown}". There are: ${Object.keys(suites).join(', ')}\n`);
  process.exit(64);
}
const built = spawnSync(process.execPath, ['scripts/prepare.mjs'], { cwd: ROOT, stdio: 'inherit' });
if (built.status !== 0) process.exit(1);

const cpu = os.cpus();
process.stdout.write(
  `${cpu.length} x ${cpu[0]?.model.trim()}, Node ${process.versions.node}, ${new Date().toISOString().slice(0, 10)}\n`,
);
for (const name of positionals.length > 0 ? positionals : Object.keys(suites)) {
  const suite = suites[name];
  if (suite) process.stdout.write(`\n## ${suite.title}\n\n${await suite.run(values)}\n`);
}

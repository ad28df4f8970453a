// The list of commands, which "npm run openapi" writes.
import path from 'node:path';
import { clientCommands } from '../cli/commands.ts';
import type { OpenApiDocument } from '../src/http/openapi-document.ts';
import { ownCommands } from '../src/start/command-line.ts';
import { areaOf, commandNames, leftOut } from './cli-names.ts';

export const COMMANDS_FILE = path.join(import.meta.dirname, '../docs/reference/commands.md');

const HEAD = `# Commands

\`tradewind <command> --help\` has the options of each; [cli.md](../cli.md) says what all have in common. Most commands come from the operations of
the API. \`npm run openapi\` writes this page.
`;

export function commandsPage(document: OpenApiDocument): string {
  const operations = Object.values(document.paths).flatMap((each) => Object.values(each));
  const names = commandNames(document);
  const areas = new Map(
    operations.map((each): [string, string] => [firstOf(names.get(each.operationId) ?? ''), areaOf(each)]),
  );
  const own = ownCommands().map(({ name, summary }) => ({
    name,
    summary: `${summary[0]?.toUpperCase()}${summary.slice(1)}`,
  }));
  const all = [...clientCommands(), ...own]
    .map(({ name, summary }) => ({ name, summary, area: areas.get(firstOf(name)) ?? 'On this machine' }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  const sections = [...new Set(all.map(({ area }) => area))].sort().map((area) => {
    const rows = all
      .filter((one) => one.area === area)
      .map(({ name, summary }) => `| \`${name}\` | ${summary.replaceAll('|', '\\|')} |`);
    return `## ${area}\n\n| command | what it does |\n|---|---|\n${rows.join('\n')}\n`;
  });
  const without = [...leftOut(operations)].map(([reason, ids]) => `| ${reason} | ${wordsFor(ids)} |`);
  const rest = `## Operations without a command\n\n| why | operations |\n|---|---|\n${without.join('\n')}\n`;
  return [HEAD, ...sections, rest].join('\n');
}

const MANY = 10;

function wordsFor(ids: readonly string[]): string {
  const named = ids.slice(0, ids.length > MANY ? 3 : MANY).map((id) => `\`${id}\``);
  return ids.length > MANY ? `${named.join(', ')}, and ${ids.length - named.length} others` : named.join(', ');
}

const firstOf = (name: string): string => name.replace(/ .*/, '');

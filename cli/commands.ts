import type { ApiCommand } from './api/api-command.ts';
import commands from './api/commands.json' with { type: 'json' };
import type { OperationId } from './api/operations.ts';
import { commandOf } from './api/run.ts';
import type { ClientCommand } from './command.ts';
import { actions, additions } from './groups/additions.ts';
import { audit } from './groups/audit.ts';
import { consoles } from './groups/consoles.ts';
import { events } from './groups/events.ts';
import { lookup } from './groups/lookup.ts';
import { quotas } from './groups/quotas.ts';
import { tasks } from './groups/tasks.ts';

/** Commands that do more than to call an operation. */
const special: readonly ClientCommand[] = [...audit, ...consoles, ...events, ...lookup, ...quotas, ...tasks];
/** Operations that other commands call. */
const ELSEWHERE: readonly string[] = ['actOnInstance', 'listEvents', 'listQuotas'] satisfies OperationId[];

/** Every command that calls one operation: those of the OpenAPI document, by name. */
export function apiCommands(): ApiCommand[] {
  const derived = Object.entries(commands).flatMap(([id, { name, summary }]): ApiCommand[] => {
    const operation = id as OperationId;
    return ELSEWHERE.includes(id) ? [] : [{ name, summary, ...additions[operation], operation }];
  });
  return [...derived, ...actions];
}

/** Every command that asks a server, by name. */
export const clientCommands = (): ClientCommand[] =>
  [...apiCommands().map(commandOf), ...special].sort((one, other) => (one.name < other.name ? -1 : 1));

/** Where the general help has a group of commands, such as `instance`. */
export function areasOfGroups(): Map<string, string> {
  const areas = Object.values(commands).map(({ name, area }): [string, string] => [name.replace(/ .*/, ''), area]);
  return new Map([['find', 'What happens'], ['wait', 'What happens'], ...areas]);
}

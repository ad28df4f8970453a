import type { ApiCommand } from './api/api-command.ts';
import type { OperationId } from './api/operations.ts';
import { commandOf } from './api/run.ts';
import type { ClientCommand } from './command.ts';
import { audit } from './groups/audit.ts';
import { clients } from './groups/clients.ts';
import { events } from './groups/events.ts';
import { prices } from './groups/prices.ts';
import { products } from './groups/products.ts';
import { projects } from './groups/projects.ts';
import { quotas } from './groups/quotas.ts';
import { resellers } from './groups/resellers.ts';
import { tasks } from './groups/tasks.ts';
import { tokens } from './groups/tokens.ts';
import { usage } from './groups/usage.ts';
import { users } from './groups/users.ts';
import { webhooks } from './groups/webhooks.ts';

const described: readonly (ApiCommand | ClientCommand)[] = [
  ...clients,
  ...users,
  ...tokens,
  ...resellers,
  ...products,
  ...projects,
  ...tasks,
  ...events,
  ...webhooks,
  ...prices,
  ...quotas,
  ...usage,
  ...audit,
];

/** Every command that asks a server. */
export const clientCommands = (): ClientCommand[] =>
  described.map((each) => ('operation' in each ? commandOf(each) : each));

/** Every operation that a command calls. */
export function usedOperations(): Set<OperationId> {
  const used = described.flatMap((each) => ('operation' in each ? [each.operation] : each.operations));
  return new Set<OperationId>([...used, 'getMyAccount', 'getTask', 'listTaskSteps']);
}

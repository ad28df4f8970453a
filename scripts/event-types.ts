import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OpenApiDocument, Operation } from '../src/http/openapi-document.ts';
import { kindOf } from '../src/requests/action-of.ts';
import {
  BUDGET_REACHED,
  CLIENT_DELETED,
  eventOfCommand,
  eventOfOperation,
  INVOICE_FINALIZED,
  INVOICE_PAID,
  RECORDED_COMMANDS,
  resourceOf,
  TASK_EVENTS,
  TOLD,
  typeOf,
  USAGE_CLOSED,
  verbOf,
  WEBHOOK_DISABLED,
  WEBHOOK_TEST,
} from '../src/requests/event-types.ts';

export const EVENTS_FILE = path.resolve(
  path.dirname(fileURLToPath(import.meta.url)),
  '../docs/reference/event-types.md',
);

export const KNOWN_TYPES_FILE = path.resolve(
  path.dirname(fileURLToPath(import.meta.url)),
  '../src/tradewind/events/known-types.json',
);

const HEAD = `# Types of events

\`npm run openapi\` writes this page from the code. [events.md](../events.md) says how to follow events.

A type is \`tradewind.<resource>.<verb>\`. Types of \`task\` come from the work on a task. All others come after one of the operations beside
them was accepted.

| type | after |
|---|---|
`;

/** The bodies that make different events of one operation. */
const BODIES: Readonly<Record<string, object[]>> = {
  actOnDdosProfile: [{ active: true }, { active: false }],
  actOnInstance: ['start', 'stop', 'reboot', 'reboot_hard', 'suspend', 'resume'].map((action) => ({
    action,
  })),
};

/** The types of events that an operation may cause. */
export interface Causing {
  operationId: string;
  types: string[];
}

/** Returns every operation that changes something, and what is told of it. */
export function eventTypes(documents: readonly OpenApiDocument[]): Causing[] {
  const found = new Map<string, Causing>();
  for (const { paths } of documents) {
    for (const [url, operations] of Object.entries(paths)) {
      for (const [method, operation] of Object.entries(operations)) {
        const { operationId } = operation;
        const listed = eventOfOperation(operationId);
        if (!listed && !changesSomething(method, operation)) continue;
        const route = url.replace(/\{(\w+)\}/g, ':$1');
        const kinds = (BODIES[operationId] ?? [{}]).map((body) => kindOf(method.toUpperCase(), route, body));
        const types = kinds.flatMap((kind) => {
          const verb = kind && verbOf(kind.type);
          if (kind) return verb === undefined ? [] : [typeOf(resourceOf(kind.resource).word, verb)];
          return listed ? [typeOf(listed.word, listed.verb)] : [];
        });
        found.set(operationId, { operationId, types });
      }
    }
  }
  return [...found.values()];
}

const KEY = '#/components/parameters/IdempotencyKey';

/** Whether an operation changes something in an account, by the document. */
function changesSomething(method: string, { parameters = [], security }: Operation): boolean {
  if (method === 'put' || method === 'delete') return true;
  // What only asks has no key, and what anybody may call has no account.
  return security?.length !== 0 && parameters.some((one) => '$ref' in one && one.$ref === KEY);
}

/** Returns every type of event, and after what it comes. */
function causesOf(causing: readonly Causing[]): [string, string[]][] {
  const causes = new Map<string, string[]>([
    ...TASK_EVENTS.map((type): [string, string[]] => [type, ['the work on a task']]),
    [WEBHOOK_DISABLED, ['failures for days']],
    ...TOLD.map(([type, cause]): [string, string[]] => [type, [cause]]),
    [CLIENT_DELETED, ['the work on a task']],
    [BUDGET_REACHED, ['a percentage of a budget that its `warn_at` names']],
    [INVOICE_FINALIZED, ['the grace time after a month']],
    [USAGE_CLOSED, ['the end of a day in UTC, for accounts with a webhook for it']],
    [typeOf('user', 'created'), ['the first sign-in with an identity provider']],
    [typeOf('user', 'updated'), ['a sign-in with an identity provider that changes a role']],
    [INVOICE_PAID, ['createPayment, once all is paid']],
  ]);
  for (const { operationId, types } of causing)
    for (const type of types) causes.set(type, [...(causes.get(type) ?? []), operationId]);
  for (const name of RECORDED_COMMANDS) {
    const { word, verb } = eventOfCommand(name);
    const type = typeOf(word, verb);
    causes.set(type, [...(causes.get(type) ?? []), `"tradewind ${name}"`]);
  }
  return [...causes].sort(([one], [other]) => (one < other ? -1 : 1));
}

/** Returns what the server knows of types, with the one that only tests a webhook. */
export function knownTypes(causing: readonly Causing[]): string {
  const types = [...causesOf(causing).map(([type]) => type), WEBHOOK_TEST].sort();
  return `${JSON.stringify(types, null, 2)}\n`;
}

export function eventsDocument(causing: readonly Causing[]): string {
  const table = causesOf(causing).map(([type, reasons]) => `| \`${type}\` | ${reasons.sort().join(', ')} |`);
  return `${HEAD}${table.join('\n')}\n`;
}
